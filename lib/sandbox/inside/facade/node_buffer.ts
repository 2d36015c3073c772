import { bytesOf } from "./arguments.ts";

const UTF8 = /^utf-?8$/i;

/** A text in the encoding; without one a `Buffer`. */
export function decodedAs(bytes: Uint8Array, encoding: unknown): unknown {
  if (typeof encoding === "string" && UTF8.test(encoding)) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
  const buffer = bufferOf(bytes);
  if (encoding === undefined || encoding === null || encoding === "buffer") return buffer;
  const toText: unknown = Reflect.get(buffer, "toString");
  return typeof toText === "function" ? Reflect.apply(toText, buffer, [encoding]) : buffer;
}

/** The bytes of what is written: a text in the encoding, by default UTF-8. @throws {TypeError} */
export function encodedAs(data: unknown, encoding: unknown): Uint8Array {
  if (
    typeof data !== "string" || encoding === undefined || encoding === null || UTF8.test(String(encoding))
  ) {
    return bytesOf(data);
  }
  return bufferFrom([data, encoding]) ?? bytesOf(data);
}

function bufferOf(bytes: Uint8Array): Uint8Array {
  return bufferFrom([bytes.buffer, bytes.byteOffset, bytes.byteLength]) ?? bytes;
}

/** Node's own class is loaded by the runtime when it is first named: not before somebody needs it. */
function bufferFrom(given: readonly unknown[]): Uint8Array | undefined {
  const owner: unknown = Reflect.get(globalThis, "Buffer");
  const from: unknown = typeof owner === "function" ? Reflect.get(owner, "from") : undefined;
  const made: unknown = typeof from === "function" ? Reflect.apply(from, owner, given) : undefined;
  return made instanceof Uint8Array ? made : undefined;
}
