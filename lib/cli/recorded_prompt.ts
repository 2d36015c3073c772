// What is replayed is what was recorded: another prompt would only be told apart somewhere in the middle.

import { PromptError } from "../core/prompt_error.ts";
import { promptPath } from "../prompt/registry.ts";
import { UsageError } from "../service/exit_code.ts";
import type { PromptRunInput } from "../service/prompt/run.ts";

/** What the command line asks. */
export interface AskedAgain {
  /** Of a prompt or a tactic; undefined where none was typed. */
  readonly path: string | undefined;
  readonly profile: string | undefined;
}

/** @throws {UsageError} when the record is of another prompt, tactic or profile than the one that was typed */
export function assertRecorded(
  { path, profile }: AskedAgain,
  { recorded, record, command }: {
    readonly recorded: PromptRunInput;
    /** The file of the record. */
    readonly record: string;
    readonly command: "run" | "ask" | "chat";
  },
): void {
  const problems: string[] = [];
  const say = (asked: string, was: string, whatToDo: string) =>
    problems.push(
      `--replay ${record} was recorded ${was}, and ${asked} was asked for: ${whatToDo}, or record a run of ${asked}`,
    );
  if (path !== undefined && samePath(path) !== samePath(recorded.path)) {
    const asked = command === "run" ? JSON.stringify(path) : `--prompt ${path}`;
    say(asked, promptWords(recorded), command === "run" ? `name ${recorded.path}` : "leave --prompt out");
  }
  if (profile !== undefined && profile !== recorded.profile) {
    say(`--profile ${profile}`, profileWords(recorded), "leave --profile out");
  }
  if (problems.length > 0) throw new UsageError(problems, { command });
}

function promptWords({ kind, path, profile }: PromptRunInput): string {
  return path === ""
    ? `of the system prompt of profile ${JSON.stringify(profile)}`
    : `of ${kind} ${JSON.stringify(path)}`;
}

function profileWords({ profile }: PromptRunInput): string {
  return profile === undefined ? "without a profile" : `of profile ${JSON.stringify(profile)}`;
}

/** What can be no path stays as it was typed. */
function samePath(path: string): string {
  try {
    return promptPath(path);
  } catch (error) {
    if (error instanceof PromptError) return path;
    throw error;
  }
}
