// Results, logs and errors come from gadgets, pages and models. A terminal obeys some characters: they can move the cursor,
// change the title, fill the clipboard, or turn a line around (https://trojansource.codes). Here they become visible marks.

/** Most texts: looked at first, because the tables behind the classes below take longer to make than a short run takes. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** The text with everything a terminal would obey made visible; line feeds and tabs stay, CR LF becomes LF. */
export function printable(text: string): string {
  return PLAIN.test(text) ? text : madeVisible(text.replaceAll("\r\n", "\n"));
}

/** C0 but tab and line feed, DEL, C1, line and paragraph separators, what turns the direction of writing, and lone surrogates. */
function madeVisible(text: string): string {
  return text.replace(
    /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/gu,
    visible,
  );
}

/** The same on one line: line ends become U+23CE, tabs a blank. */
export function printableLine(text: string): string {
  return printable(text.replace(/\r?\n$/, "")).replaceAll("\n", "\u23ce").replaceAll("\t", " ");
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
