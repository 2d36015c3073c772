import type { Terminal } from "../host/terminal.ts";
import type { KeptRun } from "../project/open_run.ts";
import { hasContract } from "../run/agent_run.ts";
import type { Replay } from "../run/replay.ts";
import type { PromptCallsOptions } from "../service/prompt/containers.ts";
import type { FoundPrompt } from "../service/prompt/find.ts";
import type { OpenedPromptRun } from "../service/prompt/open.ts";
import { promptEvents, type PromptRunInput } from "../service/prompt/run.ts";
import { AnswerStream } from "./answer_stream.ts";
import type { Interruptible } from "./around_run.ts";
import { type DeliverOptions, endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import { followRun, type RunView } from "./run_view.ts";

/** A prompt or a tactic that is about to run. */
export interface PromptWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly input: PromptRunInput;
  readonly opened: OpenedPromptRun;
  readonly kept: KeptRun | undefined;
  readonly replay?: Replay;
  /** Where the prompts are that its calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
}

/** Whether the answer goes to stdout as it comes: it is any text, and nothing can come before it. */
export function isStreamedPrompt(
  found: FoundPrompt,
  { json, jsonl, output }: DeliverOptions["flags"],
): boolean {
  if (found.kind === "tactic" || json || jsonl || output !== undefined) return false;
  return !hasContract(found.prompt) && found.prompt.tools.length === 0;
}

/** Runs it and delivers the value; gives the exit code. */
export async function performPrompt(work: PromptWork): Promise<number> {
  const { terminal, view, stop, kept, flags, opened: { found } } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const answer = isStreamedPrompt(found, flags)
    ? new AnswerStream({ stdout: terminal.stdout, onBegin: () => view.pause(), onEnd: () => view.resume() })
    : undefined;
  const events = promptEvents({ ...work, signal: stop.signal });
  const summary = await namingRecord(kept, {
    terminal,
    work: () => followRun(events, { terminal, view, flags, answer, stop }),
  });
  const isJson = found.kind === "prompt" && hasContract(found.prompt);
  return await endRun(summary, { ...work, isShown: answer !== undefined, isJson });
}
