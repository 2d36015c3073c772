import { dirname } from "node:path";
import { type JsonObject, objectOrEmpty, shownPath, type StoredFile } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { calledNames } from "../../parse/calls/header.ts";
import { createRun } from "../../project/open_run.ts";
import { limitsOf, openSettings, type ProjectSettings, wantedModel } from "../../project/project.ts";
import { keepStdout } from "../../project/trust/grants.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../../service/input/budget.ts";
import { keptAsked } from "../../service/input/kept_input.ts";
import { assertKnownModel, modelFrom } from "../../service/input/known_model.ts";
import { callsEvents } from "../../service/start/calls.ts";
import { openedCatalog } from "../../service/start/ready_run.ts";
import { aroundRun, interruptible } from "./around.ts";
import { begunText, type CallSource, openCallSource } from "./source.ts";
import { checkResultFile, checkStdout } from "./end.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { RUN } from "../flags/groups.ts";
import { recordedRun } from "./record.ts";
import { isAgentWord } from "../flags/parse.ts";
import { refuseFlags } from "../flags/refused.ts";
import { performCalls, replayCalls } from "./calls.ts";
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
  if (flags.replay !== undefined) {
    return await replayCalls(word, { terminal, flags, record: flags.replay, cwd, stop });
  }
  const isKept = !flags.ephemeral || flags.record !== undefined;
  const source = await openCallSource(word, {
    terminal,
    cwd,
    command: "run",
    signal: stop.signal,
  });
  const [project, whole] = await Promise.all([
    openSettings(source.path === undefined ? cwd : dirname(source.path), { cwd }),
    isKept && !source.isReadOnce ? wholeText(source.text) : undefined,
  ]);
  refuseUnreadable(whole, project);
  const { limits: bounds } = project.config;
  const budget = flags.budget.length > 0
    ? budgetWithin(bounds, budgetOf(flags.budget, { command: "run" }))
    : undefined;
  const asked = keptAsked(wantedModel(flags.model), budget);
  const isTyped = source.isStdin && terminal.stdinIsTerminal;
  const view = chooseView(terminal, { flags, file: source.name, isTyped });
  stop.onSecond(() => view.abandon());
  await using around = await aroundRun(view, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: source.isStdin,
  });
  keepStdout(flags);
  const { markers } = project.config.calls;
  const begun = whole === undefined && !source.isReadOnce ? await begunText(source.text) : undefined;
  const known = whole?.chunks.join("");
  const calls = calledNames(known ?? begun?.first ?? "", markers);
  const opened = await openedCatalog({ project, grants, around }, { calls });
  const asksModels = whole !== undefined && (calls.has("RunPrompt") || calls.has("RunFile"));
  refuseUnknownModel(flags, { asksModels, project, accepted: opened.projectAccepted });
  const limits = limitsOf(project, flags);
  const input: JsonObject = { markers: { ...markers }, limits: { ...limits }, ...asked };
  const kept = await createRun(
    {
      kind: "calls",
      file: source.name,
      input,
      ...(known === undefined ? {} : { files: [storedFile(source, { text: known, project })] }),
    },
    { ...project, grants, found: around.found },
    flags,
  );
  if (isTyped) await view.notice("reading calls from the terminal; end with Ctrl-D");
  const text = whole === undefined ? begun?.text ?? source.text : chunksOf(whole);
  const { name, isReadOnce } = source;
  const events = callsEvents({
    ...opened,
    approvals: around.approvals,
    signal: stop.signal,
    markers,
    limits,
    asked: input,
    prompts: () => ({ project, grants, accepted: opened.projectAccepted }),
    source: { name, isReadOnce, text },
  }, kept.options);
  return await performCalls({ terminal, flags, cwd, view, stop, kept, name, markers, events });
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

/** A journal keeps the whole file, also what comes behind a place at which it cannot be read. */
async function wholeText(text: AsyncIterable<string>): Promise<WholeText> {
  const chunks: string[] = [];
  try {
    for await (const chunk of text) chunks.push(chunk);
    return { chunks };
  } catch (error) {
    return { chunks, error };
  }
}

/** A file without a call that can be read leaves no run behind. @throws {FileError} */
function refuseUnreadable(whole: WholeText | undefined, { config }: ProjectSettings): void {
  if (whole?.error === undefined) return;
  if (!whole.chunks.join("").includes(config.calls.markers.start)) throw whole.error;
}

/** The variable is for every command: what it names matters where a prompt or a document is run. @throws {UsageError} */
function refuseUnknownModel(
  flags: RunFlags,
  { asksModels, project: { config }, accepted }: {
    /** A call stands there whose gadget asks models; what is read once is not known before. */
    readonly asksModels: boolean;
    readonly project: ProjectSettings;
    readonly accepted: boolean;
  },
): void {
  const name = wantedModel(flags.model);
  if (name === undefined) return;
  if (flags.model === undefined && !asksModels) return;
  assertKnownModel(name, { from: modelFrom(flags.model), config, accepted, command: "run" });
}

/** One chunk that is all there is runs at once. */
function chunksOf({ chunks, error }: WholeText): Iterable<string> {
  return error === undefined ? chunks : brokenOff(chunks, error);
}

function* brokenOff(chunks: readonly string[], error: unknown): Iterable<string> {
  yield* chunks;
  throw error;
}

function storedFile(
  { name, path = name }: CallSource,
  { text, project }: { readonly text: string; readonly project: ProjectSettings },
): StoredFile {
  return { path: shownPath(path, project.root), text };
}
