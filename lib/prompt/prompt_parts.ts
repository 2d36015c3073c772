import type { DefinedGadget, Schema } from "../core/gadget.ts";
import type { Addons } from "./addons.ts";
import type { Handler } from "./handler.ts";
import type { HandlerTexts } from "./handler_texts.ts";
import type { Mcp } from "./mcp_servers.ts";
import type { Parser } from "./parser.ts";
import { promptProblem } from "./prompt_problem.ts";
import type { PromptText } from "./prompt_text.ts";
import type { AnyPrompt } from "./prompt_type.ts";
import type { Renderer } from "./renderer.ts";

/** What a prompt is made of: checked, complete and frozen. */
export interface PromptParts {
  readonly path: string;
  readonly rootPath: string;
  readonly template: string;
  /** The template, read. */
  readonly text: PromptText;
  readonly renderer: Renderer | null;
  readonly parser: Parser<unknown> | null;
  readonly format: Schema | null;
  readonly tools: readonly (DefinedGadget | string)[];
  readonly mcp: readonly Mcp[];
  readonly addons: Addons;
  /** As it was given. */
  readonly handler: Handler;
  /** What holds for each event, default texts included. */
  readonly handlers: HandlerTexts;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const partsByPrompt = new WeakMap<AnyPrompt, PromptParts>();

/** Whether a value is a prompt. */
export function isPrompt(value: unknown): value is AnyPrompt {
  return typeof value === "function" && "kind" in value && value.kind === "prompt";
}

/** Keeps what a prompt is made of. */
export function keepParts(prompt: AnyPrompt, parts: PromptParts): void {
  partsByPrompt.set(prompt, parts);
}

/**
 * What a prompt is made of.
 *
 * @throws {PromptError} `define`, for a prompt that another copy of Orrery defined: only that one could render it.
 */
export function partsOf(prompt: AnyPrompt): PromptParts {
  const parts = partsByPrompt.get(prompt);
  if (parts !== undefined) return parts;
  throw promptProblem(
    prompt.path,
    `it was defined by another copy of Orrery: import "orrery" from one place`,
  );
}
