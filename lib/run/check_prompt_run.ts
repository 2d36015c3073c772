// A prompt is looked at before its run begins: one that could not even be asked leaves no run behind, and costs nothing.

import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { defineError, PromptError } from "../core/prompt_error.ts";
import { isPrompt, partsOf } from "../prompt/prompt_parts.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import { shown } from "../schema/issue.ts";

/** What is to be asked, of which nothing is known yet. */
export interface WantedPromptRun {
  readonly prompt: unknown;
  readonly args?: unknown;
  /** Its system prompt is rendered too, where it is a prompt and is sent. */
  readonly agent?: { readonly system?: unknown };
  readonly systemArgs?: unknown;
  /** The prompt is the system prompt. */
  readonly say?: string;
  /** The same: it is the system prompt. */
  readonly history?: readonly unknown[];
}

/**
 * Sees that a prompt, and the system prompt before it, can be rendered with their values. Names that a prompt does not have are told where
 * something is missing: they are what was meant.
 *
 * @throws {PromptError} `define` for what is no prompt, and `render` with a line for everything that is wrong with the values
 */
export function checkPromptRun(
  { prompt, args = {}, agent, systemArgs = {}, say, history }: WantedPromptRun,
): void {
  if (!isPrompt(prompt)) {
    const hint = typeof prompt === "string"
      ? `: registry.get(${JSON.stringify(prompt)}) finds one by its path`
      : "";
    throw defineError(
      `runPrompt: prompt must be a prompt, as definePrompt makes it, found ${shown(prompt)}${hint}`,
    );
  }
  const system = say === undefined && history === undefined ? agent?.system : undefined;
  const problems = [
    ...valueProblems(prompt, args),
    ...(isPrompt(system) ? valueProblems(system, systemArgs) : []),
  ];
  if (problems.length > 0) throw new PromptError(problems.join("\n"), { code: "render" });
}

function valueProblems(prompt: AnyPrompt, args: unknown): readonly string[] {
  try {
    Reflect.apply(prompt.render, undefined, [args]);
    return [];
  } catch (error) {
    if (!(error instanceof PromptError)) throw error;
    return [...unknownNames(prompt, args), error.message];
  }
}

function unknownNames(prompt: AnyPrompt, args: unknown): readonly string[] {
  const { path, vars } = prompt;
  const { renderer } = partsOf(prompt);
  if (!isRecord(args) || renderer !== null && renderer.vars === undefined) return []; // any name may be one
  return Object.keys(args).filter((name) => !vars.includes(name)).map((name) => {
    const variable = `prompt ${JSON.stringify(path)} has no variable ${JSON.stringify(name)}`;
    if (vars.length === 0) return `${variable}: it has none`;
    const near = didYouMeanNames(name, vars);
    return `${variable}${near === "" ? "." : near} It has: ${vars.join(", ")}`;
  });
}
