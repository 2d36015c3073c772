/** A line of a program, or that there was one that is too long. */
export type StdioLine = { readonly text: string } | { readonly tooLong: true };

/**
 * Divides bytes into lines; a blank one is left out. Of a line that is longer than `maxBytes` nothing is kept, and what follows it is
 * read on. Memory and time are linear in what comes.
 */
export async function* stdioLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<StdioLine> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    for (let end = rest.indexOf(LF); end >= 0; end = rest.indexOf(LF)) {
      const line = lineOf([...parts, rest.subarray(0, end)], { size: size + end, maxBytes });
      if (line !== undefined) yield line;
      [parts, size, rest] = [[], 0, rest.subarray(end + 1)];
    }
    size += rest.length;
    if (size > maxBytes) parts = [];
    else if (rest.length > 0) parts.push(rest);
  }
  const last = lineOf(parts, { size, maxBytes }); // without its end: the program may have been cut off
  if (last !== undefined) yield last;
}

const LF = 0x0a;

function lineOf(
  parts: readonly Uint8Array[],
  { size, maxBytes }: { readonly size: number; readonly maxBytes: number },
): StdioLine | undefined {
  if (size > maxBytes) return { tooLong: true };
  const decoder = new TextDecoder();
  const text = parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  return text.trim() === "" ? undefined : { text };
}
