import { cellWidth, cutToCells, padToCells, paintFor } from "../cells.ts";
import { tallyLine } from "../run_tally.ts";
import { duration, printableLine, withUsage } from "../shown_text.ts";
import { fit, type FrameSize, type Piece, stateSymbol } from "./line.ts";
import { callDepths, type LiveCall, type LiveRow, type LiveState, type LiveStep } from "./state.ts";

/** What a frame is drawn for. */
export interface LiveSize extends FrameSize {
  /** Whether log lines, errors and reasons stand behind the calls. */
  readonly withNotes: boolean;
}

const MAX_INDENT = 6;
const BAR_CELLS = 20;
/** In a narrow window the totals need the room. */
const NARROW_BAR_CELLS = 8;
const NARROW_COLUMNS = 60;
const PROGRESS_CELLS = 10;
const MAX_NAME_CELLS = 32;

/** What is shown first when the window is too small for all. */
const IMPORTANCE: Readonly<Record<LiveRow["state"], number>> = {
  running: 0,
  "waits for you": 0,
  failed: 1,
  stopped: 1,
  skipped: 2,
  waiting: 3,
  done: 4,
};

interface Row {
  readonly row: LiveRow;
  readonly depth: number;
}

interface Columns {
  readonly id: number;
  readonly gadget: number;
}

/**
 * The frame of a run: the calls in written order, indented below what they wait for, and a bar with the totals. Never wider than
 * the window, and never as high: finished calls give way first.
 */
export function renderLive(state: LiveState, size: LiveSize): string[] {
  const paint = paintFor(size.color);
  const shown = chooseRows(state, Math.max(1, size.rows - 4));
  const columns = columnsOf(shown.rows);
  const lines = shown.rows.map((row) => fit(rowPieces(row, columns, size), size.columns, paint));
  if (shown.hidden !== "") {
    lines.push(fit([{ style: "dim", text: `  ${shown.hidden}` }], size.columns, paint));
  }
  lines.push(fit(totalPieces(state, size), size.columns, paint));
  const text = state.openLine === ""
    ? []
    : [fit([{ style: "dim", text: openLineEnd(state.openLine, size) }], size.columns, paint)];
  return [...text, ...lines].slice(-Math.max(1, size.rows - 1));
}

function openLineEnd(line: string, size: LiveSize): string {
  return printableLine(line.slice(-size.columns * 2).slice(0, size.columns * 2));
}

function chooseRows(state: LiveState, room: number): { rows: readonly Row[]; hidden: string } {
  const depths = callDepths(state);
  const all = state.rows;
  const kept = all.length <= room ? new Set(all) : mostImportant(all, room - 1);
  const rows = all.filter((row) => kept.has(row)).map((row) => ({ row, depth: depthOf(row, depths) }));
  return { rows, hidden: hiddenText(all.filter((row) => !kept.has(row))) };
}

/** The calls of an answer stand one step under it. */
function depthOf(row: LiveRow, depths: ReadonlyMap<LiveCall, number>): number {
  if (!isCall(row)) return 0;
  return (depths.get(row) ?? 0) + (row.step === undefined ? 0 : 1);
}

function isCall(row: LiveRow): row is LiveCall {
  return "invocationId" in row;
}

function mostImportant(all: readonly LiveRow[], room: number): Set<LiveRow> {
  const kept = new Set<LiveRow>();
  for (let importance = 0; importance <= 4 && kept.size < room; importance++) {
    const group = all.filter(({ state }) => IMPORTANCE[state] === importance);
    // The last failures and results are news, the first waiting ones are next.
    const missing = room - kept.size;
    for (
      const row of importance === 1 || importance === 4 ? group.slice(-missing) : group.slice(0, missing)
    ) kept.add(row);
  }
  return kept;
}

function hiddenText(hidden: readonly LiveRow[]): string {
  if (hidden.length === 0) return "";
  const counts = new Map<LiveRow["state"], number>();
  for (const { state } of hidden) counts.set(state, (counts.get(state) ?? 0) + 1);
  return `… ${[...counts].map(([state, count]) => `${count} ${state}`).join(", ")}`;
}

function columnsOf(rows: readonly Row[]): Columns {
  let id = 0;
  let gadget = 0;
  for (const { row, depth } of rows) {
    if (!isCall(row)) continue;
    id = Math.max(id, cellWidth(idText(row, depth)));
    gadget = Math.max(gadget, cellWidth(cutToCells(printableLine(row.gadgetName), MAX_NAME_CELLS)));
  }
  return { id, gadget };
}

function idText(call: LiveCall, depth: number): string {
  const indent = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, MAX_INDENT) - 1)}└ `;
  return indent + cutToCells(printableLine(call.invocationId), MAX_NAME_CELLS);
}

function rowPieces({ row, depth }: Row, columns: Columns, size: LiveSize): Piece[] {
  return isCall(row) ? callPieces(row, { depth, columns, size }) : stepPieces(row, size);
}

function stepPieces(step: LiveStep, size: LiveSize): Piece[] {
  return [
    { text: " " },
    stateSymbol(step.state, size.spinnerFrame),
    { text: ` ${cutToCells(printableLine(step.name), MAX_NAME_CELLS * 2)}  ` },
    { text: timeText(step, size.nowMs) },
    { style: "dim", text: withUsage("", { usage: step.usage, before: "  " }) },
    ...(size.withNotes ? notePieces(step) : []),
  ];
}

function callPieces(
  call: LiveCall,
  { depth, columns, size }: { readonly depth: number; readonly columns: Columns; readonly size: LiveSize },
): Piece[] {
  return [
    { text: " " },
    stateSymbol(call.state, size.spinnerFrame),
    { text: ` ${padToCells(idText(call, depth), columns.id)}  ` },
    {
      style: "dim",
      text: padToCells(cutToCells(printableLine(call.gadgetName), MAX_NAME_CELLS), columns.gadget),
    },
    { text: `  ${padToCells(timeText(call, size.nowMs), 8)}` },
    ...progressPieces(call),
    ...(call.dependencies.length === 0 || call.state === "done" ? [] : [{
      style: "dim" as const,
      text: `  ← ${call.dependencies.map(printableLine).join(", ")}`,
    }]),
    ...(size.withNotes ? notePieces(call) : []),
  ];
}

function timeText(row: LiveRow, nowMs: number): string {
  const { ranAt, endedAt } = row;
  const askedAt = isCall(row) ? row.askedAt : undefined;
  return ranAt === undefined ? "" : duration(Math.max(0, (endedAt ?? askedAt ?? nowMs) - ranAt));
}

function progressPieces({ progress }: LiveCall): Piece[] {
  if (progress === undefined) return [];
  const { done, total } = progress;
  if (total === undefined || total <= 0) return [{ text: `  ${done}` }];
  return [{ style: "cyan", text: `  ${bar(done / total, PROGRESS_CELLS)}` }, { text: ` ${done}/${total}` }];
}

function notePieces({ note, state }: LiveRow): Piece[] {
  if (note === undefined) return [];
  const text = `  ${printableLine(note.slice(0, 2000))}`;
  return [{ style: state === "failed" ? "red" : "dim", text }];
}

function bar(share: number, cells: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * cells);
  return "█".repeat(full) + "░".repeat(cells - full);
}

function totalPieces(state: LiveState, size: LiveSize): Piece[] {
  const { opened, done, failed, skipped } = state.tally;
  const style = failed + skipped > 0 ? "red" : "green";
  const share = opened === 0 ? 0 : (done + failed + skipped) / opened;
  const time = state.endedAt ?? size.nowMs;
  if (opened === 0 && state.steps.size > 0) {
    return [{
      style: "dim",
      text: ` ${state.tally.answers === 0 ? duration(time) : tallyLine(state.tally, time)}`,
    }];
  }
  return [
    { style, text: ` ${bar(share, size.columns < NARROW_COLUMNS ? NARROW_BAR_CELLS : BAR_CELLS)}` },
    { text: `  ${tallyLine(state.tally, time)}` },
  ];
}
