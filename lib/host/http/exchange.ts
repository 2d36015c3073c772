// One request and its answer over one connection, HTTP/1.1 (RFC 9112). Own code, because neither fetch nor node:http
// dials an address that was checked before on every Deno that Orrery runs on.

/** A connection: what an exchange needs of one. */
export interface ByteChannel extends ByteSource {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<number>;
}

/** A request, its headers with lower-case names. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: HttpBody | undefined;
}

/** What is sent: whole, or as it comes, while the answer is read already. */
export type HttpBody = string | Uint8Array | AsyncIterable<Uint8Array<ArrayBuffer>>;

/** An answer whose body has not been read yet. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names; values of the same name joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** As it came, without the framing of the connection; throws when the connection ends before it is whole. */
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

const MAX_HEAD_BYTES = 64 * 1024;

/** Sends the request and reads the head of its answer. @throws {Error} when what comes back is not HTTP. */
export async function exchange(connection: ByteChannel, request: HttpRequest): Promise<HttpAnswer> {
  await send(connection, request);
  const reader = new ByteReader(connection);
  while (true) {
    const status = statusOf(await reader.line(MAX_HEAD_BYTES));
    const headers = await readHeaders(reader);
    if (status === 101) throw new Error("it answered 101, a change of protocol that was not asked for");
    if (status < 200) continue; // an interim answer
    const empty = request.method === "HEAD" || status === 204 || status === 304;
    return { status, headers, body: empty ? nothing() : bodyOf(reader, headers) };
  }
}

async function send(connection: ByteChannel, { url, method, headers, body }: HttpRequest): Promise<void> {
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`, "connection: close"];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  const isStream = typeof body === "object" && Symbol.asyncIterator in body;
  const content = isStream
    ? new Uint8Array()
    : typeof body === "object"
    ? new Uint8Array(body)
    : new TextEncoder().encode(body);
  if (isStream) lines.push("transfer-encoding: chunked");
  else if (body !== undefined || /^(POST|PUT|PATCH)$/.test(method)) {
    lines.push(`content-length: ${content.length}`);
  }
  const head = Uint8Array.from(lines.join("\r\n") + "\r\n\r\n", (character) => character.charCodeAt(0));
  await writeAll(connection, head);
  await writeAll(connection, content);
  // Where it breaks off the server knows by the end of the connection, and the reader of the answer by that.
  if (isStream) sendChunks(connection, body).catch(() => undefined);
}

async function sendChunks(
  connection: ByteChannel,
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const end = new TextEncoder().encode("\r\n");
  for await (const chunk of body) {
    if (chunk.length === 0) continue; // it would be the last
    await writeAll(connection, new TextEncoder().encode(`${chunk.length.toString(16)}\r\n`));
    await writeAll(connection, chunk);
    await writeAll(connection, end);
  }
  await writeAll(connection, new TextEncoder().encode("0\r\n\r\n"));
}

async function writeAll(connection: ByteChannel, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function statusOf(line: string | undefined): number {
  if (line === undefined) throw new Error("the connection ended before there was an answer");
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1];
  if (status === undefined) {
    throw new Error(`expected an answer in HTTP/1.1, found ${JSON.stringify(line.slice(0, 60))}`);
  }
  return Number(status);
}

async function readHeaders(reader: ByteReader): Promise<Map<string, string>> {
  const headers = new Map<string, string>();
  let last: string | undefined;
  let bytesLeft = MAX_HEAD_BYTES;
  while (true) {
    const line = await reader.line(bytesLeft);
    if (line === undefined) throw new Error("the connection ended within the head of its answer");
    if (line === "") return headers;
    bytesLeft -= line.length + 1;
    const [, name, value = ""] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/s.exec(line) ?? [];
    if (name !== undefined) headers.set(last = name.toLowerCase(), joined(headers.get(last), value));
    else if (last !== undefined && /^[ \t]/.test(line)) {
      headers.set(last, `${headers.get(last)} ${line.trim()}`);
    } else {throw new Error(
        `expected a header line such as "name: value", found ${JSON.stringify(line.slice(0, 60))}`,
      );}
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

function bodyOf(
  reader: ByteReader,
  headers: ReadonlyMap<string, string>,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const coding = headers.get("transfer-encoding")?.toLowerCase();
  if (coding === "chunked") return chunkedBody(reader);
  if (coding !== undefined && coding !== "identity") {
    throw new Error(`its body is sent as ${JSON.stringify(coding)}, which nobody asked for`);
  }
  const length = headers.get("content-length");
  return length === undefined ? wholeRest(reader) : sizedBody(reader, lengthOf(length));
}

/** The same length told twice is one length; two lengths are an attack on whoever stands in between (RFC 9112, 6.3). */
function lengthOf(value: string): number {
  const [length = "", ...others] = new Set(value.split(",").map((part) => part.trim()));
  if (others.length === 0 && /^\d{1,15}$/.test(length)) return Number(length);
  throw new Error(`expected one content-length, found ${JSON.stringify(value)}`);
}

async function* nothing(): AsyncGenerator<Uint8Array<ArrayBuffer>> {}

async function* sizedBody(reader: ByteReader, length: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let left = length; left > 0;) {
    const chunk = await reader.some(left);
    if (chunk === undefined) {
      throw new Error(`the connection ended after ${length - left} of ${length} bytes`);
    }
    left -= chunk.length;
    yield chunk;
  }
}

async function* chunkedBody(reader: ByteReader): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  while (true) {
    const line = await reader.line(MAX_HEAD_BYTES);
    const size = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line ?? "")?.[1];
    if (line === undefined) throw new Error("the connection ended before the last chunk of the body");
    if (size === undefined) {
      throw new Error(`expected the size of a chunk, found ${JSON.stringify(line.slice(0, 60))}`);
    }
    if (parseInt(size, 16) === 0) return;
    yield* sizedBody(reader, parseInt(size, 16));
    if (await reader.line(2) !== "") throw new Error("a chunk of the body is longer than it says");
  }
}

async function* wholeRest(reader: ByteReader): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  while (true) {
    const chunk = await reader.some(Infinity).catch(endOfTls);
    if (chunk === undefined) return;
    yield chunk;
  }
}

/** Many servers end a TLS connection without saying so; without a length that is the end of the body. */
function endOfTls(error: unknown): undefined {
  if (error instanceof Error && error.name === "UnexpectedEof") return undefined;
  throw error;
}

/** Anything that bytes can be read from, such as a connection. */
interface ByteSource {
  read(into: Uint8Array<ArrayBuffer>): Promise<number | null>;
}

/** Small, so that a compressed chunk cannot unfold to more than some megabytes at once. */
const CHUNK_BYTES = 16 * 1024;

/** Reads lines and bytes from one source. */
class ByteReader {
  readonly #source: ByteSource;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** At most `maxBytes` bytes, at least one; undefined at the end. */
  async some(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#rest.length === 0 && !await this.#fill()) return undefined;
    const chunk = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(chunk.length);
    return chunk;
  }

  /**
   * A line without its end (LF or CRLF), a character for each byte; undefined at the end.
   *
   * @throws {Error} when it is longer than `maxBytes`, or broken off.
   */
  async line(maxBytes: number): Promise<string | undefined> {
    let line = "";
    while (true) {
      const end = this.#rest.indexOf(0x0a);
      const part = end < 0 ? this.#rest : this.#rest.subarray(0, end);
      if (line.length + part.length > maxBytes) {
        throw new Error(`a line of its head is longer than ${maxBytes} bytes`);
      }
      line += latin1(part);
      this.#rest = this.#rest.subarray(part.length + (end < 0 ? 0 : 1));
      if (end >= 0) return line.endsWith("\r") ? line.slice(0, -1) : line;
      if (!await this.#fill()) {
        if (line === "") return undefined;
        throw new Error("the connection ended in the middle of a line");
      }
    }
  }

  async #fill(): Promise<boolean> {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const length = await this.#source.read(chunk);
    if (length === null || length === 0) return false;
    this.#rest = chunk.subarray(0, length);
    return true;
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

type Chunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

let brotli: boolean | undefined;

/**
 * Deno 2.6 has no safe brotli: ending a stream of its node:zlib early can end the process. It is then not asked for. Deno loads what decodes
 * when it is first looked at, so that is not done before there is a request.
 */
function hasBrotli(): boolean {
  return brotli ??= canConstruct("brotli");
}

/** What `decoded` can decode, as a value of `accept-encoding`. */
export function acceptedEncodings(): string {
  return hasBrotli() ? "gzip, br" : "gzip";
}

function canConstruct(format: string): boolean {
  try {
    return Boolean(Reflect.construct(DecompressionStream, [format]));
  } catch {
    return false;
  }
}

/** Takes the content encodings off a body, the last one applied first (RFC 9110, 8.4). */
export function decoded(body: Chunks, contentEncoding: string | undefined): Chunks {
  const encodings = (contentEncoding ?? "").toLowerCase().split(",").map((name) => name.trim()).filter((
    name,
  ) => name !== "");
  return encodings.reverse().reduce(decodedOnce, body);
}

function decodedOnce(body: Chunks, encoding: string): Chunks {
  switch (encoding) {
    case "identity":
      return body;
    case "gzip":
    case "x-gzip":
      return throughStream(body, "gzip");
    case "deflate":
      return throughStream(body, "deflate");
    case "br":
      return hasBrotli() ? brotliDecoded(body) : refused(encoding);
    default:
      return refused(encoding);
  }
}

function refused(encoding: string): never {
  throw new Error(
    `its body is encoded as ${JSON.stringify(encoding)}, expected one of ${acceptedEncodings()}`,
  );
}

async function* throughStream(
  body: Chunks,
  format: "gzip" | "deflate",
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let some = false;
  const watched = async function* () {
    for await (const chunk of body) {
      some = true;
      yield chunk;
    }
  };
  try {
    yield* ReadableStream.from(watched()).pipeThrough(new DecompressionStream(format));
  } catch (error) {
    // An empty body, as that of an error page may be, is no broken one.
    if (some) throw error;
  }
}

/** By node:zlib: `DecompressionStream` gives all that a chunk unfolds to at once, which for brotli can be gigabytes. */
async function* brotliDecoded(body: Chunks): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const [{ createBrotliDecompress }, { Readable }] = await Promise.all([
    import("node:zlib"),
    import("node:stream"),
  ]);
  const source = Readable.from(body);
  const target = createBrotliDecompress();
  source.on("error", (error: Error) => target.destroy(error));
  try {
    for await (const chunk of source.pipe(target)) yield new Uint8Array(chunk);
  } finally {
    source.destroy();
    target.destroy();
  }
}
