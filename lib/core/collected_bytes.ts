/** Reads a body into one piece and stops after `maxBytes`. */
export async function collectedBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly body: Uint8Array; readonly truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return { body: oneArray(chunks, Math.min(size, maxBytes)), truncated: size > maxBytes };
}

/** The pieces one behind the other. @param size their bytes in all */
export function oneArray(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
