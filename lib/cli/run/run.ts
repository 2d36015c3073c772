import { dirname } from "node:path";
import { objectOrEmpty, shownPath } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openSettings } from "../../project/project.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../../service/input/budget.ts";
import { calls } from "../../service/kinds/calls/calls.ts";
import { readyCalls } from "../../service/kinds/calls/start.ts";
import { interruptible } from "./around.ts";
import { openCallSource } from "./source.ts";
import { checkResultFile, checkStdout } from "./end.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { RUN } from "../flags/groups.ts";
import { replayFile, runHere } from "./perform.ts";
import { recordedRun } from "./record.ts";
import { isAgentWord, refuseFlags } from "../flags/parse.ts";
import { chooseView } from "./view.ts";

type RunCommand = ParsedCommand<typeof COMMANDS.run>;
type RunFlags = RunCommand["flags"];

/**
 * `orrery run FILE`: runs the calls of a file or of stdin; gives the exit code. What is no call file is loaded when it is named, because how fast calls
 * start counts.
 */
export async function run({ words, flags }: RunCommand, terminal: Terminal): Promise<number> {
  checkStdout(flags, "run");
  const cwd = workingFolder();
  const grants = grantsOf(flags);
  await checkResultFile(flags.output, cwd);
  const stop = interruptible(terminal);
  const word = words[0] ?? await recordedWord(flags, cwd);
  if (isAgentWord(word)) {
    const { runConversation }: typeof import("../conversation/conversation.ts") = await import(
      "../conversation/conversation.ts" as string
    );
    return await runConversation(word, { flags, terminal, cwd, stop });
  }
  if (await isPromptPath(word, cwd)) {
    refuseFlags(RUN, flags, "prompt");
    const { runPromptCommand }: typeof import("./prompt.ts") = await import("./prompt.ts" as string);
    return await runPromptCommand({ command: "run", path: word }, { flags, terminal, cwd, stop });
  }
  if (isDocument(word)) {
    const { runDocumentCommand }: typeof import("./document/document.ts") = await import(
      "./document/document.ts" as string
    );
    return await runDocumentCommand(word, { flags, terminal, cwd, stop });
  }
  refuseFlags(RUN, flags, "calls");
  const { replay: record } = flags;
  if (record !== undefined) {
    return await replayFile(word, { kind: calls, record, terminal, flags, cwd, stop });
  }
  const source = await openCallSource(word, { terminal, cwd, command: "run", signal: stop.signal });
  const { name, path = name, isStdin } = source;
  const [project, whole] = await Promise.all([
    openSettings(source.path === undefined ? cwd : dirname(source.path)),
    source.isReadOnce ? undefined : wholeText(source.text),
  ]);
  const text = whole?.chunks.join("");
  if (whole?.error !== undefined && !text?.includes(project.config.calls.markers.start)) throw whole.error;
  const budget = flags.budget.length > 0
    ? budgetWithin(project.config.limits, budgetOf(flags.budget, { command: "run" }))
    : undefined;
  const isTyped = isStdin && terminal.stdinIsTerminal;
  const view = chooseView(terminal, { flags, file: name, isTyped });
  const given = {
    name,
    text: whole === undefined ? source.text : chunksOf(whole),
    stored: text === undefined ? undefined : { path: shownPath(path, project.root), text },
  };
  return await runHere({ terminal, flags, view, stop, project, grants, usesStdin: isStdin }, async (at) => {
    const ready = await readyCalls(given, { model: flags.model, budget, as: "flag", flags }, at);
    if (isTyped) await view.notice("reading calls from the terminal; end with Ctrl-D");
    return ready;
  });
}

/** What a record is of. @throws {FileError}, {SourceError} at a line that is none of a record */
async function recordedWord({ replay = "" }: RunFlags, cwd: string): Promise<string> {
  const { kind, file, input } = await recordedRun(replay, cwd);
  const path = kind === "prompt" ? objectOrEmpty(input).path : undefined;
  if (typeof path === "string") return path;
  return file === undefined || file === "stdin" ? "-" : file;
}

const KNOWN_ENDING = /\.(calls|md|ya?ml|prompt|json|txt|ts|js)$/i;

const PROMPT_FILE = /\.prompt(\.md)?$/;

/** @throws {UsageError} for a document that has run already */
function isDocument(word: string): boolean {
  if (!/\.(md|ctx)$/i.test(word)) return false;
  if (word.toLowerCase().endsWith(".md")) return true;
  const source = word.slice(0, -".ctx".length);
  throw new UsageError(
    `${JSON.stringify(word)} is the result of a document: run the document itself, orrery run ${source}.md`,
    "run",
  );
}

/** A file that is there, or has a known ending, counts before a prompt (cli.md). */
async function isPromptPath(word: string, cwd: string): Promise<boolean> {
  if (PROMPT_FILE.test(word)) {
    const path = word.replace(/^(\.\/)?prompts\//, "").replace(PROMPT_FILE, "");
    throw new UsageError(`A prompt is named by its path, not by its file: orrery run ${path}`, "run");
  }
  if (word === "-" || KNOWN_ENDING.test(word)) return false;
  return await hostFiles({ root: cwd }).stat(word).then(({ kind }) => kind === "folder", () => true);
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
