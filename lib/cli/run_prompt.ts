import { join } from "node:path";
import { hostFiles } from "../host/files.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../service/input/budget.ts";
import { checkedInput } from "../service/input/checked_input.ts";
import { promptInput } from "../service/input/prompt_input.ts";
import { type OpenedPromptRun, openPromptRun } from "../service/prompt/open.ts";
import {
  askedInput,
  openedInput,
  type PromptRunInput,
  promptRunInput,
  promptRunJson,
  renderedPrompts,
} from "../service/prompt/run.ts";
import { aroundRun, type Interruptible } from "./around_run.ts";
import type { conversationFlags, documentFlags } from "./flag_groups.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { openReplay } from "./open_replay.ts";
import { performPrompt } from "./perform_prompt.ts";
import { assertRecorded } from "./recorded_prompt.ts";
import { chooseView } from "./run_view.ts";
import { stdinText } from "./stdin_text.ts";

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
  const grants = await grantsOf(flags);
  const budget = budgetOf(flags.budget, { command });
  const given = await promptInput(flags, { cwd, command, stdin: () => stdinText(terminal, stop.signal) });
  if (stop.signal.aborted) return EXIT.interrupted;
  const replay = flags.replay === undefined
    ? undefined
    : (await openReplay(flags.replay, { cwd, kind: "prompt", command, alsoRecords: flags.record })).replay;
  const recorded = replay && promptRunInput(replay.run.input);
  if (recorded !== undefined && flags.replay !== undefined) {
    assertRecorded({ path: wanted.path, profile: flags.profile }, {
      recorded,
      record: flags.replay,
      command,
    });
  }
  const { path = recorded?.path ?? "", say = recorded?.say } = wanted;
  const profile = flags.profile ?? recorded?.profile;
  const project = await openSettings(cwd, { cwd });
  const view = await chooseView(terminal, { flags, file: path || command, shownText: "interim" });
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
  if (opened === undefined) return EXIT.interrupted;
  if (say !== undefined) refuseTactic(opened, path);
  const values = checkedInput(given, {
    prompts: renderedPrompts(opened, { say }),
    located: opened.opened.located,
    command,
    isReplay: recorded !== undefined,
  });
  const asked = { path, say, profile, values, temperature: flags.temperature };
  const prompts = () => ({ project, grants, accepted: opened.accepted });
  const work = { terminal, flags, cwd, view, stop, opened, prompts };
  if (recorded !== undefined) {
    const input = { ...recorded, ...askedInput({ ...asked, values: { ...recorded.values, ...values } }) };
    return await performPrompt({
      ...work,
      input: { ...input, budget: { ...recorded.budget, ...budget } },
      replay,
      kept: undefined,
    });
  }
  const input: PromptRunInput = {
    ...askedInput(asked),
    ...openedInput(opened, { project, flags }),
    budget: budgetWithin(project.config.limits, budget),
  };
  const { createRun }: typeof import("../project/open_run.ts") = await import(
    "../project/open_run.ts" as string
  );
  const start = { kind: "prompt", file: path || profile || command, input: promptRunJson(input) };
  const kept = await createRun(start, { ...project, grants, found: around.found }, flags);
  return await performPrompt({ ...work, input, kept });
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
  throw new UsageError([
    `${JSON.stringify(path)} is a tactic, and --prompt takes a prompt: orrery run ${path} runs it`,
  ], { command: "ask" });
}
