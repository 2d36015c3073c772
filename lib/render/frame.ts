// The frame of a run at the bottom of a window: never wider than the window, and never as high. What ended first gives way.
import { cellWidth, cutToCells, padToCells, type Paint, paintFor, type Style } from "./cells.ts";
import {
  callDepths,
  isAnswerOrCall,
  isNested,
  nameWords,
  type RowState,
  type RunRow,
  type RunRows,
} from "./rows.ts";
import { answersText, counted, tallyLine } from "./run_tally.ts";
import { duration, printableLine, thoughtWords, withUsage } from "./shown_text.ts";

/** What a frame is drawn for. */
export interface FrameSize {
  /** Cells of the window. */
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  /** Counts up with every frame; turns the spinner. */
  readonly spinnerFrame: number;
  /** ms since the start of the run. */
  readonly nowMs: number;
}

/** The same of a run of calls. */
export interface LiveSize extends FrameSize {
  /** Whether log lines, errors and reasons stand behind the calls. */
  readonly withNotes: boolean;
  /** Text outside the blocks whose line is not complete yet. Default: none. */
  readonly openLine?: string;
}

/** A part of a line and how it looks. */
interface Piece {
  readonly style?: Style;
  readonly text: string;
}

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** The mark in front of a line; that of what runs turns. In the order in which totals tell of them. */
const MARKS: Readonly<Record<RowState, Piece>> = {
  done: { style: "green", text: "●" },
  reused: { style: "dim", text: "↺" },
  failed: { style: "red", text: "✗" },
  skipped: { style: "yellow", text: "–" },
  stopped: { style: "yellow", text: "■" },
  running: { style: "cyan", text: SPINNER },
  "waits for you": { style: "yellow", text: "?" },
  waiting: { style: "dim", text: "○" },
  note: { text: "" },
};

/** Rows that are shown first, by their states; of some the newest. */
type Group = readonly [states: readonly RowState[], isNewest: boolean];

const BAR_CELLS = 20;
/** In a narrow window the totals need the room. */
const NARROW_BAR_CELLS = 8;
const NARROW_COLUMNS = 60;
const PROGRESS_CELLS = 10;
const MAX_CALL_INDENT = 6;
const MAX_CALL_CELLS = 32;

/** The last failures and results are news, the first waiting ones are next. */
const CALL_GROUPS: readonly Group[] = [
  [["running", "waits for you"], false],
  [["failed", "stopped"], true],
  [["skipped"], false],
  [["waiting"], false],
  [["done"], true],
];

/** The frame of a run of calls: answers and calls in written order, indented below what they wait for, and a bar with the totals. */
export function renderLive(rows: RunRows, size: LiveSize): string[] {
  const depths = callDepths(rows);
  const { shown, hidden } = chosen(rows, rows.all.filter(isAnswerOrCall), {
    room: Math.max(1, size.rows - 4),
    groups: CALL_GROUPS,
  });
  const idOf = (row: RunRow): string => {
    const depth = (depths.get(row) ?? 0) + (row.call?.step === undefined ? 0 : 1); // those of an answer stand under it
    return row.call === undefined ? "" : indented(row.call.id, depth, [MAX_CALL_INDENT, MAX_CALL_CELLS]);
  };
  const gadgetOf = ({ call, name }: RunRow): string =>
    call === undefined ? "" : cutToCells(printableLine(name), MAX_CALL_CELLS);
  const [idCells, gadgetCells] = [widest(shown.map(idOf)), widest(shown.map(gadgetOf))];
  const piecesOf = (row: RunRow): readonly Piece[] => {
    const { call, answer } = row;
    const time = timeText(rows, row, size);
    if (call === undefined) {
      const name = cutToCells(printableLine(answer?.model ?? row.name), MAX_CALL_CELLS * 2);
      return [{ text: ` ${name}  ${time}` }, {
        style: "dim",
        text: withUsage("", { usage: answer, before: "  " }),
      }, ...thoughtPieces(rows, row, size)];
    }
    const { dependencies, progress } = call;
    const waits = dependencies.length > 0 && row.state !== "done"
      ? `  ← ${dependencies.map(printableLine).join(", ")}`
      : "";
    return [
      { text: ` ${padToCells(idOf(row), idCells)}  ` },
      { style: "dim", text: padToCells(gadgetOf(row), gadgetCells) },
      { text: `  ${padToCells(time, 8)}` },
      ...(progress === undefined ? [] : progressPieces(progress)),
      { style: "dim", text: waits },
    ];
  };
  const { line, dim } = painted(size);
  const openLine = size.openLine ?? "";
  return [
    ...(openLine === "" ? [] : [dim(printableLine(openLine.slice(-size.columns * 2)))]),
    ...shown.map((row) =>
      line([...markPieces(rows, row, size), ...piecesOf(row), ...(size.withNotes ? notePieces(row) : [])])
    ),
    ...(hidden.length === 0 ? [] : [dim(`  … ${countWords(rows, hidden)}`)]),
    line(totalPieces(rows, size)),
  ].slice(-Math.max(1, size.rows - 1));
}

/** The end of what a model thinks; later how long it thought. */
function thoughtPieces(
  { tail }: RunRows,
  { key, thought }: RunRow,
  { columns }: FrameSize,
): readonly Piece[] {
  if (thought === undefined) return [];
  const [line] = tail.isThought && tail.step === key
    ? lastLines(tail.text, { columns: Math.max(20, columns - 40), most: 1 })
    : [];
  return [{ style: "dim", text: `  ${line === undefined ? thoughtWords(thought) : `thinking: ${line}`}` }];
}

function progressPieces(
  { done, total }: { readonly done: number; readonly total?: number },
): readonly Piece[] {
  if (total === undefined || total <= 0) return [{ text: `  ${done}` }];
  return [{ style: "cyan", text: `  ${bar(done / total, PROGRESS_CELLS)}` }, { text: ` ${done}/${total}` }];
}

function bar(share: number, cells: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * cells);
  return "█".repeat(full) + "░".repeat(cells - full);
}

function totalPieces({ tally, end, all }: RunRows, { columns, nowMs }: LiveSize): readonly Piece[] {
  const { opened, done, failed, skipped, answers } = tally;
  const time = end?.at ?? nowMs;
  if (opened === 0 && all.some(isAnswerOrCall)) {
    return [{ style: "dim", text: ` ${answers === 0 ? duration(time) : tallyLine(tally, time)}` }];
  }
  const share = opened === 0 ? 0 : (done + failed + skipped) / opened;
  const style = failed + skipped > 0 ? "red" : "green";
  return [
    { style, text: ` ${bar(share, columns < NARROW_COLUMNS ? NARROW_BAR_CELLS : BAR_CELLS)}` },
    { text: `  ${tallyLine(tally, time)}` },
  ];
}

const MAX_NAME_INDENT = 8;
const MAX_NAME_CELLS = 48;
const MAX_TAIL_LINES = 8;

/** What runs, the innermost before what it is inside of; then what failed last, then what ended last. */
const OPERATION_GROUPS: readonly Group[] = [
  [["running", "waits for you", "waiting", "stopped"], true],
  [["failed"], true],
  [["done", "reused", "skipped"], true],
];

const OPERATION_WORDS = { done: "ok" };

/**
 * The frame of a document's run: its operations in the order in which they began, those of the documents that it runs below the
 * operation that runs them, the end of the text that is coming in, and the totals.
 */
export function renderDocument(rows: RunRows, size: FrameSize): readonly string[] {
  const { line, dim } = painted(size);
  const most = Math.min(MAX_TAIL_LINES, Math.floor(size.rows / 3));
  const tail = lastLines(rows.tail.text, { columns: size.columns - 6, most }); // under the innermost operation that runs, which is the last row
  const nested = rows.all.filter(isNested);
  const { shown, hidden } = chosen(rows, nested, {
    room: Math.max(1, size.rows - 3 - tail.length),
    groups: OPERATION_GROUPS,
  });
  const nameOf = (row: RunRow): string =>
    indented(nameWords(row), row.depth, [MAX_NAME_INDENT, MAX_NAME_CELLS]);
  const nameCells = widest(shown.map(nameOf));
  const operations = nested.filter(({ call }) => call === undefined);
  const total = [
    ...(operations.length === 0
      ? []
      : [`${counted(operations.length, "operation")}: ${countWords(rows, operations, OPERATION_WORDS)}`]),
    ...(rows.tally.answers === 0 ? [] : [answersText(rows.tally)]),
    duration(rows.end?.at ?? size.nowMs),
  ].join("; ");
  return [
    ...(hidden.length === 0 ? [] : [dim(`   … ${countWords(rows, hidden, OPERATION_WORDS)}`)]),
    ...shown.map((row) =>
      line([
        ...markPieces(rows, row, size),
        { text: ` ${padToCells(nameOf(row), nameCells)}  ${padToCells(timeText(rows, row, size), 8)}` },
        { style: "dim", text: withUsage("", { usage: row.inside, before: "  " }) },
        ...notePieces(row),
      ])
    ),
    ...tail.map((each) => dim(`   │ ${each}`)),
    dim(` ${total}`),
  ].slice(-Math.max(1, size.rows - 1));
}

/** The rows that there is room for. */
function chosen(
  rows: RunRows,
  all: readonly RunRow[],
  { room, groups }: { readonly room: number; readonly groups: readonly Group[] },
): { readonly shown: readonly RunRow[]; readonly hidden: readonly RunRow[] } {
  if (all.length <= room) return { shown: all, hidden: [] };
  const kept = new Set<RunRow>();
  for (const [states, isNewest] of groups) {
    const missing = room - 1 - kept.size;
    if (missing <= 0) break;
    const group = all.filter((row) => states.includes(rows.stateOf(row)));
    for (const row of isNewest ? group.slice(-missing) : group.slice(0, missing)) kept.add(row);
  }
  return { shown: all.filter((row) => kept.has(row)), hidden: all.filter((row) => !kept.has(row)) };
}

/** `3 ok, 1 failed` */
function countWords(
  rows: RunRows,
  counting: readonly RunRow[],
  words: Readonly<Record<string, string>> = {},
): string {
  const counts = new Map<string, number>();
  for (const state of counting.map((row) => rows.stateOf(row))) {
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const states = Object.keys(MARKS).filter((state) => counts.has(state));
  return states.map((state) => `${counts.get(state)} ${words[state] ?? state}`).join(", ");
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, cellWidth(text)), 0);
}

function indented(
  text: string,
  depth: number,
  [indent, cells]: readonly [indent: number, cells: number],
): string {
  const start = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, indent) - 1)}└ `;
  return start + cutToCells(printableLine(text), cells);
}

function markPieces(rows: RunRows, row: RunRow, { spinnerFrame }: FrameSize): readonly Piece[] {
  const { style, text } = MARKS[rows.stateOf(row)];
  return [{ text: " " }, {
    style,
    text: text === SPINNER ? SPINNER.charAt(spinnerFrame % SPINNER.length) : text,
  }];
}

/** An operation that has taken no time of its own says so. */
function timeText(rows: RunRows, row: RunRow, { nowMs }: FrameSize): string {
  if (row.state === "reused" || row.kind === "skip") return row.state;
  const ms = rows.msOf(row, nowMs);
  return ms === undefined ? "" : duration(ms);
}

function notePieces({ note, state }: RunRow): readonly Piece[] {
  if (note === undefined) return [];
  return [{ style: state === "failed" ? "red" : "dim", text: `  ${printableLine(note.slice(0, 2000))}` }];
}

/** Lines of a window: cut to its width before they get their looks, so that no look is cut in half. */
function painted({ columns, color }: FrameSize): {
  readonly line: (pieces: readonly Piece[]) => string;
  readonly dim: (text: string) => string;
} {
  const paint: Paint = paintFor(color);
  const line = (pieces: readonly Piece[]): string => {
    let room = columns - 1; // a full last column makes some terminals wrap
    let text = "";
    for (const piece of pieces) {
      if (room <= 0) break;
      const cut = cutToCells(piece.text, room);
      room -= cellWidth(cut);
      text += piece.style === undefined ? cut : paint(piece.style, cut);
    }
    return text.trimEnd();
  };
  return { line, dim: (text) => line([{ style: "dim", text }]) };
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
