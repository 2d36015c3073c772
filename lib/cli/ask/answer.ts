import type { Terminal } from "../../host/terminal/terminal.ts";
import type { KeptRun } from "../../project/open_run.ts";
import { ask } from "../../run/dialog/dialog.ts";
import { type DialogInput, type DialogMeans, dialogOptions } from "../../service/start/dialog.ts";
import type { Interruptible } from "../run/around.ts";
import { type DeliverOptions, endRun, toItsEnd } from "../run/end.ts";
import { answerAround, chooseView, followRun, type RunView } from "../run/view.ts";

/** A question with everything it needs to be asked. */
export interface AskWork extends Omit<DialogMeans, "signal" | "kept"> {
  readonly kept: KeptRun | undefined;
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly input: DialogInput;
}

/** Whether the answer goes to stdout as it comes: it can only be the last one, and nothing else goes there. */
function isStreamed(
  { tools, schema }: Pick<DialogInput, "tools" | "schema">,
  { json, jsonl, output }: DeliverOptions["flags"],
): boolean {
  return tools.length === 0 && schema === undefined && !json && !jsonl && output === undefined;
}

/** Asks, and delivers the answer; gives the exit code. */
export async function performAsk(work: AskWork): Promise<number> {
  const { stop, input, flags } = work;
  const answer = isStreamed(input, flags) ? answerAround(work) : undefined;
  const events = ask(input.text ?? "", dialogOptions(input, { ...work, signal: stop.signal }));
  const summary = await toItsEnd(work, () => followRun(events, { ...work, answer }));
  return await endRun(summary, {
    ...work,
    isShown: answer !== undefined,
    isJson: input.schema !== undefined,
  });
}

/** The view of a question: without the text of the answer where that goes to stdout as it comes. */
export function askView(
  terminal: Terminal,
  { input, flags }: {
    readonly input: Pick<DialogInput, "tools" | "schema">;
    readonly flags: DeliverOptions["flags"];
  },
): RunView {
  const shownText = isStreamed(input, flags) ? "none" : "interim";
  return chooseView(terminal, { flags, file: "ask", shownText });
}
