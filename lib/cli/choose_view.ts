import type { Terminal } from "../host/terminal.ts";
import type { CallSource } from "./call_source.ts";
import { hasColor } from "./looks.ts";
import { plainView } from "./plain_view.ts";
import type { RunView } from "./run_view.ts";

/** The live view on a terminal that wants one, else lines; also lines where the terminal shows something else at the same time. */
export async function chooseView(
  terminal: Terminal,
  { flags, source }: {
    readonly flags: { readonly quiet: boolean; readonly jsonl: boolean };
    readonly source: CallSource;
  },
): Promise<RunView> {
  const isShared = (flags.jsonl && terminal.stdout.isTerminal) ||
    (source.isStdin && terminal.stdinIsTerminal);
  if (!flags.quiet && !isShared && hasColor(terminal.stderr)) {
    const { liveScreen }: typeof import("./live_screen.ts") = await import("./live_screen.ts" as string);
    return liveScreen(terminal, { file: source.name });
  }
  return plainView(terminal.stderr, { file: source.name, quiet: flags.quiet });
}
