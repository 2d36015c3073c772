import { cellWidth, cutToCells, type Paint, type Style } from "../cells.ts";

/** What a frame at the bottom of the window is drawn for. */
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

/** A part of a line and how it looks. */
export interface Piece {
  readonly style?: Style;
  readonly text: string;
}

/** How something that is shown by a line of its own is going. */
export type LineState =
  | "waiting"
  | "running"
  | "waits for you"
  | "done"
  | "reused"
  | "failed"
  | "skipped"
  | "stopped";

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** The mark in front of a line; it turns while something runs. */
export function stateSymbol(state: LineState, spinnerFrame: number): Piece {
  switch (state) {
    case "waiting":
      return { style: "dim", text: "○" };
    case "running":
      return { style: "cyan", text: SPINNER.charAt(spinnerFrame % SPINNER.length) };
    case "waits for you":
      return { style: "yellow", text: "?" };
    case "done":
      return { style: "green", text: "●" };
    case "reused":
      return { style: "dim", text: "↺" };
    case "failed":
      return { style: "red", text: "✗" };
    case "skipped":
      return { style: "yellow", text: "–" };
    case "stopped":
      return { style: "yellow", text: "■" };
    default:
      return state satisfies never;
  }
}

/** One line of the window: cut to its width before it gets its looks, so that no look is cut in half. */
export function fit(pieces: readonly Piece[], columns: number, paint: Paint): string {
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
