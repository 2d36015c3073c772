// Texts and numbers as a JSONPath writes them (RFC 9535, 2.3.1.1 and 2.3.5.1).

import type { PathScanner } from "./json_path_scanner.ts";

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["/", "/"],
  ["\\", "\\"],
]);

/** Text in either kind of quotes; undefined where there is none. @throws {PathProblem} */
export function maybeText(scanner: PathScanner): string | undefined {
  const quote = scanner.maybeMatch(/["']/y);
  if (quote === undefined) return undefined;
  let text = "";
  while (true) {
    // All but the controls below the blank, quotes, the backslash and halves of surrogate pairs.
    text += scanner.maybeMatch(/[ !#-&(-[\]-\u{d7ff}\u{e000}-\u{10ffff}]*/uy) ?? "";
    if (scanner.take(quote)) return text;
    if (scanner.take("\\")) text += escaped(scanner, quote);
    else text += scanner.maybeMatch(/["']/y) ?? scanner.fail(`the end of a text in ${quote}`);
  }
}

function escaped(scanner: PathScanner, quote: string): string {
  const character = scanner.text.charAt(scanner.at);
  const meant = character === quote ? quote : ESCAPES.get(character);
  if (meant !== undefined) {
    scanner.at++;
    return meant;
  }
  const code = scanner.maybeMatch(
    /u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?!d[89a-f])[0-9a-f]{4})/iy,
  );
  return code === undefined
    ? scanner.fail(`an escape such as \\n, \\u00e9 or \\${quote}`)
    : String.fromCharCode(...code.split("\\").map((unit) => parseInt(unit.slice(1), 16)));
}

/** A whole number that a double holds exactly; undefined where there is none. @throws {PathProblem} when it is too large */
export function maybeInteger(scanner: PathScanner): number | undefined {
  const start = scanner.at;
  const digits = scanner.maybeMatch(/0|-?[1-9][0-9]*/y);
  if (digits === undefined) return undefined;
  if (Number.isSafeInteger(Number(digits))) return Number(digits);
  return scanner.refuse(`the number ${digits}`, start, ", expected one from -(2^53)+1 to 2^53-1.");
}

/** A number as in JSON; undefined where there is none. */
export function maybeNumber(scanner: PathScanner): number | undefined {
  const text = scanner.maybeMatch(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?/iy);
  return text === undefined ? undefined : Number(text);
}
