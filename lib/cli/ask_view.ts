import type { Terminal } from "../host/terminal.ts";
import type { DialogInput } from "../service/start/dialog.ts";
import type { DeliverOptions } from "./end_run.ts";
import { isStreamed } from "./run_ask.ts";
import { chooseView, type RunView } from "./run_view.ts";

/** The view of a question: without the text of the answer where that goes to stdout as it comes. */
export async function askView(
  terminal: Terminal,
  { input, flags }: {
    readonly input: Pick<DialogInput, "tools" | "schema">;
    readonly flags: DeliverOptions["flags"];
  },
): Promise<RunView> {
  const shownText = isStreamed(input, flags) ? "none" : "interim";
  return await chooseView(terminal, { flags, file: "ask", shownText });
}
