import { cellWidth, cutToCells, padToCells, type Paint, paintFor } from "../cells.ts";
import { fit, type FrameSize, type LineState, type Piece, stateSymbol } from "../live/line.ts";
import { answersText, counted } from "../run_tally.ts";
import { duration, printableLine, withUsage } from "../shown_text.ts";
import type { DocumentState, LiveOperation } from "./state.ts";

const MAX_INDENT = 8;
const MAX_NAME_CELLS = 48;
const MAX_TAIL_LINES = 8;

/** In which order the totals tell them, and how. */
const STATE_WORDS: readonly (readonly [LineState, string])[] = [
  ["done", "ok"],
  ["reused", "reused"],
  ["failed", "failed"],
  ["skipped", "skipped"],
  ["stopped", "stopped"],
  ["running", "running"],
];

/**
 * The frame of a document's run: its operations in the order in which they began, those of the documents that it runs below the
 * operation that runs them, the end of the text that is coming in, and the totals. Never wider than the window, and never as high:
 * what ended first gives way.
 */
export function renderDocument(state: DocumentState, size: FrameSize): readonly string[] {
  const paint = paintFor(size.color);
  const tail = tailLines(state, { size, paint });
  const room = Math.max(1, size.rows - 3 - tail.length);
  const { rows, hidden } = chosenRows(state, room);
  const nameCells = Math.max(0, ...rows.map((row) => cellWidth(nameText(row))));
  const lines = rows.map((row) => fit(rowPieces(row, { nameCells, size }), size.columns, paint));
  const more = hidden === "" ? [] : [fit([{ style: "dim", text: `   … ${hidden}` }], size.columns, paint)];
  const total = fit([{ style: "dim", text: ` ${totalText(state, size.nowMs)}` }], size.columns, paint);
  return [...more, ...lines, ...tail, total].slice(-Math.max(1, size.rows - 1));
}

/** `5 operations: 3 ok, 2 reused; 2 answers: 120 in, 34 out, $0.0012; 4.5 s` */
function totalText({ counts, running, tally, endedAt }: DocumentState, nowMs: number): string {
  const open = endedAt === undefined ? running.filter(({ kind }) => kind === "operation").length : 0;
  const all = [...counts.values()].reduce((sum, each) => sum + each, open);
  const states = STATE_WORDS.map(([state, word]) => ({
    word,
    n: (counts.get(state) ?? 0) + (state === "running" ? open : 0),
  }));
  const words = states.filter(({ n }) => n > 0).map(({ word, n }) => `${n} ${word}`);
  return [
    ...(all === 0 ? [] : [`${counted(all, "operation")}: ${words.join(", ")}`]),
    ...(tally.answers === 0 ? [] : [answersText(tally)]),
    duration(endedAt ?? nowMs),
  ].join("; ");
}

function chosenRows(
  { rows, gone }: DocumentState,
  room: number,
): { readonly rows: readonly LiveOperation[]; readonly hidden: string } {
  const kept = rows.length + (gone.size > 0 ? 1 : 0) <= room ? new Set(rows) : mostImportant(rows, room - 1);
  const hidden = new Map(gone);
  for (const row of rows) if (!kept.has(row)) hidden.set(row.state, (hidden.get(row.state) ?? 0) + 1);
  const words = STATE_WORDS.filter(([state]) => hidden.has(state));
  return {
    rows: rows.filter((row) => kept.has(row)),
    hidden: words.map(([state, word]) => `${hidden.get(state)} ${word}`).join(", "),
  };
}

/** What runs, the innermost before what it is inside of; then what failed last, then what ended last. */
function mostImportant(rows: readonly LiveOperation[], room: number): ReadonlySet<LiveOperation> {
  const groups = [
    rows.filter(({ state }) => state === "running" || state === "stopped"),
    rows.filter(({ state }) => state === "failed"),
    rows,
  ];
  const kept = new Set<LiveOperation>();
  for (const group of groups) {
    for (let i = group.length - 1; i >= 0 && kept.size < room; i--) {
      const row = group[i];
      if (row !== undefined) kept.add(row);
    }
  }
  return kept;
}

function nameText({ name, depth }: LiveOperation): string {
  const indent = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, MAX_INDENT) - 1)}└ `;
  return indent + cutToCells(printableLine(name), MAX_NAME_CELLS);
}

function rowPieces(
  row: LiveOperation,
  { nameCells, size }: { readonly nameCells: number; readonly size: FrameSize },
): readonly Piece[] {
  const { state, note, usage, ranAt, endedAt } = row;
  const ms = Math.max(0, (endedAt ?? size.nowMs) - ranAt);
  const time = state === "skipped" ? "skipped" : state === "reused" ? "reused" : duration(ms);
  return [
    { text: " " },
    stateSymbol(state, size.spinnerFrame),
    { text: ` ${padToCells(nameText(row), nameCells)}  ` },
    { text: padToCells(time, 8) },
    { style: "dim", text: withUsage("", { usage, before: "  " }) },
    ...(note === undefined ? [] : [
      {
        style: state === "failed" ? "red" : "dim",
        text: `  ${printableLine(note.slice(0, 2000))}`,
      } as const,
    ]),
  ];
}

/** Under the operation that it belongs to: the innermost one that runs, which is the last row. */
function tailLines(
  { tail }: DocumentState,
  { size: { columns, rows }, paint }: { readonly size: FrameSize; readonly paint: Paint },
): readonly string[] {
  const most = Math.min(MAX_TAIL_LINES, Math.floor(rows / 3));
  return lastLines(tail.text, { columns: columns - 6, most })
    .map((line) => fit([{ style: "dim", text: `   │ ${line}` }], columns, paint));
}

/** The last lines of a text as a window of this width breaks them; blank lines at its end are none. */
export function lastLines(
  tail: string,
  { columns, most }: { readonly columns: number; readonly most: number },
): readonly string[] {
  const lines: string[] = [];
  const text = tail.trimEnd();
  if (text === "" || columns < 1) return [];
  for (let end = text.length; end >= 0 && lines.length < most;) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = end === 0 ? "" : text.slice(start, end);
    lines.unshift(...broken(printableLine(overwritten(line)), columns));
    end = start - 1;
  }
  return lines.slice(-most);
}

/** A carriage return begins the line anew: so programs show their progress. */
function overwritten(line: string): string {
  const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
  return whole.slice(whole.lastIndexOf("\r") + 1);
}

function broken(line: string, columns: number): readonly string[] {
  if (cellWidth(line) <= columns) return [line];
  const lines: string[] = [];
  let here = "";
  let cells = 0;
  for (const character of line) {
    const width = cellWidth(character);
    if (cells + width > columns) {
      const blank = character === " " ? here.length : here.lastIndexOf(" ");
      const at = blank > here.length / 2 ? blank : here.length;
      lines.push(here.slice(0, at).trimEnd());
      here = here.slice(at).trimStart();
      cells = cellWidth(here);
    }
    if (here === "" && character === " " && lines.length > 0) continue;
    here += character;
    cells += width;
  }
  return [...lines, here];
}
