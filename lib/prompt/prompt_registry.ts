import { PromptError } from "../core/prompt_error.ts";
import { promptNotFound } from "./prompt_not_found.ts";
import { promptPath } from "./prompt_path.ts";
import type { AnyPrompt } from "./prompt_type.ts";

/** What happens when the path is taken already. */
export interface RegisterOptions {
  /** Default true: the new prompt takes the place of the old one. */
  readonly overwrite?: boolean;
}

/**
 * Prompts by path (prompts.md 11). Paths are compared without leading, trailing and doubled `/`.
 *
 * ```ts
 * import { definePrompt, PromptRegistry } from "orrery";
 *
 * const registry = new PromptRegistry();
 * registry.register(definePrompt({ path: "weather/bot", template: "Answer {question}" }));
 * console.log(registry.get("/weather/bot/").template, registry.keys()); // => Answer {question} [ "weather/bot" ]
 * console.log(registry.has("weather")); // => false
 * ```
 */
export class PromptRegistry {
  readonly #prompts = new Map<string, AnyPrompt>();

  /** @throws {PromptError} `registry`, when the prompt has no path, or its path is taken and `overwrite` is false. */
  register(prompt: AnyPrompt, options: RegisterOptions = {}): void {
    const { overwrite = true } = options;
    const { path } = prompt;
    if (path === "") throw problem("cannot register a prompt without a path");
    if (!overwrite && this.#prompts.has(path)) throw problem(`prompt "${path}" is already registered`);
    this.#prompts.set(path, prompt);
  }

  /**
   * The prompt of a path. Its type is the caller's word: `get<typeof task>("research/agent/task")`.
   *
   * @throws {PromptError} `registry`, with the paths that may have been meant.
   */
  get<P extends AnyPrompt = AnyPrompt>(path: string): P {
    const wanted = promptPath(path, "registry");
    const prompt = this.#prompts.get(wanted);
    if (prompt === undefined) throw problem(promptNotFound(wanted, [...this.#prompts.keys()]));
    return prompt as P; // whoever asks knows which prompt that is: nothing here could check its type
  }

  /** @throws {PromptError} `registry`, for a path with `.` or `..`. */
  has(path: string): boolean {
    return this.#prompts.has(promptPath(path, "registry"));
  }

  /** All paths, sorted by code unit. */
  keys(): string[] {
    return [...this.#prompts.keys()].sort();
  }
}

function problem(message: string): PromptError {
  return new PromptError(message, { code: "registry" });
}
