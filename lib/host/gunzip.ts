import { gunzipSync } from "node:zlib";

/** The bytes that were compressed with gzip (RFC 1952). @throws {Error} when they were not */
export function gunzip(bytes: Uint8Array): Uint8Array {
  return gunzipSync(bytes);
}
