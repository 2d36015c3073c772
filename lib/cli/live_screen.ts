import {
  BlankLines,
  InterimText,
  isInsideCall,
  longText,
  printable,
  printableLine,
} from "../render/shown_text.ts";
import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import type { FrameSize } from "../render/live_line.ts";
import { liveState, updateLive } from "../render/live_state.ts";
import type { LiveState } from "../render/live_state.ts";
import { renderLive } from "../render/live_view.ts";
import { paintFor } from "../render/paint.ts";
import { PlainLines, warningText } from "../render/plain_lines.ts";
import type { ShownText } from "../render/plain_lines.ts";
import { LiveFrame } from "./live_frame.ts";
import type { RunView } from "./run_view.ts";

/** Text without a line end is moved above the frame in pieces of this length. */
const MAX_OPEN_LINE = 4096;
/** A run of up to this many calls stays on the screen call by call, even when it scrolls. */
const MAX_FINAL_ROWS = 200;

/** The live view of a run on stderr. */
export function liveScreen(
  terminal: Terminal,
  options: { readonly file: string; readonly shownText: ShownText },
): RunView {
  return new LiveScreen(terminal, options);
}

class LiveScreen implements RunView {
  readonly #frame: LiveFrame;
  readonly #state: LiveState = liveState();
  readonly #shownText: ShownText;
  readonly #interim = new InterimText();
  readonly #paint = paintFor(true);
  /** Errors and skips in full, to be read when the run is over. */
  readonly #failures: PlainLines;
  #failureText = "";
  readonly #blankLines = new BlankLines();

  constructor(
    terminal: Terminal,
    { file, shownText }: { readonly file: string; readonly shownText: ShownText },
  ) {
    this.#shownText = shownText;
    this.#failures = new PlainLines({ file, quiet: true });
    this.#frame = new LiveFrame(
      terminal,
      (size) => renderLive(this.#shownState(), { ...size, withNotes: true }),
    );
  }

  event(event: RunEvent): Promise<void> {
    this.#frame.setTime(event.at);
    updateLive(this.#state, event);
    this.#failureText += this.#failures.text(event);
    const text = this.#shownOf(event);
    if (text !== "") this.#addText(this.#blankLines.fold(text));
    if (event.type === "call-log") return this.log(event.invocationId, event.text.replace(/\r?\n$/, ""));
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
    this.#frame.writeAbove(`${this.#paint("yellow", "warning:")} ${printable(text)}\n`);
    return Promise.resolve();
  }

  log(source: string, text: string): Promise<void> {
    const line = this.#paint("dim", `${printableLine(source)}: ${printable(longText(text))}`);
    this.#frame.writeAbove(`${line}\n`);
    return Promise.resolve();
  }

  pause(): Promise<void> {
    return this.#frame.pause();
  }

  resume(): void {
    this.#frame.resume();
  }

  async end(): Promise<void> {
    if (this.#state.openLine !== "") this.#addText("\n");
    await this.#frame.end((size) => this.#lastFrame(size), this.#failureText);
  }

  #lastFrame(size: FrameSize): readonly string[] {
    const { calls, rows: lines } = this.#state;
    if (lines.length === 0) return [];
    const rows = lines.length <= MAX_FINAL_ROWS ? MAX_FINAL_ROWS + 8 : size.rows;
    const frame = renderLive(this.#state, { ...size, rows, withNotes: false });
    return calls.size === 0 && lines.length === 1 ? frame.slice(0, -1) : frame; // one answer needs no total
  }

  abandon(): void {
    this.#frame.abandon();
  }

  /** Whole lines go above the frame; the line that is being written is the frame's first. */
  #addText(text: string): void {
    const all = this.#state.openLine + text;
    const end = all.length > MAX_OPEN_LINE && !all.includes("\n") ? all.length : all.lastIndexOf("\n") + 1;
    this.#state.openLine = all.slice(end);
    if (end === 0) return;
    const lines = printable(all.slice(0, end)).replace(/\n$/, "").split("\n");
    this.#frame.writeAbove(lines.map((line) => `${this.#paint("dim", line)}\n`).join(""));
  }
}
