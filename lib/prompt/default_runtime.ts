import type { AnyGadget } from "../core/gadget.ts";
import { PromptRegistry, type RegisterOptions } from "./prompt_registry.ts";
import type { AnyPrompt } from "./prompt_type.ts";

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
