import { join } from "node:path";
import { PromptError } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { createRun, type KeptRun } from "../../project/open_run.ts";
import { openSettings, type ProjectSettings } from "../../project/project.ts";
import { promptPath } from "../../prompt/registry.ts";
import { hasContract } from "../../run/agent/prompt_run.ts";
import type { Replay } from "../../run/replay/replay.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../../service/input/budget.ts";
import { checkedInput } from "../../service/input/checked_input.ts";
import { promptInput } from "../../service/input/prompt_input.ts";
import type { PromptCallsOptions } from "../../service/prompt/containers.ts";
import type { FoundPrompt } from "../../service/prompt/find.ts";
import { type OpenedPromptRun, openPromptRun } from "../../service/prompt/open.ts";
import {
  askedInput,
  openedInput,
  promptEvents,
  type PromptRunInput,
  promptRunInput,
  promptRunJson,
  renderedPrompts,
} from "../../service/prompt/run.ts";
import { aroundRun, type Interruptible } from "./around.ts";
import { stdinText } from "./source.ts";
import { type DeliverOptions, endRun, toItsEnd } from "./end.ts";
import type { conversationFlags, documentFlags } from "../flags/groups.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { openReplay } from "./record.ts";
import { answerAround, chooseView, followRun, type RunView } from "./view.ts";

/** Flags of `run` that are for documents alone. */
type DocumentFlag = (typeof documentFlags)[number]["name"];

/** Flags of `run` that are for agents alone. */
type AgentFlag = (typeof conversationFlags)[number]["name"] | "say";

/** The flags that say how a prompt is asked. */
export type PromptFlags = Omit<ParsedCommand<typeof COMMANDS.run>["flags"], DocumentFlag | AgentFlag> & {
  readonly temperature?: number;
};

/** What is to be asked, as it was typed; what was not comes from the record of a replay. */
export interface WantedPrompt {
  readonly command: "run" | "ask";
  /** Of a prompt or a tactic. Default: the system prompt of the profile. */
  readonly path?: string;
  /** The prompt is the system prompt, and this is said. */
  readonly say?: string;
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
  const budget = budgetOf(flags.budget, { command });
  const given = await promptInput(flags, { cwd, command, stdin: () => stdinText(terminal, stop.signal) });
  const { replay, recorded } = await recordedPrompt(flags, {
    cwd,
    kind: "prompt",
    command,
    path: wanted.path,
  });
  const { path = recorded?.path ?? "", say = recorded?.say } = wanted;
  const profile = flags.profile ?? recorded?.profile;
  const project = await openSettings(cwd, { cwd });
  const view = chooseView(terminal, { flags, file: path || command, shownText: "interim" });
  stop.onSecond(() => view.abandon());
  const usesStdin = isStdinTaken || flags.input.includes("-");
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin });
  const { model } = flags;
  const [nearFile, folder] = wanted.path === undefined || command !== "run"
    ? []
    : await Promise.all([maybeCallFile(path, cwd), maybeFolder(path, cwd)]);
  const opened = await openPromptRun(project, {
    path,
    nearFile,
    folder,
    profile,
    model,
    around,
    grants,
    command,
    recorded,
  });
  if (say !== undefined) refuseTactic(opened, path);
  const values = checkedInput(given, {
    prompts: renderedPrompts(opened, { say }),
    located: opened.opened.located,
    command,
    isReplay: recorded !== undefined,
  });
  const asked = { path, say, profile, values, temperature: flags.temperature };
  const prompts = () => ({ project, grants, accepted: opened.accepted });
  const input = typedInput(opened, { asked, budget, recorded, project, flags });
  const start = { kind: "prompt", file: path || profile || command, input: promptRunJson(input) };
  const kept = replay === undefined
    ? await createRun(start, { ...project, grants, found: around.found }, flags)
    : undefined;
  return await performPrompt({ terminal, flags, cwd, view, stop, opened, prompts, input, replay, kept });
}

/** The record that answers for a prompt, and what was asked then; nothing without `--replay`. @throws as `openReplay`, {UsageError} when it is of another prompt */
export async function recordedPrompt(
  { replay: record, record: alsoRecords, profile }: Pick<PromptFlags, "replay" | "record" | "profile">,
  { cwd, kind, command, path }: {
    readonly cwd: string;
    readonly kind: "prompt" | "chat";
    readonly command: "run" | "ask" | "chat";
    /** As it was typed. */
    readonly path?: string;
  },
): Promise<{ readonly replay?: Replay; readonly recorded?: PromptRunInput }> {
  if (record === undefined) return {};
  const { replay } = await openReplay(record, { cwd, kind, command, alsoRecords });
  const recorded = promptRunInput(replay.run.input);
  assertRecorded({ path, profile }, { recorded, record, command });
  return { replay, recorded };
}

/** What is typed, over what a record has, or else over what the project says. */
export function typedInput(
  opened: OpenedPromptRun,
  { asked, budget, recorded, project, flags }: {
    readonly asked: Parameters<typeof askedInput>[0];
    readonly budget: PromptRunInput["budget"];
    readonly recorded: PromptRunInput | undefined;
    readonly project: ProjectSettings;
    readonly flags: Parameters<typeof openedInput>[1]["flags"];
  },
): PromptRunInput {
  if (recorded !== undefined) {
    const values = { ...recorded.values, ...asked.values };
    return {
      ...recorded,
      ...askedInput({ ...asked, values }),
      budget: { ...recorded.budget, ...budget },
    };
  }
  return {
    ...askedInput(asked),
    ...openedInput(opened, { project, flags }),
    budget: budgetWithin(project.config.limits, budget),
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

function refuseTactic({ found }: OpenedPromptRun, path: string): void {
  if (found.kind === "prompt") return;
  throw new UsageError(
    `${JSON.stringify(path)} is a tactic, and --prompt takes a prompt: orrery run ${path} runs it`,
    "ask",
  );
}

/** A prompt or a tactic that is about to run. */
interface PromptWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly input: PromptRunInput;
  readonly opened: OpenedPromptRun;
  readonly kept: KeptRun | undefined;
  readonly replay?: Replay;
  /** Where the prompts are that its calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
}

/** Whether the answer goes to stdout as it comes: it is any text, and nothing can come before it. */
function isStreamedPrompt(
  found: FoundPrompt,
  { json, jsonl, output }: DeliverOptions["flags"],
): boolean {
  if (found.kind === "tactic" || json || jsonl || output !== undefined) return false;
  return !hasContract(found.prompt) && found.prompt.tools.length === 0;
}

/** Runs it and delivers the value; gives the exit code. */
export async function performPrompt(work: PromptWork): Promise<number> {
  const { stop, flags, opened: { found } } = work;
  const answer = isStreamedPrompt(found, flags) ? answerAround(work) : undefined;
  const events = promptEvents({ ...work, signal: stop.signal });
  const summary = await toItsEnd(work, () => followRun(events, { ...work, answer }));
  const isJson = found.kind === "prompt" && hasContract(found.prompt);
  return await endRun(summary, { ...work, isShown: answer !== undefined, isJson });
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
