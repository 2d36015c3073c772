import { promptIndex } from "./prompt_index.ts";
import type { PromptIndex, TrustOptions } from "./prompt_index.ts";

/** The prompts of a project and what goes with them. */
export type OpenedPrompts = Pick<PromptIndex, "registry" | "located" | "profiles" | "tactics" | "problems">;

/**
 * Finds everything that prompts.md calls by a name, for whoever is to run some of it: what cannot be run, and why, is among the problems.
 *
 * @param root real and absolute
 */
export async function openPrompts(root: string, { trustsCode }: TrustOptions): Promise<OpenedPrompts> {
  const index = await promptIndex(root, { trustsCode, isForRuns: true });
  const { registry, located, profiles, tactics, problems, notLoaded } = index;
  return { registry, located, profiles, tactics, problems: [...notLoaded, ...problems] };
}
