import {
  type AnyGadget,
  didYouMeanNames,
  nearestNames,
  PromptError,
  type PromptErrorCode,
} from "../core/core.ts";
import type { AnyPrompt } from "./prompt.ts";

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

const MOST_LISTED = 20;
const NONE: ReadonlyMap<string, string> = new Map();

/**
 * `prompt "P" not found`, and what may have been meant, or what there is (prompts.md 11).
 *
 * @param broken those that are there and cannot be used, each with the place that says why: `prompts/a.prompt.md:4`
 */
export function promptNotFound(path: string, known: readonly string[], broken = NONE): string {
  return `prompt "${path}" not found${whatThereIs(path, known, broken)}`;
}

function whatThereIs(path: string, known: readonly string[], broken: ReadonlyMap<string, string>): string {
  const near = didYouMeanPrompts(path, known, broken);
  if (near !== "") return near;
  if (known.length === 0) return broken.size === 0 ? ". The registry is empty" : NONE_USABLE;
  const listed = [...known].sort().slice(0, MOST_LISTED);
  const more = known.length > MOST_LISTED ? ` and ${known.length - MOST_LISTED} more` : "";
  return `. Registered: ${listed.join(", ")}${more}`;
}

const NONE_USABLE = ". None of the prompts there are can be used";

/** As `didYouMeanNames`; one that cannot be used is named where none that can is nearer. */
function didYouMeanPrompts(
  path: string,
  known: readonly string[],
  broken: ReadonlyMap<string, string>,
): string {
  const near = didYouMeanNames(path, known);
  if (broken.size === 0) return near;
  const [nearest = ""] = nearestNames(path, [...known, ...broken.keys()]);
  const place = known.includes(nearest) ? undefined : broken.get(nearest);
  if (place === undefined) return near;
  const first = near === "" ? ". Did you mean " : `${near.slice(0, -1)}, or `;
  return `${first}"${nearest}", which cannot be used (see ${place})?`;
}

/**
 * The path of a prompt in its one form: without leading, trailing and doubled `/` (prompts.md 1).
 *
 * @param code of the error; default `define`
 * @throws {PromptError} when a segment is `.` or `..`.
 */
export function promptPath(path: string, code: PromptErrorCode = "define"): string {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.some((segment) => segment === "." || segment === "..")) {
    throw new PromptError(`bad prompt path ${JSON.stringify(path)}: "." and ".." are not allowed`, { code });
  }
  return segments.join("/");
}

/** What a script shares with itself. */
export interface Runtime {
  readonly prompts: PromptRegistry;
  /** The gadgets that prompts may name. */
  readonly gadgets: ReadonlyMap<string, AnyGadget>;
}

let runtime: Runtime | undefined;

/**
 * The one runtime of this process, meant for scripts: nothing is in it but what `registerPrompt` puts there (prompts.md 11).
 *
 * ```ts
 * import { definePrompt, defaultRuntime, registerPrompt } from "orrery";
 *
 * registerPrompt(definePrompt({ path: "greeter", template: "Hello {name}" }));
 * console.log(defaultRuntime().prompts.get("greeter")({ name: "Ada" })); // => Hello Ada
 * ```
 */
export function defaultRuntime(): Runtime {
  runtime ??= Object.freeze({ prompts: new PromptRegistry(), gadgets: new Map<string, AnyGadget>() });
  return runtime;
}

/**
 * Registers a prompt with the default runtime, or with a registry of your own (prompts.md 11).
 *
 * ```ts
 * import { definePrompt, PromptRegistry, registerPrompt } from "orrery";
 *
 * const registry = new PromptRegistry();
 * registerPrompt(definePrompt({ path: "a", template: "1" }), { registry });
 * registerPrompt(definePrompt({ path: "a", template: "2" }), { registry }); // takes the place of the first
 * console.log(registry.get("a").template); // => 2
 * ```
 *
 * @throws {PromptError} `registry`, when the prompt has no path, or its path is taken and `overwrite` is false.
 */
export function registerPrompt(
  prompt: AnyPrompt,
  options: RegisterOptions & { readonly registry?: PromptRegistry } = {},
): void {
  const { registry = defaultRuntime().prompts, ...how } = options;
  registry.register(prompt, how);
}
