import { resolve } from "node:path";
import { FileError, isInside, isRecord, messageOf, type Problem, PromptError } from "../core/core.ts";
import type { Place } from "../parse/yaml/front_matter.ts";
import type { PromptRegistry } from "../prompt/registry.ts";
import {
  type AgentProfile,
  agentProfile,
  defaultsProblems,
  type EntryProblem,
  type ReadEntry,
} from "./agent_profile.ts";
import {
  PROJECT_FILE,
  type ProjectFile,
  type ProjectPlace,
  projectWord,
  readProjectFile,
  sortedProblems,
} from "./project_file.ts";

/** Which agents are wanted. */
export interface LoadAgentsOptions extends ProjectPlace {
  /** Where system prompts are looked up; without it none is. */
  readonly prompts?: PromptRegistry;
  /** What is wrong with the name of a model. Default: left to whoever asks it. */
  readonly modelProblem?: (name: string) => string | undefined;
}

/** The agents of a project by name, and what was wrong with others: by file, then by place. */
export interface LoadedAgents {
  readonly agents: ReadonlyMap<string, AgentProfile>;
  readonly problems: readonly Problem[];
}

type Fields = Readonly<Record<string, unknown>>;

/** An entry that is written somewhere. */
interface Entry {
  readonly value: unknown;
  /** Names it as long as it has no name of its own. */
  readonly label: string;
  readonly file: string;
  placeOf(path: readonly string[]): Place;
}

/** The agents of `orrery.yaml` and of the files that it names (prompts.md 10). */
export async function loadAgents(options: LoadAgentsOptions): Promise<LoadedAgents> {
  const { prompts, modelProblem = () => undefined } = options;
  const project = await readProjectFile(PROJECT_FILE, options);
  const problems: Problem[] = [...project.problems];
  const defaults = defaultsOf(project, problems);
  const agents = new Map<string, AgentProfile>();
  const names = new Set<string>();
  for (const { value, label, file, placeOf } of await entriesOf(project, { options, problems })) {
    const read = agentProfile(value, { defaults, label });
    const found = [...("problems" in read ? read.problems : []), ...clash(read, names)];
    problems.push(...found.map(({ path, message }) => ({ file, ...placeOf(path), message })));
    const noPrompt = promptProblem(read, prompts);
    const noModel = "profile" in read ? modelProblem(read.profile.model) : undefined;
    for (const [key, message] of [["systemPrompt", noPrompt], ["model", noModel]] as const) {
      if (message === undefined) continue;
      const place = isRecord(value) && Object.hasOwn(value, key)
        ? { file, ...placeOf([key]) }
        : { file: project.file, ...project.placeOf(["agentDefaults", key]) };
      problems.push({ ...place, message: key === "model" ? `${read.say}${message}` : message });
    }
    if ("profile" in read && found.length === 0 && noPrompt === undefined) {
      agents.set(read.profile.name, read.profile);
    }
  }
  return { agents, problems: sortedProblems(problems) };
}

function clash({ name }: ReadEntry, names: Set<string>): readonly EntryProblem[] {
  if (name === undefined) return [];
  const isTaken = names.has(name);
  names.add(name);
  return isTaken ? [{ path: ["name"], message: `agent ${JSON.stringify(name)} is defined twice` }] : [];
}

/** Why there is no system prompt; undefined when there is one. */
function promptProblem(
  { say, systemPrompt }: ReadEntry,
  prompts: PromptRegistry | undefined,
): string | undefined {
  if (systemPrompt === null || prompts === undefined) return undefined;
  try {
    prompts.get(systemPrompt);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof PromptError)) throw thrown;
    return `${say}${thrown.message}`;
  }
}

function defaultsOf(project: ProjectFile, problems: Problem[]): Fields {
  const { file, placeOf } = project;
  const defaults = projectWord(project, "agentDefaults") ?? {};
  const at = (path: readonly string[], message: string) =>
    problems.push({ file, ...placeOf(["agentDefaults", ...path]), message });
  if (!isRecord(defaults)) {
    at([], "agentDefaults must be a mapping");
    return {};
  }
  for (const { path, message } of defaultsProblems(defaults)) at(path, message);
  return defaults;
}

/** The entries, those of files in the place of the file's name. */
async function entriesOf(
  project: ProjectFile,
  { options, problems }: { readonly options: ProjectPlace; readonly problems: Problem[] },
): Promise<readonly Entry[]> {
  const { file, placeOf } = project;
  const agents = projectWord(project, "agents") ?? [];
  if (!Array.isArray(agents)) {
    problems.push({ file, ...placeOf(["agents"]), message: "agents must be a list" });
    return [];
  }
  const entries = await Promise.all(agents.map(async (value: unknown, index): Promise<readonly Entry[]> => {
    const label = `agents[${index}]`;
    const placeAt = (path: readonly string[]) => placeOf(["agents", index, ...path]);
    if (typeof value !== "string") return [{ value, label, file, placeOf: placeAt }];
    const message = await unusable(value, options);
    if (message !== undefined) {
      problems.push({ file, ...placeAt([]), message: `${label}: ${message}` });
      return [];
    }
    const inside = await readProjectFile(value, options);
    problems.push(...inside.problems);
    return inside.problems.length > 0 ? [] : entriesIn(inside, label);
  }));
  return entries.flat();
}

function entriesIn({ file, value, placeOf }: ProjectFile, label: string): readonly Entry[] {
  if (!Array.isArray(value)) return [{ value, label, file, placeOf }];
  return value.map((each: unknown, index) => ({
    value: each,
    label: `${label}[${index}]`,
    file,
    placeOf: (path) => placeOf([index, ...path]),
  }));
}

/** Why a file of agents cannot be read; undefined when it can. */
async function unusable(written: string, { root, files }: ProjectPlace): Promise<string | undefined> {
  const path = resolve(root, written);
  const named = `file ${JSON.stringify(written)}`;
  if (!isInside(path, root)) return `${named} is outside the project`;
  try {
    const { kind } = await files.stat(path);
    if (kind !== "file") return `${named} is a folder`;
    return isInside(await files.resolve(path), root) ? undefined : `${named} is outside the project`;
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return thrown.code === "not-found"
      ? `${named} does not exist`
      : `${named} cannot be used: ${messageOf(thrown)}`;
  }
}
