/** The first bytes of common files that are not text, and what to call them. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ["89504e47", "a PNG image"],
  ["ffd8ff", "a JPEG image"],
  ["47494638", "a GIF image"],
  ["25504446", "a PDF document"],
  ["504b0304", "a ZIP archive or an office document"],
  ["1f8b", "a gzip archive"],
  ["7f454c46", "a program (ELF)"],
  ["4d5a", "a program (Windows)"],
  ["0061736d", "a WebAssembly module"],
  ["53514c69746520666f726d6174203300", "an SQLite database; SqlQuery reads it"],
  ["fffe", "UTF-16 text; save it as UTF-8"],
  ["feff", "UTF-16 text; save it as UTF-8"],
];

const START_BYTES = 8192;

const PERCENT = 0x25;

/** Whether these bytes are not text: a NUL near the start, by which `grep` and `git` decide too. */
export function looksBinary(bytes: Uint8Array): boolean {
  if (bytes.subarray(0, START_BYTES).includes(0)) return true;
  // "MZ;Mozambique" begins like a program: a start that is all ASCII is text until a byte says otherwise. A PDF says what it is.
  const isAscii = bytes.subarray(0, 16).every((byte) => byte >= 0x09 && byte < 0x7f);
  return maybeKind(bytes) !== undefined && (!isAscii || bytes[0] === PERCENT);
}

/** What bytes that are not text are, in words that fit after "it is". */
export function binaryKind(bytes: Uint8Array): string {
  return maybeKind(bytes) ?? "binary";
}

function maybeKind(bytes: Uint8Array): string | undefined {
  const start = bytes.subarray(0, 16).reduce((hex, byte) => hex + byte.toString(16).padStart(2, "0"), "");
  return SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
}
