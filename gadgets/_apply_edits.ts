import { explainMissing } from "./_nearest_lines.ts";

/** One exact replacement. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Replaces every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean;
}

/** Lines that an edit changed, as they are numbered in the new text; both ends count. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** A text after its edits. */
export interface Replaced {
  readonly text: string;
  readonly replacements: number;
  readonly lines: readonly LineRange[];
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const MAX_LINES_NAMED = 10;

/**
 * Makes the edits one after the other, each in the text that the one before has left.
 *
 * In a text whose line breaks are all CRLF, a lone LF in an edit stands for CRLF; in any other text an edit is taken as it is.
 *
 * @throws {Error} when the text of an edit is not there, or is there more than once without `all`.
 */
export function applyEdits(text: string, edits: readonly Edit[]): Replaced {
  let now = text;
  let replacements = 0;
  let changed: Range[] = [];
  const crlf = isCrlf(text);
  edits.forEach((edit, index) => {
    const from = crlf ? withCrlf(edit.old) : edit.old;
    const to = crlf ? withCrlf(edit.new) : edit.new;
    const starts = findStarts(now, {
      from,
      all: edit.all ?? false,
      which: edits.length === 1 ? "" : ` of edit ${index + 1}`,
    });
    const moved = changed.map((range) => ({
      start: moveOffset(range.start, starts, { from, to }),
      end: moveOffset(range.end, starts, { from, to }),
    }));
    // The line after a changed one is as it was, when old and new text both end with a line break.
    const wholeLines = from.endsWith("\n") && to.endsWith("\n");
    const fresh = starts.map((start, count) => {
      const begin = start + count * (to.length - from.length);
      return { start: begin, end: begin + to.length - (wholeLines ? 1 : 0) };
    });
    changed = [...moved, ...fresh];
    replacements += starts.length;
    // Not String.replace: "$&" in the new text would mean something there.
    now = splice(now, starts, { from, to });
  });
  return { text: now, replacements, lines: linesOf(now, changed) };
}

function findStarts(
  text: string,
  { from, all, which }: { from: string; all: boolean; which: string },
): number[] {
  // Occurrences that overlap, "aa" in "aaa", make an edit as ambiguous as others do.
  const step = all ? from.length : 1;
  const most = all ? Infinity : MAX_LINES_NAMED + 1;
  const starts: number[] = [];
  for (let at = text.indexOf(from); at >= 0 && starts.length < most; at = text.indexOf(from, at + step)) {
    starts.push(at);
  }
  if (starts.length === 0) {
    throw new Error(`the text "old"${which} is not in the file. ${explainMissing(text, from)}`);
  }
  if (starts.length === 1 || all) return starts;
  const more = starts.length > MAX_LINES_NAMED;
  const lines = lineNumbers(text, starts.slice(0, MAX_LINES_NAMED)).join(", ");
  throw new Error(
    `the text "old"${which} is in the file ${
      more ? `more than ${MAX_LINES_NAMED}` : starts.length
    } times, in lines ${lines}` +
      `${
        more ? " and further ones" : ""
      }. Add lines around it until it is there only once, or pass "all": true`,
  );
}

function splice(text: string, starts: readonly number[], { from, to }: { from: string; to: string }): string {
  const parts: string[] = [];
  let at = 0;
  for (const start of starts) {
    parts.push(text.slice(at, start), to);
    at = start + from.length;
  }
  return parts.join("") + text.slice(at);
}

/** Where an offset is after the replacements; one inside a replaced text moves to the end of the new one. */
function moveOffset(
  offset: number,
  starts: readonly number[],
  { from, to }: { from: string; to: string },
): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  const inside = low > 0 ? Math.max(0, (starts[low - 1] ?? 0) + from.length - offset) : 0;
  return offset + inside + low * (to.length - from.length);
}

function linesOf(text: string, changed: readonly Range[]): LineRange[] {
  const sorted = changed.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const starts = lineNumbers(text, sorted.map((range) => range.start));
  const lastLine = Math.max(1, countLineFeeds(text, 0, text.length) + (text.endsWith("\n") ? 0 : 1));
  const merged: LineRange[] = [];
  sorted.forEach(({ start, end }, index) => {
    const from = Math.min(lastLine, starts[index] ?? 1);
    const to = Math.min(lastLine, from + countLineFeeds(text, start, end));
    const last = merged.at(-1);
    if (last === undefined || from > last.to + 1) merged.push({ from, to });
    else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, to) };
  });
  return merged;
}

/** The line of each offset; the offsets ascend. */
function lineNumbers(text: string, offsets: readonly number[]): number[] {
  let [line, at] = [1, 0];
  return offsets.map((offset) => {
    line += countLineFeeds(text, at, offset);
    at = offset;
    return line;
  });
}

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}
