import { join } from "node:path";
import { effortFrom, PromptError, wordsWith } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { KeptRun } from "../../service/keep.ts";
import { type App, openApp } from "../../service/app.ts";
import { promptPath } from "../../prompt/registry.ts";
import { UsageError } from "../../service/exit_code.ts";
import { attachAt, attachedFiles } from "../../service/input/attached.ts";
import { budgetOf, budgetWithin } from "../../service/input/budget.ts";
import { promptInput } from "../../service/input/prompt_input.ts";
import { type PromptRunInput, promptRunInput } from "../../service/kinds/prompt/run.ts";
import { type AskedPrompt, openQuestion, readyPrompt } from "../../service/kinds/prompt/start.ts";
import type { Interruptible } from "./around.ts";
import { stdinText } from "./source.ts";
import type { conversationFlags, documentFlags, serverFlags } from "../flags/groups.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { runHere } from "./perform.ts";
import { openReplay } from "./record.ts";
import { chooseView } from "./view.ts";

/** Flags of `run` that are for documents alone. */
type DocumentFlag = (typeof documentFlags)[number]["name"];

/** Flags of `run` that are for agents alone. */
type AgentFlag = (typeof conversationFlags)[number]["name"] | "say";

/** Flags of `run` that say where else it is done. */
type ServerFlag = (typeof serverFlags)[number]["name"];

/** The flags that say how a prompt is asked. */
export type PromptFlags =
  & Omit<ParsedCommand<typeof COMMANDS.run>["flags"], DocumentFlag | AgentFlag | ServerFlag>
  & {
    readonly temperature?: number;
  };

/** What is to be asked, as it was typed; what was not comes from the record of a replay. */
export interface WantedPrompt {
  readonly command: "run" | "ask";
  /** Of a prompt or a tactic. Default: the system prompt of the profile. */
  readonly path?: string;
  /** The prompt is the system prompt, and this is said. */
  readonly say?: string;
  /** Files that are shown with it. */
  readonly attach?: readonly string[];
}

/** Asks a prompt, or runs a tactic; gives the exit code. */
export async function runPromptCommand(
  wanted: WantedPrompt,
  { flags, terminal, cwd, stop, isStdinTaken = false }: {
    readonly flags: PromptFlags;
    readonly terminal: Terminal;
    readonly cwd: string;
    readonly stop: Interruptible;
    /** What is said came from there. */
    readonly isStdinTaken?: boolean;
  },
): Promise<number> {
  const { command } = wanted;
  const grants = grantsOf(flags);
  const about = { cwd, kind: "prompt", command, path: wanted.path, grants } as const;
  const { kept, ...said } = await saidOfPrompt(flags, about);
  const given = await promptInput(flags, { cwd, command, stdin: () => stdinText(terminal, stop.signal) });
  const { path = said.recorded?.path ?? "", attach = [] } = wanted;
  const { app } = said;
  const view = await chooseView(terminal, { flags, file: path || command, shownText: "interim" });
  const usesStdin = isStdinTaken || flags.input.includes("-");
  const work = { terminal, flags, view, stop, app, usesStdin, kept };
  return await runHere(work, async (at) => {
    const [nearFile, folder] = wanted.path === undefined || command !== "run"
      ? []
      : await Promise.all([maybeCallFile(path, cwd), maybeFolder(path, cwd)]);
    const shown = await attachedFiles(attach, attachAt(at));
    const say = wanted.say === undefined && shown.length === 0
      ? said.recorded?.say
      : wordsWith(wanted.say ?? "", shown);
    return readyPrompt(await openQuestion({ ...said, path, say, given, nearFile, folder, command }, at));
  });
}

/** What is typed of a prompt, and where it is. */
interface SaidOfPrompt
  extends
    Pick<AskedPrompt, "recorded" | "profile" | "model" | "temperature" | "effort" | "flags" | "budget"> {
  /** Absent without a record. */
  readonly kept: KeptRun | undefined;
  readonly app: App;
}

/**
 * What is typed of a prompt, the record that answers for it where one is named, and the project whose prompt it is.
 *
 * @throws as `openReplay`, {UsageError} when that is of another prompt
 */
export async function saidOfPrompt(
  flags: Pick<
    PromptFlags,
    | "replay"
    | "record"
    | "profile"
    | "model"
    | "budget"
    | "temperature"
    | "effort"
    | "concurrency"
    | "timeout"
  >,
  { cwd, kind, command, path, grants }: {
    readonly cwd: string;
    readonly grants: App["grants"];
    readonly kind: "prompt" | "chat";
    readonly command: "run" | "ask" | "chat";
    /** As it was typed. */
    readonly path?: string;
  },
): Promise<SaidOfPrompt> {
  const { replay: record, record: alsoRecords, profile, model, temperature } = flags;
  const typed = budgetOf(flags.budget, { command });
  const replay = record === undefined
    ? undefined
    : await openReplay(record, { cwd, kind, command, alsoRecords });
  const recorded = replay && promptRunInput(replay.run.input);
  if (recorded !== undefined) assertRecorded({ path, profile }, { recorded, record, command });
  const app = await openApp({ grants });
  return {
    kept: replay?.kept,
    recorded,
    app,
    profile: profile ?? recorded?.profile,
    model,
    temperature,
    effort: effortFrom(flags.effort),
    flags,
    budget: recorded === undefined ? budgetWithin(app.project.config.limits, typed) : typed,
  };
}

/** The call file or document of which the ending was left out. */
async function maybeCallFile(path: string, cwd: string): Promise<string | undefined> {
  const files = hostFiles({ root: cwd });
  const found = await Promise.all(
    [`${path}.calls`, `${path}.md`].map((name) => files.stat(name).then(() => name, () => undefined)),
  );
  return found.find((name) => name !== undefined);
}

/** The call files of a folder, as they are typed; undefined for what is none. */
async function maybeFolder(path: string, cwd: string): Promise<readonly string[] | undefined> {
  if (path === "") return undefined;
  const entries = await hostFiles({ root: cwd }).list(path).catch(() => undefined);
  return entries?.filter(({ kind, name }) => kind === "file" && name.endsWith(".calls"))
    .map(({ name }) => join(path, name));
}

// What is replayed is what was recorded: another prompt would only be told apart somewhere in the middle.

/** What the command line asks. */
interface AskedAgain {
  /** Of a prompt or a tactic; undefined where none was typed. */
  readonly path: string | undefined;
  readonly profile: string | undefined;
}

/** @throws {UsageError} when the record is of another prompt, tactic or profile than the one that was typed */
function assertRecorded(
  { path, profile }: AskedAgain,
  { recorded, record, command }: {
    readonly recorded: PromptRunInput;
    /** The file of the record. */
    readonly record: string | undefined;
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
  if (problems.length > 0) throw new UsageError(problems, command);
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
