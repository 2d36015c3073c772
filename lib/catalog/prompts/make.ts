import { FILE_START, type LineProblem } from "../../parse/yaml/front_matter.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import type { PromptFileProblem } from "../../prompt/prompt_trouble.ts";
import { promptNotFound, type PromptRegistry } from "../../prompt/registry.ts";
import { inOrder, type ProjectPlace } from "../project_file.ts";
import { lineOfExport, type PromptClaim } from "./claim.ts";

/** A prompt, and what its file says of it. */
export interface LocatedPrompt {
  readonly prompt: AnyPrompt;
  readonly claim: PromptClaim;
}

/** Makes the prompts that files define: of two with one key the first, and what is extended before what extends it. */
export async function makePrompts(
  claims: readonly PromptClaim[],
  options: Pick<ProjectPlace, "files"> & { readonly known: PromptRegistry },
): Promise<{ readonly prompts: readonly LocatedPrompt[]; readonly problems: readonly PromptFileProblem[] }> {
  const byKey = new Map<string, PromptClaim>();
  const unsure = claims.filter(({ isUnsure }) => isUnsure);
  const second: PromptClaim[] = [];
  const problems: PromptFileProblem[] = [];
  for (const claim of claims) {
    if (claim.isUnsure) continue;
    const first = byKey.get(claim.key);
    if (first === undefined) byKey.set(claim.key, claim);
    else if (first.value !== claim.value) {
      problems.push(await taken(claim, first, options));
      second.push(claim);
    }
  }
  const making = new Making(byKey, { unsure, known: options.known });
  for (const claim of unsure) await making.refuse(claim);
  for (const claim of second) await making.refuseSecond(claim);
  const prompts: LocatedPrompt[] = [];
  for (const claim of byKey.values()) {
    const prompt = await making.make(claim);
    if (prompt !== undefined) prompts.push({ prompt, claim });
  }
  await making.refuseBaseless();
  return { prompts, problems: [...problems, ...making.problems] };
}

async function taken(
  { key, source, exported }: PromptClaim,
  first: PromptClaim,
  { files }: Pick<ProjectPlace, "files">,
): Promise<PromptFileProblem> {
  // A module that was just loaded can be read; where not, the file alone says enough.
  const text = exported === undefined ? "" : await files.readText(source.path).catch(() => "");
  const place = exported === undefined ? FILE_START : { line: lineOfExport(text, exported) };
  return {
    file: source.file,
    key,
    ...place,
    message: `prompt "${key}" is already defined in ${first.source.file}`,
  };
}

class Making {
  readonly problems: PromptFileProblem[] = [];
  readonly #claims: ReadonlyMap<string, PromptClaim>;
  /** By the key that each would have without a name. */
  readonly #unsure: ReadonlyMap<string, PromptClaim>;
  readonly #known: PromptRegistry;
  /** By key; undefined is one that cannot be made. */
  readonly #made = new Map<string, AnyPrompt | undefined>();
  /** What they extend is nowhere. */
  readonly #baseless: PromptClaim[] = [];

  constructor(
    claims: ReadonlyMap<string, PromptClaim>,
    { unsure, known }: { readonly unsure: readonly PromptClaim[]; readonly known: PromptRegistry },
  ) {
    this.#claims = claims;
    this.#unsure = new Map(unsure.map((claim) => [claim.key, claim]));
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

  /** Tells all that is wrong with a file whose prompt cannot be made, whatever it is. */
  async refuse(claim: PromptClaim): Promise<void> {
    const found = this.#baseOf(claim);
    if (found === "missing") this.#baseless.push(claim);
    else await this.#refuse(claim, typeof found === "object" ? found.why : undefined);
  }

  /** Tells what else is wrong with a file whose key is another's. */
  async refuseSecond(claim: PromptClaim): Promise<void> {
    await this.#refuse(claim, undefined);
  }

  /** Only when all the others are made is it known which of them may have been meant. */
  async refuseBaseless(): Promise<void> {
    if (this.#baseless.length === 0) return;
    const usable = [...this.#made].flatMap(([key, prompt]) => prompt === undefined ? [] : [key]);
    const known = [...usable, ...this.#known.keys()];
    const lines = firstLines(this.problems);
    const broken = new Map(
      [...this.#unsure, ...this.#claims].filter(([key]) => this.#made.get(key) === undefined)
        .map(([key, { source: { file }, base }]) => [key, `${file}:${lines.get(file) ?? base?.line ?? 1}`]),
    );
    for (const claim of this.#baseless) {
      const others = new Map([...broken].filter(([key]) => key !== claim.key));
      await this.#refuse(claim, promptNotFound(claim.base?.key ?? "", known, others));
    }
  }

  async #one(claim: PromptClaim): Promise<AnyPrompt | undefined> {
    const base = this.#baseOf(claim);
    if (base === "missing") {
      this.#baseless.push(claim);
      return undefined;
    }
    if (typeof base === "object") return await this.#refuse(claim, base.why);
    const made = await claim.make(base);
    return "prompt" in made ? made.prompt : this.#tell(claim, made.problems);
  }

  /** @param noBase why it cannot extend what it says it does */
  async #refuse(claim: PromptClaim, noBase: string | undefined): Promise<undefined> {
    const { line, column } = claim.base ?? FILE_START;
    const ofBase = noBase === undefined ? [] : [{ line, column, message: `extends: ${noBase}` }];
    const own = await claim.problems?.({ isForeign: this.#isForeign(claim) }) ?? [];
    return this.#tell(claim, inOrder([...ofBase, ...own]));
  }

  /** Whether something that a claim extends has a grammar of its own. */
  #isForeign(claim: PromptClaim): boolean {
    const seen = new Set<string>();
    let key = claim.base?.key;
    while (key !== undefined && !seen.has(key)) {
      seen.add(key);
      const next: PromptClaim | undefined = this.#claims.get(key) ?? this.#unsure.get(key);
      if (next?.source.kind === "dotprompt") return true;
      key = next?.base?.key;
    }
    return false;
  }

  /** The prompt that a claim extends, if it does: one that is there but cannot be used, or one that is nowhere. */
  #baseOf(claim: PromptClaim): AnyPrompt | undefined | { readonly why: string } | "missing" {
    if (claim.base === undefined) return undefined;
    const { key } = claim.base;
    const base = this.#claims.get(key);
    if (base === undefined) {
      if (this.#known.has(key)) return this.#known.get(key);
      const unsure = this.#unsure.get(key);
      return unsure === undefined || unsure === claim ? "missing" : { why: unusable(key, unsure) };
    }
    const circle = this.#circleOf(claim);
    if (circle !== undefined) {
      return { why: `the prompts extend each other in a circle: ${circle.join(" -> ")}` };
    }
    return this.#made.get(key) ?? { why: unusable(key, base) };
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

  #tell({ source, key, isUnsure }: PromptClaim, problems: readonly LineProblem[]): undefined {
    const of = { file: source.file, key, isUnsure };
    for (const problem of problems) this.problems.push({ ...of, ...problem });
  }
}

/** Where the first problem of each file is. */
function firstLines(problems: readonly PromptFileProblem[]): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const { file, line } of problems) lines.set(file, Math.min(line, lines.get(file) ?? line));
  return lines;
}

function unusable(key: string, { source }: PromptClaim): string {
  return `prompt "${key}" cannot be used: see the problems of ${source.file}`;
}
