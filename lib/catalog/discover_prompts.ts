import type { Problem } from "../core/prompt_error.ts";
import type { PromptFileProblem } from "../prompt/prompt_file_problem.ts";
import { PromptRegistry } from "../prompt/prompt_registry.ts";
import { type LocatedPrompt, makePrompts } from "./make_prompts.ts";
import { projectSources, type SourcesOptions } from "./project_sources.ts";
import { type ReadOptions, readSources } from "./read_sources.ts";
import type { SourceFile } from "./source_files.ts";
import { sortedProblems, throwProblems } from "./throw_problems.ts";

/** A folder of prompts: its path from the project's root, and what the names of its prompts begin with. */
export type PromptFolder = string | { readonly path: string; readonly prefix?: string };

/** What is looked for, and how. */
export interface DiscoverOptions extends ReadOptions, Omit<SourcesOptions, "folders"> {
  /** In place of the folders of `orrery.yaml`; none scans nothing. */
  readonly folders?: readonly PromptFolder[];
  /** Default true: any problem is thrown. */
  readonly strict?: boolean;
  /** Where the prompts go. Default: a new one. */
  readonly registry?: PromptRegistry;
}

/** The prompts that were found, and what was wrong with others: by file, then by place. */
export interface Discovery {
  readonly registry: PromptRegistry;
  readonly problems: readonly Problem[];
}

/** What was found, with the places where it is defined. */
export interface LocatedDiscovery extends Discovery {
  readonly problems: readonly PromptFileProblem[];
  /** By path, sorted. */
  readonly located: ReadonlyMap<string, LocatedPrompt>;
  /** Every file that may define some. */
  readonly sources: readonly SourceFile[];
}

/**
 * Finds the prompts of a project and registers each under its path (prompts.md 12).
 *
 * @throws {PromptError} `discover`, with all problems, when there are any and `strict` is not false; nothing is registered then
 */
export async function discoverPrompts(options: DiscoverOptions): Promise<LocatedDiscovery> {
  const { strict = true, registry = new PromptRegistry() } = options;
  const sources = await projectSources("prompts", options);
  const read = await readSources(sources.files, options);
  const made = await makePrompts(read.claims, { ...options, known: registry });
  const ofFolders = sources.problems.map((problem) => ({ ...problem, key: null }));
  const problems = sortedProblems<PromptFileProblem>([...ofFolders, ...read.problems, ...made.problems]);
  if (strict) throwProblems(problems, "discover");
  for (const { prompt } of made.prompts) registry.register(prompt);
  const sorted = made.prompts.toSorted((a, b) => a.prompt.path < b.prompt.path ? -1 : 1);
  return {
    registry,
    located: new Map(sorted.map((each) => [each.prompt.path, each])),
    sources: sources.files,
    problems,
  };
}
