import type { Output, Terminal } from "../host/terminal.ts";
import type { PlainLinesOptions, ShownText } from "../render/plain_lines.ts";
import { hasColor } from "../host/terminal.ts";
import type { RunView } from "./run_view.ts";
import { PlainLines } from "../render/plain_lines.ts";

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

/** The live view on a terminal that wants one, else lines; also lines where the terminal shows something else at the same time. */
export async function chooseView(
  terminal: Terminal,
  { flags, file, isTyped = false, shownText = "all" }: ViewOptions,
): Promise<RunView> {
  if (!isTyped && wantsLiveView(terminal, flags)) {
    const { liveScreen }: typeof import("./live_screen.ts") = await import("./live_screen.ts" as string);
    return liveScreen(terminal, { file, shownText });
  }
  return plainView(terminal.stderr, { file, shownText, quiet: flags.quiet });
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
