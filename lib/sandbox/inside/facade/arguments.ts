// What a gadget hands to a facade, read once: an object that gives something else the second time has no second time.
import { isRecord } from "../../../core/json.ts";
import { EFFECT_BYTES_WORDS, MAX_EFFECT_BYTES } from "../../../core/gadget_message.ts";
import { oneArray } from "../../../core/frames.ts";

/** Named options that were handed over; none when it is no object. */
export function optionsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The signal among options. */
export function signalOf(value: unknown): AbortSignal | undefined {
  const signal = optionsOf(value).signal;
  return signal instanceof AbortSignal ? signal : undefined;
}

/** Bytes, or the UTF-8 of a text. @throws {TypeError} */
export function bytesOf(data: unknown): Uint8Array {
  if (typeof data === "string") return new TextEncoder().encode(data);
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError(`expected a text or bytes, found ${kindOf(data)}`);
}

/** @throws {TypeError} that names the function: a gadget cannot set the mode of a file */
export function refuseMode(where: string, mode: unknown, usual: number): void {
  if (mode === undefined || mode === null || mode === usual) return;
  throw new TypeError(`${where}: a gadget cannot choose the mode of a file; leave "mode" out`);
}

/** In a word, for messages. */
export function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

const isWindows = Deno.build.os === "windows";
const hrefOf = Object.getOwnPropertyDescriptor(URL.prototype, "href")?.get;

/**
 * A path as it was given: a text, a `file:` URL, or bytes of UTF-8 (as `node:fs` takes them). Anything else is refused and not turned into
 * a text, since it could be another one the next time.
 *
 * @throws {TypeError} what was found, and what a path is
 */
export function pathOf(value: unknown): string {
  const path = value instanceof URL
    ? pathOfUrl(value)
    : value instanceof Uint8Array
    ? new TextDecoder("utf-8", { fatal: true }).decode(value)
    : value;
  if (typeof path !== "string") {
    throw new TypeError(`expected a path: a text or a file: URL, found ${kindOf(value)}`);
  }
  if (path === "") throw new TypeError("expected a path, found an empty text");
  if (path.includes("\0")) {
    throw new TypeError(`expected a path, found a NUL character in ${JSON.stringify(path.slice(0, 200))}`);
  }
  return path;
}

/** The path that a `file:` URL names. @throws {TypeError} */
export function pathOfUrl(url: URL): string {
  const href: unknown = hrefOf === undefined ? undefined : Reflect.apply(hrefOf, url, []);
  if (typeof href !== "string") throw new TypeError("expected a URL");
  // Read from the text: the properties of this object may be anything.
  const { protocol, hostname, pathname } = new URL(href);
  if (protocol !== "file:") throw new TypeError(`expected a file: URL, found "${protocol}"`);
  if (hostname !== "" && !isWindows) {
    throw new TypeError(`expected a file: URL without a host, found the host "${hostname}"`);
  }
  if (/%2f/i.test(pathname) || (isWindows && /%5c/i.test(pathname))) {
    throw new TypeError("expected a file: URL without encoded separators (%2F)");
  }
  const path = decodeURIComponent(pathname);
  if (!isWindows) return path;
  const local = path.replace(/^\/([A-Za-z]:)/, "$1").replaceAll("/", "\\");
  return hostname === "" ? local : `\\\\${hostname}${local}`;
}

/** All bytes of a stream. @throws {RangeError} as soon as they are more than an effect can take */
export async function collected(stream: ReadableStream<unknown>): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) break;
    const chunk = bytesOf(value);
    size += chunk.byteLength;
    if (size > MAX_EFFECT_BYTES) {
      await reader.cancel();
      throw new RangeError(
        `found more than ${EFFECT_BYTES_WORDS}, which is all that can be handed on at once`,
      );
    }
    chunks.push(chunk);
  }
  return oneArray(chunks, size);
}

/** What a gadget has as `Deno.stdout` or `Deno.stderr`: what it writes is logged. */
export function loggingOutput(log: (text: string) => void): Readonly<Record<string, unknown>> {
  const writeNow = textWriter(log);
  return {
    write: async (bytes: unknown) => await writeNow(bytesOf(bytes)),
    writeSync: (bytes: unknown) => writeNow(bytesOf(bytes)),
    isTerminal: () => false,
    close: () => {},
    get writable(): WritableStream<unknown> {
      return new WritableStream({ write: (chunk) => void writeNow(bytesOf(chunk)) });
    },
  };
}

/** As Node has `process.stdout`. */
export function loggingNodeOutput(
  log: (text: string) => void,
  fd: number,
): Readonly<Record<string, unknown>> {
  const writeNow = textWriter(log);
  const write = (chunk: unknown, ...rest: readonly unknown[]): boolean => {
    writeNow(bytesOf(chunk));
    const done = rest.at(-1);
    if (typeof done === "function") queueMicrotask(() => Reflect.apply(done, undefined, []));
    return true;
  };
  return {
    fd,
    isTTY: false,
    writable: true,
    columns: undefined,
    write,
    end: write,
    on: () => undefined,
    once: () => undefined,
  };
}

/** A line break at the end of what is logged is one too many. */
function textWriter(log: (text: string) => void): (bytes: Uint8Array) => number {
  const decoder = new TextDecoder();
  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true }).replace(/\n$/, "");
    if (text !== "" || bytes.byteLength > 0) log(text);
    return bytes.byteLength;
  };
}

/** A gadget has nobody who types: its stdin is at its end. */
export function emptyInput(): Readonly<Record<string, unknown>> {
  return {
    read: () => Promise.resolve(null),
    readSync: () => null,
    isTerminal: () => false,
    setRaw: () => {},
    close: () => {},
    get readable(): ReadableStream<Uint8Array> {
      return new ReadableStream({ start: (controller) => controller.close() });
    },
  };
}
