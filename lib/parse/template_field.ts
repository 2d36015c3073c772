import { type TemplateAccess, templateAccessAt } from "./template_access.ts";
import { quoted, TemplateError } from "./template_error.ts";
import { type FormatSpec, parseFormatSpec } from "./template_format_spec.ts";

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
export interface SpecParts {
  readonly parts: readonly (string | TemplateAccess)[];
}

/**
 * Reads the field that starts with the brace at `start` (prompts.md 2).
 *
 * @throws {TemplateError}
 */
export function templateFieldAt(source: string, start: number): TemplateField {
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
