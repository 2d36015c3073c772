import { openPromptRun } from "./open_prompt_run.ts";
import type { OpenedPromptRun, OpenPromptRunOptions } from "./open_prompt_run.ts";
import { checkedInput } from "./checked_input.ts";
import { UnknownNameError } from "./find_prompt.ts";
import { askedInput, openedInput, promptEvents, renderedPrompts } from "./prompt_run.ts";
import { promptRunJson } from "./prompt_run_input.ts";
import type { PromptRunInput } from "./prompt_run_input.ts";
import { stoppedError } from "./ready_run.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { wishedBudget } from "./wished_budget.ts";
import { ServiceError } from "./service.ts";
import type { StartRun } from "./service.ts";

/** A prompt of the registry, or a tactic, that somebody wishes to run. */
export type PromptWish = Extract<StartRun, { readonly kind: "prompt" }>;

/** @throws {ServiceError} `not-found`, `invalid`, `stopping`; {UsageError} for values that do not fit, {PromptError}, {ModelError} */
export async function startPrompt(wish: PromptWish, at: StartPlace): Promise<ReadyRun> {
  const { path, input = {}, say, profile, model, budget } = wish;
  const opened = await openWished({ path, profile, model }, at);
  if (say !== undefined && opened.found.kind === "tactic") {
    throw new ServiceError(
      `say: ${JSON.stringify(path)} is a tactic, and only a prompt can be a system prompt: leave "say" out`,
      { code: "invalid", details: { field: "say" } },
    );
  }
  const values = checkedInput({ values: input, texts: new Set() }, {
    prompts: renderedPrompts(opened, { say }),
    located: opened.opened.located,
    command: "run",
    as: "field",
  });
  return readyPrompt(opened, {
    ...at,
    input: {
      ...askedInput({ path, say, profile, values, temperature: undefined }),
      ...openedInput(opened, { project: at.project, flags: {} }),
      budget: wishedBudget(at.project, budget),
    },
  });
}

/** Opens what somebody wishes to ask. @throws {ServiceError} `not-found`, `stopping`; {UsageError}, {PromptError}, {ModelError} */
export async function openWished(
  wanted: Pick<OpenPromptRunOptions, "path" | "profile" | "model">,
  { project, grants, around }: StartPlace,
): Promise<OpenedPromptRun> {
  try {
    const options = { ...wanted, around, grants, command: "ask", as: "field" } as const;
    const opened = await openPromptRun(project, options);
    if (opened === undefined) throw stoppedError();
    return opened;
  } catch (error) {
    if (!(error instanceof UnknownNameError)) throw error;
    throw new ServiceError(error.message, { code: "not-found" });
  }
}

/** An opened prompt with what it is asked; also one that was begun, and goes on. */
export function readyPrompt(
  opened: OpenedPromptRun,
  { input, project, grants, around: { opening: { signal = new AbortController().signal } } }: StartPlace & {
    readonly input: PromptRunInput;
  },
): ReadyRun {
  const { path, profile } = input;
  const prompts = () => ({ project, grants, accepted: opened.accepted });
  return {
    start: { kind: "prompt", file: path || profile || "ask", input: promptRunJson(input) },
    events: (options) => promptEvents({ input, opened, kept: { options }, prompts, signal }),
  };
}
