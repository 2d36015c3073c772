import type { Json, RunEvent } from "../../core/core.ts";
import { hasColor, type Output, type Terminal } from "../../host/terminal/terminal.ts";
import { PlainLines, type PlainLinesOptions, type ShownText } from "../../render/lines.ts";
import { isInsideCall, printable } from "../../render/shown_text.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { RunSummary } from "../../service/runs/summary.ts";
import type { Interruptible } from "./around.ts";

/** What the person at the terminal sees of a run, on stderr. */
export interface RunView {
  event(event: RunEvent): Promise<void>;
  /** Something that is no event of the run, such as a setting that was ignored. */
  notice(text: string): Promise<void>;
  /** A line that something besides the run says, such as a server. */
  log(source: string, text: string): Promise<void>;
  /** Shows a question in place of everything that moves, until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** The last state stays on the screen. */
  end(): Promise<void>;
  /** The process ends now: leaves the terminal as it was. */
  abandon(): void;
}

/** What is to be seen. */
export interface ViewOptions {
  readonly flags: { readonly quiet: boolean; readonly jsonl: boolean };
  /** How errors name the file. */
  readonly file: string;
  /** Somebody types what is run. */
  readonly isTyped?: boolean;
  /** Default `all`. */
  readonly shownText?: ShownText;
}

/** The live view on a terminal that wants one, which is loaded then, else lines; also lines where the terminal shows something else at the same time. */
export async function chooseView(
  terminal: Terminal,
  { flags, file, isTyped = false, shownText = "all" }: ViewOptions,
): Promise<RunView> {
  if (!isTyped && wantsLiveView(terminal, flags)) {
    const { LiveScreen }: typeof import("./screen.ts") = await import("./screen.ts" as string);
    return new LiveScreen(terminal, { file, shownText });
  }
  return plainView(terminal.stderr, { file, shownText, quiet: flags.quiet });
}

/** What is to be seen of a run of a kind, which says what that is; what few kinds need is loaded for them. */
export async function viewOf(
  seen: Kind["seen"],
  terminal: Terminal,
  options: Pick<ViewOptions, "flags" | "file">,
): Promise<RunView> {
  if (seen !== "operations") {
    return await chooseView(terminal, { ...options, shownText: seen === "text" ? "all" : "interim" });
  }
  const { documentView }: typeof import("./document/view.ts") = await import("./document/view.ts" as string);
  return documentView(terminal, options.flags);
}

/** Whether stderr is a terminal with a live view that nothing else is shown in at the same time. */
export function wantsLiveView(
  { stdout, stderr }: Terminal,
  { quiet, jsonl = false }: { readonly quiet: boolean; readonly jsonl?: boolean },
): boolean {
  return !quiet && !(jsonl && stdout.isTerminal) && hasColor(stderr);
}

/** Lines, as they come: for a pipe, a log file, and a terminal that is to stay plain. */
export function plainView(output: Output, options: PlainLinesOptions): RunView {
  return linesView(output, new PlainLines(options));
}

/** The same for whatever makes lines of events. */
export function linesView(output: Output, lines: Pick<PlainLines, "text" | "log" | "notice">): RunView {
  return {
    event: (event) => output.write(lines.text(event)),
    log: (source, text) => output.write(lines.log(source, text)),
    notice: (text) => output.write(lines.notice(text)),
    pause: () => Promise.resolve(),
    resume: () => {},
    end: () => Promise.resolve(),
    abandon: () => {},
  };
}

/** Who hears of a run. */
export interface FollowOptions {
  readonly terminal: Terminal;
  readonly view: Pick<RunView, "event" | "end">;
  readonly flags: { readonly json?: boolean; readonly jsonl: boolean };
  /** Where the answer of a model goes as it comes. */
  readonly answer?: AnswerStream;
  /** Ended when nobody reads stdout any more. */
  readonly stop?: Interruptible;
}

/** Takes the events of a run to everybody who wants them, until the run is over. */
export async function followRun(
  events: AsyncIterable<RunEvent>,
  { terminal, view, flags, answer, stop }: FollowOptions,
): Promise<RunSummary> {
  const summary = new RunSummary({ withCalls: flags.json ?? false });
  try {
    for await (const event of events) {
      summary.add(event);
      if (flags.jsonl) await terminal.stdout.write(jsonLine(event));
      await answer?.event(event);
      await view.event(event);
      if (terminal.stdout.closed && answer !== undefined) stop?.leave();
    }
    await answer?.complete(summary.value);
  } finally {
    await answer?.end();
    await view.end();
  }
  return summary;
}

/** How the answer of a model gets to stdout while it is being written. */
interface AnswerStreamOptions {
  readonly stdout: Output;
  /** Whether a line end is written behind each answer that has none. Default: for a terminal. */
  readonly endsLines?: boolean;
  /** Before the first text of an answer: everything else leaves the screen. */
  readonly onBegin?: () => Promise<void>;
  /** After the last. */
  readonly onEnd?: () => void;
}

/** Writes text as it comes. A terminal gets nothing that it would obey. */
export interface AnswerStream {
  event(event: RunEvent): Promise<void>;
  /** No more comes of this answer. */
  end(): Promise<void>;
  /** Writes what is missing of the value: an answer that was given before a resume is not told piece by piece again. */
  complete(value: Json | undefined): Promise<void>;
}

/** A text that a piece may not end with: half a character, or half a line end, which a terminal would obey. */
const HALF = /[\ud800-\udbff\r]$/;

/** What writes answers so. */
export function answerStream(
  { stdout, onBegin, onEnd, endsLines = stdout.isTerminal }: AnswerStreamOptions,
): AnswerStream {
  let held = "";
  let written = "";
  let isOpen = false;

  async function event(event: RunEvent): Promise<void> {
    if (event.type === "text-delta" && !isInsideCall(event.step)) await write(event.text);
    else if (event.type === "step-end" && !isInsideCall(event.key)) await end();
  }

  async function end(): Promise<void> {
    await out(held);
    held = "";
    if (!isOpen) return;
    if (endsLines && !written.endsWith("\n")) await stdout.write("\n");
    isOpen = false;
    onEnd?.();
  }

  async function complete(value: Json | undefined): Promise<void> {
    await end();
    if (typeof value !== "string" || value === written || !value.startsWith(written)) return;
    await write(value.slice(written.length));
    await end();
  }

  async function write(text: string): Promise<void> {
    if (text === "") return;
    const all = held + text;
    held = HALF.test(all) ? all.slice(-1) : "";
    await out(held === "" ? all : all.slice(0, -1));
  }

  async function out(text: string): Promise<void> {
    if (text === "") return;
    if (!isOpen) {
      isOpen = true;
      await onBegin?.();
    }
    written += text;
    await stdout.write(stdout.isTerminal ? printable(text) : text);
  }

  return { event, end, complete };
}

/** The answer on stdout, in front of which a view moves out of the way. */
export function answerAround(
  { terminal: { stdout }, view }: { readonly terminal: Terminal; readonly view: RunView },
): AnswerStream {
  return answerStream({ stdout, onBegin: () => view.pause(), onEnd: () => view.resume() });
}

/** An event as one line of JSON, with its line feed. */
export function jsonLine(event: RunEvent): string {
  return `${JSON.stringify(event)}\n`;
}
