import { hasContract } from "../run/agent_run.ts";
import { agentTalk } from "../run/agent_talk.ts";
import { asFlagsSay, type PromptRunMeans, promptRunOptions } from "../service/prompt/run.ts";
import { stoppableModel } from "../service/start/stoppable.ts";
import type { Talk } from "./hold_talk.ts";
import type { ChatWork } from "./run_chat.ts";

/** A chat with a profile of `orrery.yaml`. */
export function profileTalk(
  means: Omit<PromptRunMeans, "signal" | "turn"> & Pick<ChatWork, "kept">,
  { stop }: Talk,
): Pick<ChatWork, "events" | "answers" | "kept"> {
  const { input, opened: { found, agent, model }, kept } = means;
  if (found.kind !== "prompt" || model === undefined) throw new Error("an agent has a prompt and a model");
  const turn = () => stop.turn;
  const options = {
    ...promptRunOptions({ ...means, signal: stop.signal, turn }),
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
