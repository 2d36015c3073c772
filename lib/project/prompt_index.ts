import type { AgentProfile } from "../catalog/agent_profile.ts";
import { loadAgents, type LoadAgentsOptions } from "../catalog/load_agents.ts";
import { discoverPrompts } from "../catalog/prompts/discover.ts";
import type { LocatedPrompt } from "../catalog/prompts/make.ts";
import { discoverTactics, type FoundTactic } from "../catalog/prompts/tactics.ts";
import type { SourceFile } from "../catalog/sources/files.ts";
import type { Problem } from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { loadsModules } from "../host/process.ts";
import type { PromptRegistry } from "../prompt/registry.ts";
import { isTactic, type Tactic } from "../run/tactic/tactic.ts";
import { promptModuleLoader } from "./prompt_module_loader.ts";

/** The prompts of a project and what goes with them, each with the place where it is defined. */
export interface PromptIndex {
  /** Real and absolute. */
  readonly root: string;
  readonly registry: PromptRegistry;
  /** By name: the `agents:` of `orrery.yaml`. */
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  readonly tactics: ReadonlyMap<string, Tactic>;
  /** What could not be taken, by file and line. */
  readonly problems: readonly Problem[];
  /** By path, sorted. */
  readonly located: ReadonlyMap<string, LocatedPrompt>;
  /** By name. */
  readonly locatedTactics: ReadonlyMap<string, FoundTactic<Tactic>>;
  /** The problems by what cannot be taken. */
  readonly problemsOf: { readonly [kind in "prompts" | "profiles" | "tactics"]: readonly Problem[] };
  /** The modules that may define prompts or tactics. */
  readonly modules: { readonly [kind in "prompts" | "tactics"]: readonly SourceFile[] };
  /** Why modules were not loaded whose code nobody trusts; they are not among the problems. */
  readonly notLoaded: readonly Problem[];
}

/** Whose code may run. */
export interface TrustOptions {
  /** Modules of prompts and tactics are loaded: `--trust-code` was given (prompts.md 12). */
  readonly trustsCode: boolean;
}

/** What is wanted. */
export interface PromptIndexOptions extends TrustOptions, Pick<LoadAgentsOptions, "modelProblem"> {
  /**
   * A profile without its system prompt is a problem, also where the prompt may be in a module that was not loaded. Default false: then
   * nobody can tell, and the profile is shown.
   */
  readonly isForRuns?: boolean;
}

/** Finds everything that prompts.md calls by a name, and where it is. Nothing is thrown for what is wrong: it is told. @param root real and absolute */
export async function promptIndex(
  root: string,
  { trustsCode, isForRuns = false, modelProblem }: PromptIndexOptions,
): Promise<PromptIndex> {
  const files = hostFiles({ root });
  const loader = promptModuleLoader(root, { trustsCode, keepsStdout: true });
  const { registry, located, sources, problems } = await discoverPrompts({
    root,
    files,
    strict: false,
    ...loader,
  });
  const tactics = await discoverTactics<Tactic>({ root, files, ...loader, isTactic });
  const modules = {
    prompts: sources.filter(({ kind }) => kind === "module"),
    tactics: tactics.sources,
  };
  const moduleFiles = [...modules.prompts, ...modules.tactics].map(({ file }) => file);
  const untrusted = new Set(trustsCode || !loadsModules() ? [] : moduleFiles);
  const isTold = ({ file }: Problem) => !untrusted.has(file);
  const isWhole = moduleFiles.length === 0 || trustsCode && loadsModules();
  const agents = await loadAgents({
    root,
    files,
    modelProblem,
    ...((isWhole || isForRuns) && { prompts: registry }),
  });
  const problemsOf = {
    prompts: problems.filter(isTold),
    profiles: agents.problems,
    tactics: tactics.problems.filter(isTold),
  };
  return {
    root,
    registry,
    located,
    profiles: agents.agents,
    tactics: new Map([...tactics.tactics].map(([name, { tactic }]) => [name, tactic])),
    locatedTactics: tactics.tactics,
    problemsOf,
    problems: Object.values(problemsOf).flat(),
    modules,
    notLoaded: [...problems, ...tactics.problems].filter((problem) => !isTold(problem)),
  };
}

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
