/** The text between as much of `fill`, one code point, as makes `width` code points; `^` puts the odd one at the end. */
export function padded(
  text: string,
  options: { readonly width: number; readonly align: string; readonly fill: string },
): string {
  const { width, align, fill } = options;
  if (text.length >= 2 * width) return text;
  const missing = width - codePoints(text);
  if (missing <= 0) return text;
  const before = align === "<" ? 0 : align === "^" ? missing >> 1 : missing;
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    if ((text.codePointAt(at) ?? 0) <= 0xffff) continue;
    count--;
    at++;
  }
  return count;
}
