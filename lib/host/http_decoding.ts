type Chunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

/** Deno 2.6 has no safe brotli: ending a stream of its node:zlib early can end the process. It is then not asked for. */
const hasBrotli = canConstruct("brotli");

/** What `decoded` can decode, as a value of `accept-encoding`. */
export const ACCEPTED_ENCODINGS = hasBrotli ? "gzip, br" : "gzip";

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
      return hasBrotli ? brotliDecoded(body) : refused(encoding);
    default:
      return refused(encoding);
  }
}

function refused(encoding: string): never {
  throw new Error(
    `its body is encoded as ${JSON.stringify(encoding)}, expected one of ${ACCEPTED_ENCODINGS}`,
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
