import { bytesOf } from "./arguments.ts";

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
