export { TemplateError };

/** A template, read: texts with their doubled braces undone, and fields. */
export interface Template {
  readonly parts: readonly (string | TemplateField)[];
  /** The variables of all fields, those inside format specs too, in order of first appearance. */
  readonly vars: readonly string[];
}

/**
 * Reads a template (prompts.md 2), in time linear in its length.
 *
 * @throws {TemplateError} at the first brace that is wrong.
 */
export function parseTemplate(source: string): Template {
  const parts: (string | TemplateField)[] = [];
  const vars = new Set<string>();
  const brace = /[{}]/g;
  let text = "";
  let from = 0;
  for (let match = brace.exec(source); match !== null; match = brace.exec(source)) {
    const at = match.index;
    text += source.slice(from, at);
    if (source[at + 1] === source[at]) {
      text += source[at];
      from = at + 2;
    } else {
      const field = fieldAt(source, at);
      if (text !== "") parts.push(text);
      parts.push(field);
      for (const { name } of accessesOf(field)) vars.add(name);
      text = "";
      from = at + field.source.length;
    }
    brace.lastIndex = from;
  }
  text += source.slice(from);
  if (text !== "") parts.push(text);
  return Object.freeze({ parts: Object.freeze(parts), vars: Object.freeze([...vars]) });
}

function fieldAt(source: string, offset: number): TemplateField {
  if (source[offset] === "{") return templateFieldAt(source, offset);
  throw new TemplateError(`single "}": write "}}" for a literal brace`, { source, offset });
}

function accessesOf({ access, spec }: TemplateField): readonly TemplateAccess[] {
  if (spec === undefined || !("parts" in spec)) return [access];
  return [access, ...spec.parts.filter((part) => typeof part !== "string")];
}

/** One `{…}` of a template. */
export interface TemplateField {
  /** As written, with its braces. */
  readonly source: string;
  readonly access: TemplateAccess;
  /** The letter after `!`. */
  readonly conversion: string | undefined;
  readonly spec: FormatSpec | SpecParts | undefined;
}

/** A format spec with fields of its own, which can be read only when their values are there. */
interface SpecParts {
  readonly parts: readonly (string | TemplateAccess)[];
}

/**
 * Reads the field that starts with the brace at `start` (prompts.md 2).
 *
 * @throws {TemplateError}
 */
function templateFieldAt(source: string, start: number): TemplateField {
  const end = matchingBrace(source, start);
  if (end === undefined) {
    throw new TemplateError(`unclosed "{": write "{{" for a literal brace`, { source, offset: start });
  }
  const text = source.slice(start, end + 1);
  const place: Place = { source, offset: start };
  const access = templateAccessAt(text, 1);
  if (access === undefined) throw badPlaceholder(text, place);
  const afterAccess = 1 + access.source.length;
  const colon = text.indexOf(":", afterAccess);
  const afterConversion = colon === -1 ? text.length - 1 : colon;
  const conversion = readConversion(text, { from: afterAccess, to: afterConversion, place });
  return {
    source: text,
    access,
    conversion,
    spec: colon === -1 ? undefined : readSpec(text, { from: colon + 1, place }),
  };
}

interface Place {
  readonly source: string;
  readonly offset: number;
}

/** Where the brace that opens at `start` closes; undefined when it does not. */
function matchingBrace(text: string, start: number): number | undefined {
  const brace = /[{}]/g;
  brace.lastIndex = start;
  let depth = 0;
  for (let match = brace.exec(text); match !== null; match = brace.exec(text)) {
    depth += match[0] === "{" ? 1 : -1;
    if (depth === 0) return match.index;
  }
  return undefined;
}

function readConversion(
  text: string,
  { from, to, place }: { readonly from: number; readonly to: number; readonly place: Place },
): string | undefined {
  if (from === to) return undefined;
  if (text[from] !== "!") throw badPlaceholder(text, place);
  const letter = text.slice(from + 1, to);
  if (!/^[sjra]$/.test(letter)) {
    throw new TemplateError(
      `bad conversion ${quoted(text.slice(from, to))} in ${quoted(text)}: use !s or !j`,
      place,
    );
  }
  return letter;
}

function readSpec(
  text: string,
  { from, place }: { readonly from: number; readonly place: Place },
): FormatSpec | SpecParts {
  const source = text.slice(from, -1);
  if (source.includes("{")) return specParts(source, { source: place.source, offset: place.offset + from });
  const spec = parseFormatSpec(source);
  if (spec !== undefined) return spec;
  throw new TemplateError(`bad format spec ${quoted(`:${source}`)} in ${quoted(text)}`, place);
}

function specParts(spec: string, place: Place): SpecParts {
  const parts: (string | TemplateAccess)[] = [];
  let from = 0;
  for (let open = spec.indexOf("{"); open !== -1; open = spec.indexOf("{", from)) {
    const close = matchingBrace(spec, open) ?? spec.length;
    const access = templateAccessAt(spec, open + 1);
    if (access === undefined || open + 1 + access.source.length !== close) {
      throw badPlaceholder(spec.slice(open, close + 1), { ...place, offset: place.offset + open });
    }
    parts.push(spec.slice(from, open), access);
    from = close + 1;
  }
  return { parts: [...parts, spec.slice(from)] };
}

function badPlaceholder(text: string, place: Place): TemplateError {
  return new TemplateError(
    `bad placeholder ${
      quoted(text)
    }: expected {name}, {a.b} or {a[k]}; write "{{" and "}}" for literal braces`,
    place,
  );
}

/** `a.b[c d]` in a template: the variable `a`, and what is looked up in it, one after the other. */
export interface TemplateAccess {
  readonly source: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** The longest access that starts here (prompts.md 2), or undefined when no name does. */
function templateAccessAt(text: string, start: number): TemplateAccess | undefined {
  const nameEnd = endOfName(text, start);
  if (nameEnd === start) return undefined;
  const keys: string[] = [];
  let at = nameEnd;
  for (let end = endOfKey(text, at); end > at; end = endOfKey(text, at)) {
    keys.push(text.slice(at + 1, text[at] === "[" ? end - 1 : end));
    at = end;
  }
  return { source: text.slice(start, at), name: text.slice(start, nameEnd), keys };
}

/** Where `.name` or `[key]` ends; where it would start when there is none. */
function endOfKey(text: string, at: number): number {
  if (text[at] === ".") {
    const end = endOfName(text, at + 1);
    return end === at + 1 ? at : end;
  }
  if (text[at] !== "[") return at;
  let end = at + 1;
  while (end < text.length && !"[]{}".includes(text.charAt(end))) end++;
  return text[end] === "]" && end > at + 1 ? end + 1 : at;
}

function endOfName(text: string, start: number): number {
  let at = start;
  for (let code = text.codePointAt(at); isNameCharacter(code); code = text.codePointAt(at)) {
    at += code > 0xffff ? 2 : 1;
  }
  return at;
}

// One character at a time: a pattern over all of a name would keep a place to go back to for each of them.
function isNameCharacter(code: number | undefined): code is number {
  if (code === undefined) return false;
  if (code > 0x7f) return /^[\p{L}\p{M}\p{Nd}]$/u.test(String.fromCodePoint(code));
  return IS_ASCII_NAME[code] === true;
}

const IS_ASCII_NAME = Array.from({ length: 0x80 }, (_, code) => /[\w-]/.test(String.fromCharCode(code)));

/** What follows the colon of a field, read: `*>+#012,.3f`. */
export interface FormatSpec {
  /** Without the colon. */
  readonly source: string;
  readonly fill: string | undefined;
  readonly align: string | undefined;
  readonly sign: string | undefined;
  /** `#` */
  readonly isPrefixed: boolean;
  /** `0` in front of the width. */
  readonly isZeroFilled: boolean;
  /** In code points; 0 when none is given. */
  readonly width: number;
  readonly grouping: string | undefined;
  readonly precision: number | undefined;
  readonly type: string | undefined;
}

const SPEC = /^(?:(.)?([<>=^]))?([+\- ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bdoxXeEfFgG%s])?$/su;
const LONGEST_SPEC = 64;
// Beyond this a slip of the pen, or a value that a model gave, would fill the memory.
const WIDEST = 100_000;

/** Reads a format spec (prompts.md 2); undefined when it is none, or one that no value could ever fit. */
export function parseFormatSpec(source: string): FormatSpec | undefined {
  const match = source.length > LONGEST_SPEC ? null : SPEC.exec(source);
  if (match === null) return undefined;
  const [, fill, align, sign, prefix, zero, width = "0", grouping, precision, type] = match;
  const spec: FormatSpec = {
    source,
    fill,
    align,
    sign,
    isPrefixed: prefix !== undefined,
    isZeroFilled: zero !== undefined,
    width: Number(width),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
  return isPossible(spec) ? spec : undefined;
}

function isPossible({ type = "", precision, grouping, sign, isPrefixed, align, width }: FormatSpec): boolean {
  if (width > WIDEST) return false;
  if (type === "s") return (sign ?? grouping) === undefined && !isPrefixed && align !== "=";
  if (type === "") return true;
  if (precision !== undefined && ("dboxX".includes(type) || precision > WIDEST)) return false;
  return grouping !== "," || !"boxX".includes(type);
}

/** A template that cannot be read; the message says nothing of the place. */
class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** From 1; a line ends with LF. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;

  /** @param at where it is wrong: `offset` counts UTF-16 units of `source` from 0 */
  constructor(message: string, at: { readonly source: string; readonly offset: number }) {
    super(message);
    const before = at.source.slice(0, at.offset);
    this.line = before.split("\n").length;
    this.column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1;
  }
}

/** How an error shows a piece of a template: in quotes, cut to 40 code points. */
export function quoted(text: string): string {
  return JSON.stringify(Array.from(text.slice(0, 80)).slice(0, 40).join(""));
}
