import {
  type Effort,
  type JsonObject,
  type Message,
  present,
  toJson,
  type Words,
} from "../../../core/core.ts";
import { hasContract } from "../../../run/agent/prompt_run.ts";
import type { Budget } from "../../../run/budget.ts";
import { UsageError } from "../../exit_code.ts";
import { UnknownNameError } from "./find.ts";
import { wishedBudget } from "../../input/budget.ts";
import { checkedInput } from "../../input/checked_input.ts";
import type { PromptInput } from "../../input/prompt_input.ts";
import { type OpenedPromptRun, openPromptRun, type OpenPromptRunOptions } from "./open.ts";
import {
  assertSamePrompt,
  openedInput,
  promptEvents,
  type PromptRunInput,
  promptRunInput,
  renderedPrompts,
} from "./run.ts";
import { fieldError, ServiceError, type StartRun } from "../../service.ts";
import type { BegunRun, ReadyRun, StartPlace } from "../../start/ready_run.ts";

/** What is asked, and with what. */
export interface AskedPrompt extends OpenPromptRunOptions {
  readonly command: "run" | "ask" | "chat";
  /** The prompt is the system prompt, and this is said. */
  readonly say?: Words;
  /** What was said before, in place of `say`. */
  readonly history?: readonly Message[];
  readonly given: PromptInput;
  readonly temperature?: number;
  readonly effort?: Effort;
  /** Of a record: what is put over the one that it has. */
  readonly budget: Budget;
  readonly flags?: Parameters<typeof openedInput>[1]["flags"];
  /** What a record has, which is run again: what is said here is put over it. */
  readonly recorded?: PromptRunInput;
}

/** A prompt that was opened, and what it is asked. */
export interface OpenedQuestion {
  readonly opened: OpenedPromptRun;
  readonly input: PromptRunInput;
}

/** Opens a prompt, and looks at what it is to be asked. @throws {UsageError}, {PromptError}, {ModelError}; {ServiceError} where fields say it */
export async function openQuestion(asked: AskedPrompt, at: StartPlace): Promise<OpenedQuestion> {
  const {
    path,
    say,
    history,
    profile,
    given,
    temperature,
    effort,
    budget,
    flags = {},
    recorded,
    command,
    as,
  } = asked;
  const opened = await openPromptRun(at, asked);
  if (say !== undefined && opened.found.kind === "tactic") throw noSystemPrompt(path, as);
  const values = checkedInput(given, {
    prompts: renderedPrompts(opened, { say: history === undefined ? say : "" }),
    located: opened.opened.located,
    command,
    isReplay: recorded !== undefined,
    as,
  });
  const said = { path, ...present({ say, history, profile, temperature, effort }) };
  return {
    opened,
    input: recorded === undefined
      ? { ...said, values, ...openedInput(opened, { project: at.project, flags }), budget }
      : {
        ...recorded,
        ...said,
        values: { ...recorded.values, ...values },
        budget: { ...recorded.budget, ...budget },
      },
  };
}

function noSystemPrompt(path: string, as: AskedPrompt["as"]): Error {
  const name = JSON.stringify(path);
  if (as !== "field") {
    return new UsageError(
      `${name} is a tactic, and --prompt takes a prompt: orrery run ${path} runs it`,
      "ask",
    );
  }
  const message = `say: ${name} is a tactic, and only a prompt can be a system prompt: leave "say" out`;
  return fieldError("say", message);
}

/** A prompt of the registry, or a tactic, that somebody wishes to run; or a profile, with what was said so far. */
export type PromptWish =
  & Pick<AskedPrompt, "path" | "say" | "history" | "profile">
  & Pick<StartRun, "model" | "effort" | "budget">
  & { readonly input?: JsonObject; readonly texts?: readonly string[] };

/** @throws {ServiceError} `not-found`, `invalid`; {UsageError} for values that do not fit, {PromptError}, {ModelError} */
export async function startPrompt(
  { input: values = {}, texts, budget, model, profile, ...wish }: PromptWish,
  at: StartPlace,
): Promise<ReadyRun> {
  try {
    return readyPrompt(
      await openQuestion({
        ...wish,
        model,
        profile,
        given: { values, texts: new Set(texts) },
        budget: wishedBudget(at.project, budget),
        command: "ask",
        as: "field",
      }, at),
    );
  } catch (error) {
    if (!(error instanceof UnknownNameError)) throw error;
    throw new ServiceError(error.message, { code: "not-found" });
  }
}

/** An opened prompt with what it is asked; also one that was begun, and goes on. */
export function readyPrompt({ opened, input }: OpenedQuestion): ReadyRun {
  const { path, profile } = input;
  const prompt = opened.found.kind === "prompt" ? opened.found.prompt : undefined;
  const isJson = prompt !== undefined && hasContract(prompt);
  return {
    start: { kind: "prompt", file: path || profile || "ask", input: toJson(input) },
    shows: { asItComes: prompt !== undefined && !isJson && prompt.tools.length === 0, isJson },
    events: (keeping) => promptEvents({ input, opened, keeping }),
  };
}

/** A prompt that was begun, and goes on. @throws {UsageError} when it has changed since */
export async function again(begun: BegunRun, at: StartPlace): Promise<ReadyRun> {
  return { ...readyPrompt(await sameQuestion(begun, at)), start: begun.run };
}

/** The same prompt as then, opened. @throws {UsageError} when it has changed since */
export async function sameQuestion(
  { id, run }: BegunRun,
  at: StartPlace,
  more: Pick<OpenPromptRunOptions, "isTalk"> = {},
): Promise<OpenedQuestion> {
  const input = promptRunInput(run.input);
  const { path, profile, model } = input;
  const opened = await openPromptRun(at, { path, profile, model, command: "resume", ...more });
  assertSamePrompt(opened.found, input, id);
  return { opened, input };
}
