// The syntax of JavaScript's regular expressions without look-around and back-references, as a tree. V8 has
// checked the text before, so this only takes it apart: what it does not know here cannot be wrong syntax.

/** A part of a regular expression. `set` stands for one UTF-16 unit; its source is a regular expression for V8. */
export type PatternNode =
  | { readonly kind: "set"; readonly source: string; readonly flags: "" | "u" }
  | { readonly kind: "assert"; readonly what: "start" | "end" | "word" | "not-word" }
  | { readonly kind: "sequence"; readonly items: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly items: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number };

interface Reader {
  readonly source: string;
  at: number;
}

const MAX_DEPTH = 200;
const ESCAPE = /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|c[A-Za-z]|[pP]\{[^}]*\}|[^])/y;
const CLASS = /\[(?:[^\]\\]|\\[^])*\]/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y;
const ASTRAL = /[\uD800-\uDBFF][\uDC00-\uDFFF]/y;

/**
 * Takes a regular expression apart.
 *
 * @throws {Error} for wrong syntax, and for look-around and back-references, which cannot be searched for in linear time.
 */
export function parsePattern(source: string): PatternNode {
  try {
    new RegExp(source);
  } catch (error) {
    const reason = error instanceof Error
      ? error.message.replace(/^Invalid regular expression: /, "")
      : String(error);
    throw new Error(`Cannot read the regular expression: ${reason}`);
  }
  return parseChoice({ source, at: 0 }, 0);
}

function parseChoice(reader: Reader, depth: number): PatternNode {
  if (depth > MAX_DEPTH) {
    throw new Error(`Cannot read the regular expression: more than ${MAX_DEPTH} groups inside each other`);
  }
  const items = [parseSequence(reader, depth)];
  while (reader.source[reader.at] === "|") {
    reader.at++;
    items.push(parseSequence(reader, depth));
  }
  return items.length === 1 && items[0] !== undefined ? items[0] : { kind: "choice", items };
}

function parseSequence(reader: Reader, depth: number): PatternNode {
  const items: PatternNode[] = [];
  while (reader.at < reader.source.length && !"|)".includes(reader.source.charAt(reader.at))) {
    items.push(parseQuantifier(reader, parseAtom(reader, depth)));
  }
  return { kind: "sequence", items };
}

/** Whether a quantifier is lazy changes only where a match ends, which nobody asks here. */
function parseQuantifier(reader: Reader, item: PatternNode): PatternNode {
  const match = take(reader, QUANTIFIER);
  if (match === undefined) return item;
  const [, sign, least, comma, most] = match;
  if (sign !== undefined) {
    return { kind: "repeat", item, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
  }
  const min = Number(least);
  return {
    kind: "repeat",
    item,
    min,
    max: comma === undefined ? min : most === "" ? Infinity : Number(most),
  };
}

function parseAtom(reader: Reader, depth: number): PatternNode {
  const first = reader.source.charAt(reader.at);
  if (first === "(") return parseGroup(reader, depth);
  if (first === "[") return parseClass(reader);
  if (first === "\\") return parseEscape(reader);
  const pair = take(reader, ASTRAL);
  if (pair !== undefined) {
    return {
      kind: "sequence",
      items: Array.from({ length: 2 }, (_, i) => literal(pair[0].charAt(i))),
    };
  }
  reader.at++;
  if (first === "^") return { kind: "assert", what: "start" };
  if (first === "$") return { kind: "assert", what: "end" };
  return first === "." ? { kind: "set", source: ".", flags: "" } : literal(first);
}

function parseGroup(reader: Reader, depth: number): PatternNode {
  const open = /\((?:\?(?::|<[^=!>][^>]*>))?/y;
  take(reader, open);
  if (reader.source[reader.at] === "?") {
    throw unsupported(
      `"${reader.source.slice(reader.at - 1, reader.at + 2)}" (look-around and flags inside a group)`,
    );
  }
  const inside = parseChoice(reader, depth + 1);
  reader.at++;
  return inside;
}

function parseClass(reader: Reader): PatternNode {
  const text = take(reader, CLASS)?.[0] ?? "";
  if (/[\uD800-\uDFFF]/.test(text)) {
    throw unsupported(`a character above U+FFFF in ${text}; write (?:a|b) instead of [ab]`);
  }
  return { kind: "set", source: text, flags: /\\[pP]\{/.test(text) ? "u" : "" };
}

function parseEscape(reader: Reader): PatternNode {
  const text = take(reader, ESCAPE)?.[0] ?? "";
  if (text === "\\b") return { kind: "assert", what: "word" };
  if (text === "\\B") return { kind: "assert", what: "not-word" };
  if (text === "\\c" || (text === "\\0" && /^[0-9]/.test(reader.source.slice(reader.at)))) {
    throw unsupported(`the old escape ${text}`);
  }
  if (/^\\[1-9k]/.test(text)) throw unsupported(`the back-reference ${text}`);
  if (text === "\\u") throw unsupported(`\\u without four hexadecimal digits; write the character itself`);
  return { kind: "set", source: text, flags: /^\\[pP]./.test(text) ? "u" : "" };
}

function literal(unit: string): PatternNode {
  return { kind: "set", source: `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`, flags: "" };
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.source) ?? undefined;
  if (match !== undefined) reader.at = pattern.lastIndex;
  return match;
}

function unsupported(what: string): Error {
  return new Error(
    `Cannot search with this regular expression: ${what} cannot be searched for in linear time. Leave it out`,
  );
}
