import { cutEnd } from "./_words.ts";

const MAX_SHOWN = 160;
const MAX_RUN_LINES = 200_000;
const MAX_LINES_COMPARED = 50_000;
const MAX_COMPARED = 200;
const LEAST_SIMILARITY = 0.3;

/** Says what in a text comes nearest to a text that is not in it, in sentences; for whoever wrote the wrong one. */
export function explainMissing(text: string, wanted: string): string {
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
