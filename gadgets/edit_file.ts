import {
  BYTE_ORDER_MARK,
  type Gadget,
  messageOf,
  objectOf,
  onlyFields,
  type World,
} from "../lib/core/core.ts";
import { inTurn, readTextFile } from "./_text_file.ts";
import { cutEnd } from "./_words.ts";

interface Input {
  readonly path: string;
  readonly old?: string;
  readonly new?: string;
  readonly all?: boolean;
  readonly edits?: readonly Edit[];
}

interface Output {
  readonly path: string;
  readonly replacements: number;
  readonly lines: readonly LineRange[];
  readonly moreLines?: number;
}

const MAX_RANGES = 200;

const EDIT_PROPERTIES = {
  old: {
    type: "string",
    minLength: 1,
    description:
      "The text to replace, exactly as it is in the file, blanks and line breaks included. It must be there exactly once: " +
      "take in lines around it until it is.",
  },
  new: {
    type: "string",
    description: "The text to put in its place, taken literally; the empty text deletes.",
  },
  all: { type: "boolean", description: "True replaces every occurrence. Default: false." },
} as const;

/** `EditFile`: exact replacements in a file, all or none. */
export default function editFile(world: World): Gadget<Input> {
  return {
    name: "EditFile",
    description:
      "Replaces text in a file: `old`, which must be there exactly once, by `new`; with `all`, every occurrence. Several edits go in " +
      "`edits`: they are made in order, each in the text that the one before has left, and when one fails none is made. In a file " +
      "whose line breaks are CRLF, a line break in `old` and `new` stands for CRLF. Read the file first, and copy `old` from it.",
    input: onlyFields({
      path: {
        type: "string",
        minLength: 1,
        description: 'The file, relative to the project root: "src/main.ts".',
      },
      ...EDIT_PROPERTIES,
      edits: {
        type: "array",
        minItems: 1,
        description: "Several edits, in place of `old`, `new` and `all`.",
        items: onlyFields(EDIT_PROPERTIES, ["old", "new"]),
      },
    }, ["path"]),
    output: objectOf({
      path: { type: "string" },
      replacements: { type: "integer", description: "How many occurrences were replaced." },
      lines: {
        type: "array",
        description: "Where the new text is now; lines count from 1, both ends included.",
        items: objectOf({ from: { type: "integer" }, to: { type: "integer" } }, ["from", "to"]),
      },
      moreLines: {
        type: "integer",
        description: `How many further places there are; at most ${MAX_RANGES} are listed.`,
      },
    }, ["path", "replacements", "lines"]),
    permissions: { read: true, write: true },
    idempotent: false,
    untrusted: false,
    timeoutMs: 60_000,
    examples: [
      { input: { path: "src/main.ts", old: "const port = 80;", new: "const port = 8080;" } },
      {
        input: {
          path: "src/main.ts",
          edits: [{ old: "a();\n", new: "" }, { old: "oldName", new: "newName", all: true }],
        },
      },
    ],
    async run(input, { signal }) {
      const edits = editsOf(input);
      const edit = async () => {
        signal.throwIfAborted();
        return await editOnce(world, { path: input.path, edits, signal });
      };
      return await inTurn(await world.files.resolve(input.path, { for: "write" }), edit);
    },
  };
}

async function editOnce(
  world: World,
  { path, edits, signal }: { path: string; edits: readonly Edit[]; signal: AbortSignal },
): Promise<Output> {
  const file = await readTextFile(world.files, path, signal);
  const { text, replacements, lines } = attempt(path, () => applyEdits(file.text, edits));
  signal.throwIfAborted();
  await world.files.writeText(path, (file.byteOrderMark ? BYTE_ORDER_MARK : "") + text);
  const more = lines.length - MAX_RANGES;
  return { path, replacements, lines: lines.slice(0, MAX_RANGES), ...(more > 0 && { moreLines: more }) };
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`Cannot edit ${JSON.stringify(path)}: ${messageOf(cause)}; nothing was changed`, {
      cause,
    });
  }
}

function editsOf({ path, old, new: replacement, all, edits }: Input): readonly Edit[] {
  if (edits === undefined) {
    if (old === undefined || replacement === undefined) {
      throw new Error(`Cannot edit ${JSON.stringify(path)}: expected "old" and "new", or a list "edits"`);
    }
    return checked(path, [{ old, new: replacement, all }]);
  }
  if (old !== undefined || replacement !== undefined || all !== undefined) {
    throw new Error(
      `Cannot edit ${
        JSON.stringify(path)
      }: found "edits" beside "old", "new" or "all"; put them all into "edits"`,
    );
  }
  return checked(path, edits);
}

function checked(path: string, edits: readonly Edit[]): readonly Edit[] {
  edits.forEach((edit, index) => {
    const which = edits.length === 1 ? "" : ` of edit ${index + 1}`;
    if (edit.old === "") {
      throw new Error(
        `Cannot edit ${JSON.stringify(path)}: "old"${which} is empty; WriteFile writes a whole file`,
      );
    }
    if (edit.old === edit.new) {
      throw new Error(`Cannot edit ${JSON.stringify(path)}: "old" and "new"${which} are the same`);
    }
  });
  return edits;
}

/** One exact replacement. */
interface Edit {
  readonly old: string;
  readonly new: string;
  /** Replaces every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean;
}

/** Lines that an edit changed, as they are numbered in the new text; both ends count. */
interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** A text after its edits. */
interface Replaced {
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

const MAX_SHOWN = 160;
const MAX_RUN_LINES = 200_000;
const MAX_LINES_COMPARED = 50_000;
const MAX_COMPARED = 200;
const LEAST_SIMILARITY = 0.3;

/** Says what in a text comes nearest to a text that is not in it, in sentences; for whoever wrote the wrong one. */
function explainMissing(text: string, wanted: string): string {
  const lines = text.split(/\r?\n/);
  const wantedLines = wanted.split(/\r?\n/);
  const copy = "Read the file again and copy the text exactly";
  if (text.trim() === "") return "The file is empty";
  const run = longestRun(lines, wantedLines);
  if (run !== undefined) return `${describeRun(run, { lines, wantedLines })}. ${copy}`;
  const similar = mostSimilar(lines, wantedLines.find((line) => line.trim() !== "") ?? "");
  if (similar === undefined) return `No line is similar to it. ${copy}`;
  return `The nearest is line ${similar + 1}: ${shown(lines[similar])}. ${copy}`;
}

/** Lines that are the same as the wanted ones, blanks at their ends aside. */
interface Run {
  /** Of the first line that is the same, in the text and in the wanted text, from 0. */
  readonly at: number;
  readonly wantedAt: number;
  readonly length: number;
}

/** The longest run that begins with the first wanted line that is not blank. */
function longestRun(lines: readonly string[], wantedLines: readonly string[]): Run | undefined {
  const wantedAt = wantedLines.findIndex((line) => line.trim() !== "");
  const first = wantedLines[wantedAt]?.trim();
  if (first === undefined) return undefined;
  let best: Run | undefined;
  let compared = 0;
  for (let at = 0; at < lines.length && compared < MAX_RUN_LINES; at++) {
    if (lines[at]?.trim() !== first) continue;
    let length = 1;
    while (
      wantedAt + length < wantedLines.length &&
      lines[at + length]?.trim() === wantedLines[wantedAt + length]?.trim()
    ) length++;
    compared += length;
    if (length > (best?.length ?? 0)) best = { at, wantedAt, length };
  }
  return best;
}

function describeRun(
  run: Run,
  { lines, wantedLines }: { lines: readonly string[]; wantedLines: readonly string[] },
): string {
  const { at, wantedAt, length } = run;
  for (let i = 0; i < length; i++) {
    const [found, wanted] = [lines[at + i], wantedLines[wantedAt + i]];
    if (found !== wanted) {
      return `Line ${at + i + 1} differs in its blanks: found ${shown(found)}, expected ${shown(wanted)}`;
    }
  }
  const same = length === 1 ? `Line ${at + 1} is the same` : `Lines ${at + 1} to ${at + length} are the same`;
  const wanted = wantedLines[wantedAt + length];
  if (wanted === undefined) return `${same}, but the blank lines or line breaks around differ`;
  const next = lines[at + length];
  const found = next === undefined
    ? "found the end of the file"
    : `line ${at + length + 1} differs: found ${shown(next)}`;
  return `${same}, but ${found}, expected ${shown(wanted)}`;
}

function mostSimilar(lines: readonly string[], wanted: string): number | undefined {
  const wantedPairs = pairsOf(wanted);
  let best: number | undefined;
  let bestSimilarity = LEAST_SIMILARITY;
  lines.slice(0, MAX_LINES_COMPARED).forEach((line, index) => {
    const similarity = likeness(wantedPairs, pairsOf(line));
    if (similarity > bestSimilarity) [best, bestSimilarity] = [index, similarity];
  });
  return best;
}

/** How often each two neighbouring characters occur, blanks at the ends and case left out. */
function pairsOf(line: string): Map<string, number> {
  const text = line.trim().slice(0, MAX_COMPARED).toLowerCase();
  const pairs = new Map<string, number>();
  for (let i = 0; i < text.length - 1; i++) {
    const pair = text.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** The share of pairs that two lines have in common (Dice's coefficient): from 0 to 1. */
function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0;
  for (const [pair, count] of a) common += Math.min(count, b.get(pair) ?? 0);
  const total = sum(a.values()) + sum(b.values());
  return total === 0 ? 0 : 2 * common / total;
}

const sum = (numbers: Iterable<number>): number =>
  Array.from(numbers).reduce((total, number) => total + number, 0);

const shown = (line: string | undefined): string => JSON.stringify(cutEnd(line ?? "", MAX_SHOWN));
