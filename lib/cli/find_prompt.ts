import { nearestNames } from "../core/did_you_mean_names.ts";
import { PromptError } from "../core/prompt_error.ts";
import type { OpenedPrompts } from "../project/open_prompts.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import type { Tactic } from "../run/tactic.ts";
import { UsageError } from "./exit_code.ts";

/** What a name on the command line stands for. */
export type FoundPrompt =
  | { readonly kind: "prompt"; readonly prompt: AnyPrompt }
  | { readonly kind: "tactic"; readonly tactic: Tactic };

const MOST_PROBLEMS = 5;

/** The prompt of a path, or the tactic of a name. @throws {UsageError} that names what may have been meant, and the files that could not be taken */
export function findPrompt(
  word: string,
  { registry, tactics, problems }: OpenedPrompts,
  { command, nearFile }: {
    readonly command: string;
    /** A file that may have been meant. */
    readonly nearFile?: string | undefined;
  },
): FoundPrompt {
  const path = maybePath(word);
  if (path !== undefined && registry.has(path)) return { kind: "prompt", prompt: registry.get(path) };
  const tactic = tactics.get(word);
  if (tactic !== undefined) return { kind: "tactic", tactic };
  const own = problems.filter(({ message }) =>
    message.startsWith(`prompt ${JSON.stringify(path ?? word)}: `)
  );
  if (own.length > 0) {
    throw new UsageError([`The prompt ${JSON.stringify(word)} cannot be used:`, ...problemLines(own)], {
      command,
    });
  }
  const known = [...registry.keys(), ...tactics.keys()];
  const hint = (nearFile === undefined ? undefined : `. Did you mean ${JSON.stringify(nearFile)}?`) ??
    didYouMean(path ?? word, known) ??
    (known.length === 0
      ? ": the project has no prompts"
      : `; orrery list prompts shows the ${known.length} there are`);
  const what = command === "run" ? "no file and no prompt" : "no prompt";
  throw new UsageError([`There is ${what} ${JSON.stringify(word)}${hint}`, ...problemLines(problems)], {
    command,
  });
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
    ], { command });
  }
  const hint = didYouMean(name, profiles.keys()) ??
    (profiles.size === 0 ? ": orrery.yaml has no agents" : `. Known: ${[...profiles.keys()].join(", ")}`);
  throw new UsageError([`There is no profile ${JSON.stringify(name)}${hint}`, ...problemLines(problems)], {
    command,
  });
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

function problemLines(problems: OpenedPrompts["problems"]): readonly string[] {
  return [
    ...problems.slice(0, MOST_PROBLEMS).map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...(problems.length > MOST_PROBLEMS ? [`and ${problems.length - MOST_PROBLEMS} more such problems`] : []),
  ];
}
