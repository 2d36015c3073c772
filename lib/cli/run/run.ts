import { effortFrom, objectOrEmpty, projectPath, shownPath } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../../service/input/budget.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { assertNoResult, kindOfFile } from "../../service/kinds/kinds.ts";
import { prompt } from "../../service/kinds/prompt/prompt.ts";
import { runsOf } from "../../service/start/runs_of.ts";
import { calls } from "../../service/kinds/calls/calls.ts";
import { readyCalls } from "../../service/kinds/calls/start.ts";
import { interruptible } from "./around.ts";
import { openCallSource, orNearest } from "./source.ts";
import { checkResultFile, checkStdout } from "./end.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { RUN } from "../flags/groups.ts";
import { type FileCommand, replayFile, runHere } from "./perform.ts";
import { refuseFlags } from "../flags/parse.ts";
import { chooseView, viewOf } from "./view.ts";

type RunCommand = ParsedCommand<typeof COMMANDS.run>;

/** Runs what the word names; gives the exit code. */
type RunFile = (word: string, command: FileCommand) => Promise<number>;

/** Kinds with words and flags of their own, each loaded when one is named: how fast calls start counts. */
const RUNS: Readonly<Record<string, () => RunFile | Promise<RunFile>>> = {
  calls: () => runCalls,
  async document() {
    const { runDocument }: typeof import("./document/document.ts") = await import(
      "./document/document.ts" as string
    );
    return runDocument;
  },
  async conversation() {
    const { runConversation }: typeof import("../conversation/conversation.ts") = await import(
      "../conversation/conversation.ts" as string
    );
    return runConversation;
  },
  async prompt() {
    const { runPromptCommand }: typeof import("./prompt.ts") = await import("./prompt.ts" as string);
    return (path, command) => runPromptCommand({ command: "run", path }, command);
  },
};

/** `orrery run FILE`: runs a file, stdin or a prompt; gives the exit code. */
export async function run(
  { words, flags }: RunCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  checkStdout(flags, "run");
  const cwd = workingFolder();
  grantsOf(flags); // what is wrong with them is told first
  await checkResultFile(flags.output, cwd);
  const stop = interruptible(terminal);
  const word = words[0] ?? await recordedWord(flags, cwd);
  const kind = await kindOfWord(word, { cwd, kinds });
  refuseFlags(RUN, flags, kind.name);
  if (flags.out === "-" && (flags.json || flags.jsonl)) {
    throw new UsageError("--out - and --json cannot both have stdout; choose one", "run");
  }
  if (flags.watch) refuseWithWatch(flags);
  const command = { flags, terminal, cwd, stop };
  const { replay: record } = flags;
  if (record !== undefined && kind.file?.instead === undefined) {
    return await replayFile(word, { ...command, kind, record });
  }
  const runFile = await RUNS[kind.name]?.() ?? ((word, command) => runAny(word, { ...command, kind }));
  return await runFile(word, command);
}

/** @throws {UsageError} for what goes with one run only */
function refuseWithWatch({ record, replay }: RunCommand["flags"]): void {
  const flag = record !== undefined ? "--record" : replay !== undefined ? "--replay" : undefined;
  if (flag === undefined) return;
  throw new UsageError(`--watch runs the document again and again; ${flag} is for one run`, "run");
}

/** Calls of a file, or of stdin. */
async function runCalls(word: string, { flags, terminal, cwd, stop }: FileCommand): Promise<number> {
  const source = await openCallSource(word, { terminal, cwd, command: "run", signal: stop.signal });
  const { name, path = name, isStdin } = source;
  const [app, whole] = await Promise.all([
    openApp({ file: source.path, grants: grantsOf(flags) }),
    source.isReadOnce ? undefined : wholeText(source.text),
  ]);
  const { root, config } = app.project;
  const text = whole?.chunks.join("");
  if (whole?.error !== undefined && !text?.includes(config.calls.markers.start)) throw whole.error;
  const budget = flags.budget.length > 0
    ? budgetWithin(config.limits, budgetOf(flags.budget, { command: "run" }))
    : undefined;
  const isTyped = isStdin && terminal.stdinIsTerminal;
  const view = await chooseView(terminal, { flags, file: name, isTyped });
  const given = {
    name,
    text: whole === undefined ? source.text : chunksOf(whole),
    stored: text === undefined ? undefined : { path: shownPath(path, root), text },
  };
  return await runHere({ terminal, flags, view, stop, app, usesStdin: isStdin }, async (at) => {
    const asked = {
      model: flags.model,
      effort: effortFrom(flags.effort),
      budget,
      as: "flag" as const,
      flags,
    };
    const ready = await readyCalls(given, asked, at);
    if (isTyped) await view.notice("reading calls from the terminal; end with Ctrl-D");
    return ready;
  });
}

/** A file of any other kind, as its row says it. */
async function runAny(
  word: string,
  { kind, flags, terminal, cwd, stop }: FileCommand & { readonly kind: Kind },
): Promise<number> {
  const { start } = await runsOf(kind) ?? {};
  if (start === undefined) throw new UsageError(`Cannot run ${JSON.stringify(word)}`, "run");
  const path = await orNearest(word, cwd, hostFiles({ root: cwd }).resolve(word));
  const app = await openApp({ file: path, grants: grantsOf(flags) });
  const wish = {
    kind: "file" as const,
    file: projectPath(path, app.project.root),
    model: flags.model,
    effort: effortFrom(flags.effort),
    budget: budgetOf(flags.budget, { command: "run" }),
  };
  const view = await viewOf(kind.seen, terminal, { flags, file: word });
  const work = { terminal, flags, view, stop, app, usesStdin: false };
  return await runHere(work, async (at) => await start(wish, at));
}

/** What a record is of. @throws {FileError}, {SourceError} at a line that is none of a record */
async function recordedWord({ replay = "" }: RunCommand["flags"], cwd: string): Promise<string> {
  const { recordedRun }: typeof import("./record.ts") = await import("./record.ts" as string);
  const { kind, file, input } = await recordedRun(replay, cwd);
  const path = kind === "prompt" ? objectOrEmpty(input).path : undefined;
  if (typeof path === "string") return path;
  return file === undefined || file === "stdin" ? "-" : file;
}

/** A file that ends so is none that runs, whatever prompt is called like it. */
const OTHER_ENDING = /\.(ya?ml|json|txt|ts|js)$/i;

/** What is named; a file that is there, or has a known ending, counts before a prompt (cli.md). @throws as `kindByName` */
async function kindOfWord(
  word: string,
  { cwd, kinds }: { readonly cwd: string; readonly kinds: readonly Kind[] },
): Promise<Kind> {
  const kind = kindByName(word, kinds);
  if (kind !== undefined) return kind;
  const isFile = await hostFiles({ root: cwd }).stat(word).then(
    (there) => there.kind !== "folder",
    () => false,
  );
  return isFile ? calls : prompt;
}

/** What a word names by its ending alone; undefined for the path of a prompt, if no file is there. @throws {UsageError} for what has run already, and for the file of a prompt */
export function kindByName(word: string, kinds: readonly Kind[]): Kind | undefined {
  const kind = kindOfFile(word, kinds);
  if (kind === prompt) {
    const path = word.replace(/^(\.\/)?prompts\//, "").replace(/\.prompt(\.md)?$/, "");
    throw new UsageError(`A prompt is named by its path, not by its file: orrery run ${path}`, "run");
  }
  assertNoResult(word, kinds, "run");
  return kind ?? (word === "-" || OTHER_ENDING.test(word) ? calls : undefined);
}

interface WholeText {
  readonly chunks: readonly string[];
  /** What came instead of the rest. */
  readonly error?: unknown;
}

/** All of it is kept, also what comes behind a place at which it cannot be read; a file without a call that can be read leaves no run behind. */
async function wholeText(text: AsyncIterable<string>): Promise<WholeText> {
  const chunks: string[] = [];
  try {
    for await (const chunk of text) chunks.push(chunk);
    return { chunks };
  } catch (error) {
    return { chunks, error };
  }
}

/** One chunk that is all there is runs at once. */
function chunksOf({ chunks, error }: WholeText): Iterable<string> {
  return error === undefined ? chunks : brokenOff(chunks, error);
}

function* brokenOff(chunks: readonly string[], error: unknown): Iterable<string> {
  yield* chunks;
  throw error;
}
