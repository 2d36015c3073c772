import { UnknownNameError } from "../prompt/find.ts";
import { wishedBudget } from "../input/budget.ts";
import { checkedInput } from "../input/checked_input.ts";
import { type OpenedPromptRun, openPromptRun, type OpenPromptRunOptions } from "../prompt/open.ts";
import {
  askedInput,
  openedInput,
  promptEvents,
  type PromptRunInput,
  promptRunJson,
  renderedPrompts,
} from "../prompt/run.ts";
import { fieldError, ServiceError, type StartRun } from "../service.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";

/** A prompt of the registry, or a tactic, that somebody wishes to run. */
export type PromptWish = Extract<StartRun, { readonly kind: "prompt" }>;

/** @throws {ServiceError} `not-found`, `invalid`; {UsageError} for values that do not fit, {PromptError}, {ModelError} */
export async function startPrompt(wish: PromptWish, at: StartPlace): Promise<ReadyRun> {
  const { path, input = {}, say, profile, model, budget } = wish;
  const opened = await openWished({ path, profile, model }, at);
  if (say !== undefined && opened.found.kind === "tactic") {
    throw fieldError(
      "say",
      `say: ${JSON.stringify(path)} is a tactic, and only a prompt can be a system prompt: leave "say" out`,
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

/** Opens what somebody wishes to ask. @throws {ServiceError} `not-found`; {UsageError}, {PromptError}, {ModelError} */
export async function openWished(
  wanted: Pick<OpenPromptRunOptions, "path" | "profile" | "model">,
  { project, grants, around }: StartPlace,
): Promise<OpenedPromptRun> {
  try {
    const options = { ...wanted, around, grants, command: "ask", as: "field" } as const;
    return await openPromptRun(project, options);
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
