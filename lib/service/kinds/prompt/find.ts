import { nearestNames, type Problem, PromptError, typedPath } from "../../../core/core.ts";
import { shellWord } from "../../../policy/refusal.ts";
import type { OpenedPrompts } from "../../../project/prompt_index.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import { promptPath } from "../../../prompt/registry.ts";
import { problemLines, promptTrouble } from "../../../prompt/prompt_trouble.ts";
import type { AnyPrompt } from "../../../prompt/prompt.ts";
import type { Tactic } from "../../../run/tactic/tactic.ts";
import { UsageError } from "../../exit_code.ts";

/** What a name on the command line stands for. */
export type FoundPrompt =
  | { readonly kind: "prompt"; readonly prompt: AnyPrompt }
  | { readonly kind: "tactic"; readonly tactic: Tactic };

/** Problems with their files as they are typed in the working folder. */
export function typedProblems(
  problems: readonly Problem[],
  place: Pick<ProjectSettings, "root" | "cwd">,
): readonly Problem[] {
  return problems.map((problem) => ({ ...problem, file: typedPath(problem.file, place) }));
}

/** There is nothing of that name. */
export class UnknownNameError extends UsageError {}

/** The prompt of a path, or the tactic of a name. @throws {UsageError} that names what may have been meant, and the files that could not be taken */
export function findPrompt(
  word: string,
  { registry, tactics, problems }: OpenedPrompts,
  { command, nearFile, folder }: {
    readonly command: string;
    /** A file that may have been meant. */
    readonly nearFile?: string;
    /** The call files of the folder that it names, as they are typed. */
    readonly folder?: readonly string[];
  },
): FoundPrompt {
  const path = maybePath(word);
  if (path !== undefined && registry.has(path)) return { kind: "prompt", prompt: registry.get(path) };
  const tactic = tactics.get(word);
  if (tactic !== undefined) return { kind: "tactic", tactic };
  const { isThere, lines } = promptTrouble(path ?? word, problems);
  if (isThere) {
    throw new UsageError([`The prompt ${JSON.stringify(word)} cannot be used:`, ...lines], command);
  }
  const known = [...registry.keys(), ...tactics.keys()];
  if (folder !== undefined) {
    throw new UsageError(folderText(word, { files: folder, known }), command);
  }
  const hint = (nearFile === undefined ? undefined : `. Did you mean ${JSON.stringify(nearFile)}?`) ??
    didYouMean(path ?? word, known) ??
    (known.length === 0
      ? ": the project has no prompts"
      : `; orrery list prompts shows the ${
        known.length === 1 ? "one there is" : `${known.length} there are`
      }`);
  const what = command === "run" ? "no file and no prompt" : "no prompt";
  const unloaded = problems.filter(({ file }) => MODULE.test(file));
  const told = lines.length > 0 ? lines : problemLines(unloaded);
  throw new UnknownNameError([`There is ${what} ${JSON.stringify(word)}${hint}`, ...told], command);
}

/** One that could not be loaded may define a tactic of any name. */
const MODULE = /\.[cm]?[jt]s$/;

const MOST_FILES = 3;

function folderText(
  word: string,
  { files, known }: { readonly files: readonly string[]; readonly known: readonly string[] },
): string {
  const prefix = maybePath(word);
  const inside = prefix === undefined ? [] : known.filter((path) => path.startsWith(`${prefix}/`));
  const near = [...files, ...inside].slice(0, MOST_FILES).map((name) => `orrery run ${shellWord(name)}`);
  const hint = near.length > 0
    ? `. What could be run: ${near.join(", ")}`
    : known.length > 0
    ? "; orrery list prompts shows the prompts there are"
    : ": there is no call file in it, and the project has no prompts";
  return `${
    JSON.stringify(word)
  } is a folder: expected a file that ends with ".calls", or the path of a prompt${hint}`;
}

/** The agent of a name. @throws {UsageError} that names what may have been meant, or what could not be taken */
export function findProfile(
  name: string,
  { profiles, problems }: Pick<OpenedPrompts, "profiles" | "problems">,
  { command }: { readonly command: string },
): NonNullable<ReturnType<OpenedPrompts["profiles"]["get"]>> {
  const profile = profiles.get(name);
  if (profile !== undefined) return profile;
  const own = problems.filter(({ message }) => message.startsWith(`agent ${JSON.stringify(name)}: `));
  if (own.length > 0) {
    const others = problems.filter((problem) => !own.includes(problem));
    throw new UsageError([
      `The profile ${JSON.stringify(name)} cannot be used:`,
      ...problemLines([...own, ...others]),
    ], command);
  }
  const hint = didYouMean(name, profiles.keys()) ??
    (profiles.size === 0 ? ": orrery.yaml has no agents" : `. Known: ${[...profiles.keys()].join(", ")}`);
  throw new UnknownNameError([
    `There is no profile ${JSON.stringify(name)}${hint}`,
    ...problemLines(problems),
  ], command);
}

/** Undefined for what can be no path of a prompt. */
function maybePath(word: string): string | undefined {
  try {
    return promptPath(word, "registry");
  } catch (error) {
    if (error instanceof PromptError) return undefined;
    throw error;
  }
}

function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const near = nearestNames(word, known);
  return near.length === 0
    ? undefined
    : `. Did you mean ${near.map((name) => JSON.stringify(name)).join(", ")}?`;
}
