import type { Terminal } from "../host/terminal.ts";
import type { ShownText } from "../render/plain_lines.ts";
import { hasColor } from "./looks.ts";
import { plainView } from "./plain_view.ts";
import type { RunView } from "./run_view.ts";

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
  const isShared = (flags.jsonl && terminal.stdout.isTerminal) || isTyped;
  if (!flags.quiet && !isShared && hasColor(terminal.stderr)) {
    const { liveScreen }: typeof import("./live_screen.ts") = await import("./live_screen.ts" as string);
    return liveScreen(terminal, { file, shownText });
  }
  return plainView(terminal.stderr, { file, shownText, quiet: flags.quiet });
}
