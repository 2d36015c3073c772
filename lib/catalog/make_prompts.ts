import type { Problem } from "../core/prompt_error.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { promptNotFound } from "../prompt/prompt_not_found.ts";
import type { PromptRegistry } from "../prompt/prompt_registry.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import { lineOfExport } from "./module_prompts.ts";
import type { ProjectPlace } from "./project_file.ts";
import type { MadePrompt, PromptClaim } from "./prompt_claim.ts";

/** A prompt, and what its file says of it. */
export interface LocatedPrompt {
  readonly prompt: AnyPrompt;
  readonly claim: PromptClaim;
}

/** Makes the prompts that files define: of two with one key the first, and what is extended before what extends it. */
export async function makePrompts(
  claims: readonly PromptClaim[],
  options: Pick<ProjectPlace, "files"> & { readonly known: PromptRegistry },
): Promise<{ readonly prompts: readonly LocatedPrompt[]; readonly problems: readonly Problem[] }> {
  const byKey = new Map<string, PromptClaim>();
  const problems: Problem[] = [];
  for (const claim of claims) {
    const first = byKey.get(claim.key);
    if (first === undefined) byKey.set(claim.key, claim);
    else if (first.value !== claim.value) problems.push(await taken(claim, first, options));
  }
  const making = new Making(byKey, options.known);
  const prompts: LocatedPrompt[] = [];
  for (const claim of byKey.values()) {
    const prompt = await making.make(claim);
    if (prompt !== undefined) prompts.push({ prompt, claim });
  }
  return { prompts, problems: [...problems, ...making.problems] };
}

async function taken(
  { key, source, exported }: PromptClaim,
  first: PromptClaim,
  { files }: Pick<ProjectPlace, "files">,
): Promise<Problem> {
  // A module that was just loaded can be read; where not, the file alone says enough.
  const text = exported === undefined ? "" : await files.readText(source.path).catch(() => "");
  const line = exported === undefined ? 1 : lineOfExport(text, exported);
  return { file: source.file, line, message: `prompt "${key}" is already defined in ${first.source.file}` };
}

/** What was made of a value before, by that value. */
const madeBefore = new WeakMap<
  object,
  { readonly prompt: AnyPrompt; readonly base: AnyPrompt | undefined }
>();

/** Makes a prompt, unless the same one was made before: a file that is as it was when it was read gives the same value again. */
async function makeOnce(claim: PromptClaim, base: AnyPrompt | undefined): Promise<MadePrompt> {
  const before = claim.isSteady ? madeBefore.get(claim.value) : undefined;
  if (before !== undefined && before.base === base && before.prompt.path === claim.key) return before;
  const made = await claim.make(base);
  if (claim.isSteady && "prompt" in made) madeBefore.set(claim.value, { prompt: made.prompt, base });
  return made;
}

class Making {
  readonly problems: Problem[] = [];
  readonly #claims: ReadonlyMap<string, PromptClaim>;
  readonly #known: PromptRegistry;
  /** By key; undefined is one that cannot be made. */
  readonly #made = new Map<string, AnyPrompt | undefined>();

  constructor(claims: ReadonlyMap<string, PromptClaim>, known: PromptRegistry) {
    this.#claims = claims;
    this.#known = known;
  }

  /** Makes a prompt and all that it extends; undefined when one of them cannot be made. */
  async make(claim: PromptClaim): Promise<AnyPrompt | undefined> {
    for (const each of this.#lineage(claim).toReversed()) {
      if (!this.#made.has(each.key)) this.#made.set(each.key, await this.#one(each));
    }
    return this.#made.get(claim.key);
  }

  /** The claim, what it extends, and so on, up to what is made already or comes again. */
  #lineage(claim: PromptClaim): readonly PromptClaim[] {
    const lineage = new Set<PromptClaim>();
    for (
      let next: PromptClaim | undefined = claim;
      next !== undefined && !lineage.has(next) && !this.#made.has(next.key);
      next = next.base && this.#claims.get(next.base.key)
    ) lineage.add(next);
    return [...lineage];
  }

  async #one(claim: PromptClaim): Promise<AnyPrompt | undefined> {
    const { base } = claim;
    const found = base === undefined ? undefined : this.#baseOf(claim, base.key);
    if (typeof found === "string") {
      return this.#refuse(claim, [{ line: base?.line ?? 1, message: `extends: ${found}` }]);
    }
    const made = await makeOnce(claim, found);
    return "prompt" in made ? made.prompt : this.#refuse(claim, made.problems);
  }

  /** The prompt that a claim extends; text says why there is none. */
  #baseOf(claim: PromptClaim, key: string): AnyPrompt | string {
    const base = this.#claims.get(key);
    if (base === undefined) {
      if (this.#known.has(key)) return this.#known.get(key);
      const others = [...this.#claims.keys(), ...this.#known.keys()].filter((each) => each !== claim.key);
      return promptNotFound(key, others);
    }
    const circle = this.#circleOf(claim);
    if (circle !== undefined) return `the prompts extend each other in a circle: ${circle.join(" -> ")}`;
    return this.#made.get(key) ?? `prompt "${key}" cannot be used: see the problems of ${base.source.file}`;
  }

  /** The keys from a claim back to itself. */
  #circleOf(claim: PromptClaim): readonly string[] | undefined {
    const keys = new Set([claim.key]);
    let next = claim.base?.key;
    while (next !== undefined && !keys.has(next)) {
      keys.add(next);
      next = this.#claims.get(next)?.base?.key;
    }
    return next === claim.key ? [...keys, claim.key] : undefined;
  }

  #refuse({ source }: PromptClaim, problems: readonly LineProblem[]): undefined {
    this.problems.push(...problems.map((problem) => ({ file: source.file, ...problem })));
  }
}
