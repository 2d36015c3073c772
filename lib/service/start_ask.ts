import { checkedInput } from "./checked_input.ts";
import { openedInput, renderedPrompts } from "./prompt_run.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { wishedBudget } from "./wished_budget.ts";
import { ServiceError } from "./service.ts";
import type { StartRun } from "./service.ts";
import { openWished, readyPrompt } from "./start_prompt.ts";

/** A profile of `orrery.yaml`, with what was said so far. */
export type AskWish = Extract<StartRun, { readonly kind: "ask" }>;

/**
 * The profile answers the last of the messages, with the tools of its system prompt. It is kept as a run of a prompt.
 *
 * @throws {ServiceError} `not-found`, `invalid` where the last message is not the user's, `stopping`; {UsageError}, {PromptError}, {ModelError}
 */
export async function startAsk(wish: AskWish, at: StartPlace): Promise<ReadyRun> {
  const { messages, profile, model, budget } = wish;
  assertAsked(wish);
  const opened = await openWished({ path: "", profile, model }, at);
  const values = checkedInput({ values: {}, texts: new Set() }, {
    prompts: renderedPrompts(opened, { say: "" }),
    located: opened.opened.located,
    command: "ask",
    as: "field",
  });
  return readyPrompt(opened, {
    ...at,
    input: {
      path: "",
      profile,
      history: messages,
      values,
      ...openedInput(opened, { project: at.project, flags: {} }),
      budget: wishedBudget(at.project, budget),
    },
  });
}

/** @throws {ServiceError} `invalid` */
function assertAsked({ messages }: AskWish): void {
  const last = messages.at(-1);
  if (last?.role === "user") return;
  const found = last === undefined ? "no message" : `one of the role "${last.role}"`;
  throw new ServiceError(`messages: the last one has to be the user's, found ${found}`, {
    code: "invalid",
    details: { field: "messages" },
  });
}
