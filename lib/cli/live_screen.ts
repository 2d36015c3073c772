// The frame at the bottom of the screen is drawn anew in place; everything else is written above it and scrolls away as usual.
// Lines are drawn with wrapping off: should a terminal find a character wider than we do, the frame still keeps its height.

import { BlankLines, InterimText, isInsideCall, longText } from "../render/shown_text.ts";
import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import { cellWidth } from "../render/cells.ts";
import { liveState, updateLive } from "../render/live_state.ts";
import type { LiveState } from "../render/live_state.ts";
import { renderLive } from "../render/live_view.ts";
import { paintFor } from "../render/paint.ts";
import { PlainLines, warningText } from "../render/plain_lines.ts";
import type { ShownText } from "../render/plain_lines.ts";
import { printable, printableLine } from "../render/printable.ts";
import type { RunView } from "./run_view.ts";

const REDRAW_MS = 80;
/** Text without a line end is moved above the frame in pieces of this length. */
const MAX_OPEN_LINE = 4096;
/** A run of up to this many calls stays on the screen call by call, even when it scrolls. */
const MAX_FINAL_ROWS = 200;

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_LINE_END = "\x1b[K";

/** The live view of a run on stderr, redrawn at most every 80 ms. */
export function liveScreen(
  terminal: Terminal,
  options: { readonly file: string; readonly shownText: ShownText },
): RunView {
  return new LiveScreen(terminal, options);
}

class LiveScreen implements RunView {
  readonly #terminal: Terminal;
  readonly #state: LiveState = liveState();
  readonly #shownText: ShownText;
  readonly #interim = new InterimText();
  readonly #paint = paintFor(true);
  /** Errors and skips in full, to be read when the run is over. */
  readonly #failures: PlainLines;
  readonly #startedAt = performance.now();
  readonly #resize: Disposable;
  #failureText = "";
  readonly #blankLines = new BlankLines();
  #above = "";
  #frame: readonly string[] = [];
  #spinnerFrame = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isWriting = false;
  #isOver = false;
  /** Several questions may wait at once. */
  #pauses = 0;

  constructor(
    terminal: Terminal,
    { file, shownText }: { readonly file: string; readonly shownText: ShownText },
  ) {
    this.#terminal = terminal;
    this.#shownText = shownText;
    this.#failures = new PlainLines({ file, quiet: true });
    this.#resize = terminal.onResize(() => this.#draw());
    this.#startTimer();
  }

  event(event: RunEvent): Promise<void> {
    updateLive(this.#state, event);
    this.#failureText += this.#failures.text(event);
    const text = this.#shownOf(event);
    if (text !== "") this.#addText(this.#blankLines.fold(text));
    return event.type === "warning" ? this.notice(warningText(event)) : Promise.resolve();
  }

  #shownOf(event: RunEvent): string {
    if (this.#shownText === "interim") return this.#interim.take(event);
    const isShown = event.type === "text-delta" && this.#shownText === "all" && !isInsideCall(event.step);
    return isShown ? event.text : "";
  }

  /** The answer itself goes to stdout when it is whole; meanwhile its last line shows that it grows. */
  #shownState(): LiveState {
    const growing = this.#interim.held.trimEnd();
    if (this.#state.openLine !== "" || growing === "") return this.#state;
    return { ...this.#state, openLine: growing.slice(growing.lastIndexOf("\n") + 1) };
  }

  notice(text: string): Promise<void> {
    this.#above += `${this.#paint("yellow", "warning:")} ${printable(text)}\n`;
    return Promise.resolve();
  }

  log(source: string, text: string): Promise<void> {
    this.#above += `${this.#paint("dim", `${printableLine(source)}: ${printable(longText(text))}`)}\n`;
    return Promise.resolve();
  }

  async pause(): Promise<void> {
    if (this.#isOver) return;
    this.#pauses++;
    clearInterval(this.#timer);
    const clear = this.#toFrameStart() + CLEAR_BELOW + this.#takeAbove() + SHOW_CURSOR;
    this.#frame = [];
    await this.#terminal.stderr.write(clear);
  }

  resume(): void {
    if (this.#isOver || --this.#pauses > 0) return;
    this.#startTimer();
    this.#draw();
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#resize[Symbol.dispose]();
    const { columns, rows } = this.#terminal.size();
    const finalRows = this.#state.rows.length <= MAX_FINAL_ROWS ? MAX_FINAL_ROWS + 8 : rows;
    if (this.#state.openLine !== "") this.#addText("\n");
    const above = this.#toFrameStart() + CLEAR_BELOW + this.#takeAbove();
    const frame = renderLive(this.#state, { ...this.#look(), columns, rows: finalRows, withNotes: false });
    const { calls, rows: lines } = this.#state;
    const lasting = calls.size === 0 && lines.length === 1 ? frame.slice(0, -1) : frame; // one answer needs no total
    const shown = lines.length === 0 ? "" : `${lasting.join("\n")}\n`;
    this.#frame = [];
    await this.#terminal.stderr.write(above + shown + SHOW_CURSOR + this.#failureText);
  }

  abandon(): void {
    clearInterval(this.#timer);
    this.#terminal.stderr.writeNow(WRAP_ON + SHOW_CURSOR);
  }

  #startTimer(): void {
    this.#timer = setInterval(() => {
      this.#spinnerFrame++;
      this.#draw();
    }, REDRAW_MS);
  }

  /** Whole lines go above the frame; the line that is being written is the frame's first. */
  #addText(text: string): void {
    const all = this.#state.openLine + text;
    const end = all.length > MAX_OPEN_LINE && !all.includes("\n") ? all.length : all.lastIndexOf("\n") + 1;
    this.#state.openLine = all.slice(end);
    if (end === 0) return;
    const lines = printable(all.slice(0, end)).replace(/\n$/, "").split("\n");
    this.#above += lines.map((line) => `${this.#paint("dim", line)}\n`).join("");
  }

  #takeAbove(): string {
    const above = this.#above;
    this.#above = "";
    return above;
  }

  #look(): { color: boolean; spinnerFrame: number; nowMs: number } {
    return { color: true, spinnerFrame: this.#spinnerFrame, nowMs: performance.now() - this.#startedAt };
  }

  /** Skipped while the terminal is still busy with the last frame: a slow one gets fewer frames, not a queue of them. */
  #draw(): void {
    if (this.#isWriting || this.#isOver || this.#pauses > 0) return;
    const above = this.#takeAbove();
    const start = this.#toFrameStart() + (above === "" ? "" : CLEAR_BELOW + above);
    const frame = renderLive(this.#shownState(), {
      ...this.#look(),
      ...this.#terminal.size(),
      withNotes: true,
    });
    const lines = frame.map((line) => `${line}${CLEAR_LINE_END}\n`).join("");
    this.#frame = frame;
    this.#isWriting = true;
    this.#terminal.stderr.write(HIDE_CURSOR + start + WRAP_OFF + lines + CLEAR_BELOW + WRAP_ON)
      .catch(() => {}) // the window is gone: the run goes on without a view
      .finally(() => this.#isWriting = false);
  }

  /** Up over the last frame; a window made narrower since then has broken its lines. */
  #toFrameStart(): string {
    const { columns } = this.#terminal.size();
    const heights = this.#frame.map((line) =>
      Math.max(1, Math.ceil(cellWidth(withoutLooks(line)) / columns))
    );
    const height = heights.reduce((sum, lines) => sum + lines, 0);
    return height === 0 ? "\r" : `\r\x1b[${height}A`;
  }
}

/** Our own colours: everything else of this kind was made visible before. */
const LOOK = /\p{Cc}\[\d+m/gu;

function withoutLooks(line: string): string {
  return line.replace(LOOK, "");
}
