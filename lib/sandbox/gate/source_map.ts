// Source maps (ECMA-426), as far as the gate needs them: one source, no names.
import { isRecord } from "../../core/core.ts";

/** A place of the generated text and its place in the source: all from 0, columns in UTF-16 units. */
export interface Mapping {
  readonly line: number;
  readonly column: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Reads a map; an empty list for what is none. */
export function decodeMap(json: string): readonly Mapping[] {
  const map: unknown = json === "" ? undefined : JSON.parse(json);
  const mappings = isRecord(map) ? map["mappings"] : undefined;
  return typeof mappings === "string" ? decodeMappings(mappings) : [];
}

function decodeMappings(mappings: string): readonly Mapping[] {
  const out: Mapping[] = [];
  let [sourceLine, sourceColumn] = [0, 0];
  mappings.split(";").forEach((text, line) => {
    let column = 0;
    for (const segment of text.split(",")) {
      const [columns = 0, source, lines = 0, sourceColumns = 0] = decodeNumbers(segment);
      column += columns;
      if (source === undefined) continue; // a place that comes from nowhere
      sourceLine += lines;
      sourceColumn += sourceColumns;
      out.push({ line, column, sourceLine, sourceColumn });
    }
  });
  return out;
}

function decodeNumbers(segment: string): readonly number[] {
  const out: number[] = [];
  let [value, shift] = [0, 0];
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    out.push((value & 1) === 0 ? value >> 1 : -(value >> 1));
    [value, shift] = [0, 0];
  }
  return out;
}

/** Writes a map of one source. The mappings are in the order of the generated text. */
export function encodeMap(mappings: readonly Mapping[], source: string): string {
  let text = "";
  let last: Mapping = { line: 0, column: 0, sourceLine: 0, sourceColumn: 0 };
  let isFirst = true;
  for (const mapping of mappings) {
    const lines = mapping.line - last.line;
    text += lines > 0 ? ";".repeat(lines) : isFirst ? "" : ",";
    text += encodeNumber(mapping.column - (lines > 0 ? 0 : last.column)) + "A" +
      encodeNumber(mapping.sourceLine - last.sourceLine) +
      encodeNumber(mapping.sourceColumn - last.sourceColumn);
    last = mapping;
    isFirst = false;
  }
  return JSON.stringify({ version: 3, sources: [source], names: [], mappings: text });
}

function encodeNumber(number: number): string {
  let rest = number < 0 ? -number << 1 | 1 : number << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit] ?? "";
  } while (rest > 0);
  return text;
}

/**
 * Where a place of the generated text is in the source. Behind a mapped place it goes on column by column, on lines that have none
 * it is the place before.
 */
export function sourcePlace(
  mappings: readonly Mapping[],
  { line, column }: { readonly line: number; readonly column: number },
): { readonly line: number; readonly column: number } | undefined {
  let [low, high] = [0, mappings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = mappings[middle];
    const isBefore = at !== undefined && (at.line < line || (at.line === line && at.column <= column));
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  const found = mappings[low - 1];
  if (found === undefined) return undefined;
  const further = found.line === line ? column - found.column : 0;
  return { line: found.sourceLine, column: found.sourceColumn + further };
}

/** What takes the place of a part of a text. Offsets in UTF-16 units; edits are in order and do not overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text with its edits made. */
export function editText(code: string, edits: readonly Edit[]): string {
  let at = 0;
  const pieces: string[] = [];
  for (const edit of edits) {
    pieces.push(code.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return pieces.join("") + code.slice(at);
}

/** Mappings of a text, in order, as they are once it is edited: what was in an edited part is at the start of it. */
export function moveMappings(
  mappings: readonly Mapping[],
  { code, edited, edits }: {
    readonly code: string;
    readonly edited: string;
    readonly edits: readonly Edit[];
  },
): readonly Mapping[] {
  const [from, to] = [lineStarts(code), lineStarts(edited)];
  let [passed, moved, line] = [0, 0, 0];
  return mappings.map((mapping) => {
    const offset = (from[mapping.line] ?? code.length) + mapping.column;
    for (let edit = edits[passed]; edit !== undefined && edit.end <= offset; edit = edits[++passed]) {
      moved += edit.text.length - (edit.end - edit.start);
    }
    const place = Math.min(offset, edits[passed]?.start ?? offset) + moved;
    while ((to[line + 1] ?? Infinity) <= place) line++;
    return { ...mapping, line, column: place - (to[line] ?? 0) };
  });
}

/** A mapping for the start of every line, and for what stands behind every edit: the rest follows column by column. */
export function sameMappings(code: string, edits: readonly Edit[]): readonly Mapping[] {
  const starts = lineStarts(code);
  const offsets = [...starts, ...edits.map((edit) => edit.end)].sort((a, b) => a - b);
  let line = 0;
  return offsets.map((offset) => {
    while ((starts[line + 1] ?? Infinity) <= offset) line++;
    const column = offset - (starts[line] ?? 0);
    return { line, column, sourceLine: line, sourceColumn: column };
  });
}

/** The offset of the first character of every line; a line ends with LF. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
