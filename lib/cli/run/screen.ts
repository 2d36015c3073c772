import type { RunEvent } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { cellWidth, paintFor } from "../../render/cells.ts";
import { type FrameSize, renderLive } from "../../render/frame.ts";
import { PlainLines, shownOf, type ShownText, warningText } from "../../render/lines.ts";
import { isAnswerOrCall } from "../../render/rows.ts";
import { BlankLines, InterimText, longText, printable, printableLine } from "../../render/shown_text.ts";
import type { RunView } from "./view.ts";

/** Text without a line end is moved above the frame in pieces of this length. */
const MAX_OPEN_LINE = 4096;
/** A run of up to this many calls stays on the screen call by call, even when it scrolls. */
const MAX_FINAL_ROWS = 200;

/** What the live views of all runs have in common: a frame, and lines that scroll away above it. */
export abstract class FrameView {
  protected readonly frame: LiveFrame;
  protected readonly paint = paintFor(true);

  constructor(terminal: Terminal, draw: DrawFrame) {
    this.frame = new LiveFrame(terminal, draw);
  }

  notice(text: string): Promise<void> {
    this.frame.writeAbove(`${this.paint("yellow", "warning:")} ${printable(text)}\n`);
    return Promise.resolve();
  }

  log(source: string, text: string): Promise<void> {
    const line = this.paint("dim", `${printableLine(source)}: ${printable(longText(text))}`);
    this.frame.writeAbove(`${line}\n`);
    return Promise.resolve();
  }

  pause(): Promise<void> {
    return this.frame.pause();
  }

  resume(): void {
    this.frame.resume();
  }

  abandon(): void {
    this.frame.abandon();
  }
}

/** The live view of a run on stderr. */
export class LiveScreen extends FrameView implements RunView {
  readonly #interim = new InterimText();
  readonly #shownOf: (event: RunEvent) => string;
  /** Errors and skips in full, to be read when the run is over. */
  readonly #failures: PlainLines;
  #failureText = "";
  readonly #blankLines = new BlankLines();
  /** Text outside the blocks whose line is not complete yet. */
  #openLine = "";

  constructor(
    terminal: Terminal,
    { file, shownText }: { readonly file: string; readonly shownText: ShownText },
  ) {
    super(terminal, (size) => this.#draw(size));
    this.#shownOf = shownOf(shownText, this.#interim);
    this.#failures = new PlainLines({ file, quiet: true });
  }

  event(event: RunEvent): Promise<void> {
    this.frame.setTime(event.at);
    this.#failureText += this.#failures.text(event);
    const text = this.#shownOf(event);
    if (text !== "") this.#addText(this.#blankLines.fold(text));
    if (event.type === "call-log") return this.log(event.invocationId, event.text.replace(/\r?\n$/, ""));
    return event.type === "warning" ? this.notice(warningText(event)) : Promise.resolve();
  }

  /** The answer itself goes to stdout when it is whole; meanwhile its last line shows that it grows. */
  #draw(size: FrameSize): readonly string[] {
    const growing = this.#interim.held.trimEnd();
    const openLine = this.#openLine === "" ? growing.slice(growing.lastIndexOf("\n") + 1) : this.#openLine;
    return renderLive(this.#failures.rows, { ...size, openLine, withNotes: true });
  }

  async end(): Promise<void> {
    if (this.#openLine !== "") this.#addText("\n");
    await this.frame.end((size) => this.#lastFrame(size), this.#failureText);
  }

  #lastFrame(size: FrameSize): readonly string[] {
    const { rows } = this.#failures;
    const { length } = rows.all.filter(isAnswerOrCall);
    if (length === 0) return [];
    const height = length <= MAX_FINAL_ROWS ? MAX_FINAL_ROWS + 8 : size.rows;
    const frame = renderLive(rows, { ...size, rows: height, withNotes: false });
    return rows.calls.length === 0 && length === 1 ? frame.slice(0, -1) : frame; // one answer needs no total
  }

  /** Whole lines go above the frame; the line that is being written is the frame's first. */
  #addText(text: string): void {
    const all = this.#openLine + text;
    const end = all.length > MAX_OPEN_LINE && !all.includes("\n") ? all.length : all.lastIndexOf("\n") + 1;
    this.#openLine = all.slice(end);
    if (end === 0) return;
    const lines = printable(all.slice(0, end)).replace(/\n$/, "").split("\n");
    this.frame.writeAbove(lines.map((line) => `${this.paint("dim", line)}\n`).join(""));
  }
}

// The frame at the bottom of the screen is drawn anew in place; everything else is written above it and scrolls away as usual.
// Lines are drawn with wrapping off: should a terminal find a character wider than we do, the frame still keeps its height.

const REDRAW_MS = 80;

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_LINE_END = "\x1b[K";

/** The lines of a frame: none wider than the window, and fewer than it has. */
type DrawFrame = (size: FrameSize) => readonly string[];

/** A frame on stderr, redrawn at most every 80 ms, with lines that scroll away above it. */
export class LiveFrame {
  readonly #terminal: Terminal;
  readonly #drawFrame: DrawFrame;
  readonly #resize: Disposable;
  /** By `performance.now()`, when the run's own time was 0. */
  #startedAt = performance.now();
  #above = "";
  #frame: readonly string[] = [];
  /** Of the window that the frame was drawn for. */
  #columns = 0;
  #spinnerFrame = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isWriting = false;
  #isOver = false;
  /** Several questions may wait at once. */
  #pauses = 0;

  constructor(terminal: Terminal, draw: DrawFrame) {
    this.#terminal = terminal;
    this.#drawFrame = draw;
    this.#resize = terminal.onResize(() => this.#draw());
    this.#startTimer();
  }

  /** Whole lines to be written above the frame with the next drawing. */
  writeAbove(text: string): void {
    this.#above += text;
  }

  /** The time of the run is this one now, in ms. */
  setTime(runMs: number): void {
    this.#startedAt = performance.now() - runMs;
  }

  /** Takes the frame away until `resume`. */
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

  /** Draws the last state, which stays on the screen. @param below is written behind it */
  async end(draw: DrawFrame, below: string): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#resize[Symbol.dispose]();
    const above = this.#toFrameStart() + CLEAR_BELOW + this.#takeAbove();
    const lines = draw(this.#size()).map((line) => `${line}\n`).join("");
    this.#frame = [];
    await this.#terminal.stderr.write(above + lines + SHOW_CURSOR + below);
  }

  /** The process ends now: leaves the terminal as it was. */
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

  #takeAbove(): string {
    const above = this.#above;
    this.#above = "";
    return above;
  }

  #size(): FrameSize {
    const nowMs = performance.now() - this.#startedAt;
    return { ...this.#terminal.size(), color: true, spinnerFrame: this.#spinnerFrame, nowMs };
  }

  /** Skipped while the terminal is still busy with the last frame: a slow one gets fewer frames, not a queue of them. */
  #draw(): void {
    if (this.#isWriting || this.#isOver || this.#pauses > 0) return;
    const above = this.#takeAbove();
    const size = this.#size();
    // A terminal that breaks lines anew keeps in mind where, until they are cleared: the next window would join what we draw over them.
    const isClear = above === "" && size.columns === this.#columns;
    const start = this.#toFrameStart() + (isClear ? "" : CLEAR_BELOW + above);
    this.#frame = this.#drawFrame(size);
    this.#columns = size.columns;
    const lines = this.#frame.map((line) => `${line}${CLEAR_LINE_END}\n`).join("");
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
