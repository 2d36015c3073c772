import { callDepths } from "./call_depths.ts";
import { cellWidth, cutToCells, padToCells } from "./cells.ts";
import { duration } from "./duration.ts";
import type { LiveCall, LiveState } from "./live_state.ts";
import type { Paint, Style } from "./paint.ts";
import { paintFor } from "./paint.ts";
import { printableLine } from "./printable.ts";
import { tallyLine } from "./run_tally.ts";

/** What a frame is drawn for. */
export interface LiveSize {
  /** Cells of the window. */
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  /** Counts up with every frame; turns the spinner. */
  readonly spinnerFrame: number;
  /** ms since the start of the run. */
  readonly nowMs: number;
  /** Whether log lines, errors and reasons stand behind the calls. */
  readonly withNotes: boolean;
}

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const MAX_INDENT = 6;
const BAR_CELLS = 20;
const PROGRESS_CELLS = 10;
const MAX_NAME_CELLS = 32;

/** What is shown first when the window is too small for all. */
const IMPORTANCE: Readonly<Record<LiveCall["state"], number>> = {
  running: 0,
  failed: 1,
  skipped: 2,
  waiting: 3,
  done: 4,
};

interface Row {
  readonly call: LiveCall;
  readonly depth: number;
}

interface Columns {
  readonly id: number;
  readonly gadget: number;
}

interface Piece {
  readonly style?: Style;
  readonly text: string;
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
  const all = [...state.calls.values()];
  const kept = all.length <= room ? new Set(all) : mostImportant(all, room - 1);
  const rows = all.filter((call) => kept.has(call)).map((call) => ({ call, depth: depths.get(call) ?? 0 }));
  return { rows, hidden: hiddenText(all.filter((call) => !kept.has(call))) };
}

function mostImportant(calls: readonly LiveCall[], room: number): Set<LiveCall> {
  const kept = new Set<LiveCall>();
  for (let importance = 0; importance <= 4 && kept.size < room; importance++) {
    const group = calls.filter((call) => IMPORTANCE[call.state] === importance);
    // The last failures and results are news, the first waiting ones are next.
    const missing = room - kept.size;
    for (
      const call of importance === 1 || importance === 4 ? group.slice(-missing) : group.slice(0, missing)
    ) kept.add(call);
  }
  return kept;
}

function hiddenText(hidden: readonly LiveCall[]): string {
  if (hidden.length === 0) return "";
  const counts = new Map<LiveCall["state"], number>();
  for (const { state } of hidden) counts.set(state, (counts.get(state) ?? 0) + 1);
  return `… ${[...counts].map(([state, count]) => `${count} ${state}`).join(", ")}`;
}

function columnsOf(rows: readonly Row[]): Columns {
  let id = 0;
  let gadget = 0;
  for (const row of rows) {
    id = Math.max(id, cellWidth(idText(row)));
    gadget = Math.max(gadget, cellWidth(cutToCells(printableLine(row.call.gadgetName), MAX_NAME_CELLS)));
  }
  return { id, gadget };
}

function idText({ call, depth }: Row): string {
  const indent = depth === 0 ? "" : `${"  ".repeat(Math.min(depth, MAX_INDENT) - 1)}└ `;
  return indent + cutToCells(printableLine(call.invocationId), MAX_NAME_CELLS);
}

function rowPieces(row: Row, columns: Columns, size: LiveSize): Piece[] {
  const { call } = row;
  return [
    { text: " " },
    symbol(call, size.spinnerFrame),
    { text: ` ${padToCells(idText(row), columns.id)}  ` },
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

function symbol(call: LiveCall, frame: number): Piece {
  switch (call.state) {
    case "waiting":
      return { style: "dim", text: "○" };
    case "running":
      return { style: "cyan", text: SPINNER.charAt(frame % SPINNER.length) };
    case "done":
      return { style: "green", text: "●" };
    case "failed":
      return { style: "red", text: "✗" };
    case "skipped":
      return { style: "yellow", text: "–" };
    default:
      return call.state satisfies never;
  }
}

function timeText(call: LiveCall, nowMs: number): string {
  return call.ranAt === undefined ? "" : duration(Math.max(0, (call.endedAt ?? nowMs) - call.ranAt));
}

function progressPieces({ progress }: LiveCall): Piece[] {
  if (progress === undefined) return [];
  const { done, total } = progress;
  if (total === undefined || total <= 0) return [{ text: `  ${done}` }];
  return [{ style: "cyan", text: `  ${bar(done / total, PROGRESS_CELLS)}` }, { text: ` ${done}/${total}` }];
}

function notePieces({ note, state }: LiveCall): Piece[] {
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
  return [
    { style, text: ` ${bar(share, BAR_CELLS)}` },
    { text: `  ${tallyLine(state.tally, state.endedAt ?? size.nowMs)}` },
  ];
}

/** One line of the window: cut to its width before it gets its looks, so that no look is cut in half. */
function fit(pieces: readonly Piece[], columns: number, paint: Paint): string {
  let room = columns - 1; // a full last column makes some terminals wrap
  let line = "";
  for (const { style, text } of pieces) {
    if (room <= 0) break;
    const cut = cutToCells(text, room);
    room -= cellWidth(cut);
    line += style === undefined ? cut : paint(style, cut);
  }
  return line.trimEnd();
}
