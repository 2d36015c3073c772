import type { Mapping } from "./source_map.ts";

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
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
