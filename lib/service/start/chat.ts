// A chat with a model, or with a profile of `orrery.yaml`: one run, whose messages come as they are said.
import type { RunEvent } from "../../core/core.ts";
import { agentTalk, hasContract } from "../../run/agent/prompt_run.ts";
import { chat, type DialogSource } from "../../run/dialog/dialog.ts";
import type { KeptRun } from "../keep.ts";
import { type DialogInput, dialogOptions, type OpenedDialog } from "../kinds/dialog/start.ts";
import { asFlagsSay, promptRunOptions } from "../kinds/prompt/run.ts";
import type { OpenedQuestion } from "../kinds/prompt/start.ts";
import { stoppableModel } from "./stoppable.ts";

/** A chat that can begin, or go on. */
export interface OpenedChat {
  readonly kept: KeptRun;
  /** What may stand before an answer that is one. */
  readonly answers: { readonly hasTools: boolean; readonly hasContract: boolean };
  /** Talks with whoever answers. */
  events(source: DialogSource): AsyncIterable<RunEvent>;
}

/** What stops the answer that is being written. */
interface Stopped {
  readonly stop: { readonly turn: AbortSignal };
}

/** A conversation with a model. */
export function modelTalk(
  input: DialogInput,
  { kept, ...dialog }: OpenedDialog & Pick<OpenedChat, "kept">,
  { stop }: Stopped,
): OpenedChat {
  const options = dialogOptions(input, { ...dialog, keeping: kept.options, turn: () => stop.turn });
  return {
    kept,
    answers: { hasTools: input.tools.length > 0, hasContract: false },
    events: (source) => chat(source, options),
  };
}

/** A chat with a profile of `orrery.yaml`. */
export function profileTalk(
  { opened, input, kept }: OpenedQuestion & Pick<OpenedChat, "kept">,
  { stop }: Stopped,
): OpenedChat {
  const { found, agent, model } = opened;
  if (found.kind !== "prompt" || model === undefined) throw new Error("an agent has a prompt and a model");
  const turn = () => stop.turn;
  const options = {
    ...promptRunOptions({ opened, input, keeping: kept.options, turn }),
    agent: asFlagsSay(agent, input),
    args: input.values,
    model: stoppableModel(model, turn, { whenStopped: "fails" }),
  };
  return {
    kept,
    answers: { hasTools: found.prompt.tools.length > 0, hasContract: hasContract(found.prompt) },
    events: (source) => agentTalk(source, options),
  };
}
