import {
  between,
  decodeSegment,
  FileError,
  isJsonObject,
  type JsonSchema,
  present,
  SourceError,
  splitWords,
  toJson,
  wordsWith,
} from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { parseYaml } from "../../parse/yaml/yaml.ts";
import { openApp } from "../../service/app.ts";
import { prepareSchema } from "../../schema/prepare_schema.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { attachAt, attachedFiles } from "../../service/input/attached.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { flagFile } from "../../service/input/prompt_input.ts";
import { type DialogInput, readyAsk } from "../../service/kinds/dialog/start.ts";
import { interruptible } from "../run/around.ts";
import { callText } from "../run/source.ts";
import { checkResultFile, checkStdout } from "../run/end.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { refuseFlags } from "../flags/parse.ts";
import { recordedRun } from "../run/record.ts";
import { promptRunInput } from "../../service/kinds/prompt/run.ts";
import { beginDialog, refuseReplayed, replayDialog } from "../chat/dialog.ts";
import { performRun, runHere } from "../run/perform.ts";
import { runPromptCommand } from "../run/prompt.ts";
import { chooseView } from "../run/view.ts";

type AskCommand = ParsedCommand<typeof COMMANDS.ask>;

/** `orrery ask TEXT`: asks a model one question; gives the exit code. */
export async function ask({ words, flags }: AskCommand, terminal: Terminal): Promise<number> {
  checkStdout(flags, "ask");
  const cwd = workingFolder();
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "ask" });
  await checkResultFile(flags.output, cwd);
  refuseReplayed(flags, "ask");
  const isPrompt = await asksPrompt(flags, cwd);
  const prompted = flags.prompt === undefined ? "--profile" : "--prompt";
  refuseFlags(COMMANDS.ask, flags, isPrompt ? prompted : "question");
  const schema = flags.schema === undefined ? undefined : await readSchema(flags.schema, { cwd });
  const stop = interruptible(terminal);
  const piped = flags.input.includes("-")
    ? undefined // it is the values
    : await pipedText(terminal, stop.signal);
  if (stop.signal.aborted) return EXIT.interrupted;
  const text = question(words, piped);
  if (isPrompt && (text !== "" || flags.attach.length > 0 || flags.replay !== undefined)) {
    const { prompt: path, attach } = flags;
    const wanted = { command: "ask", path, say: text === "" ? undefined : text, attach } as const;
    return await runPromptCommand(wanted, {
      flags,
      terminal,
      cwd,
      stop,
      isStdinTaken: piped !== undefined,
    });
  }
  const view = () => chooseView(terminal, { flags, file: "ask", shownText: "interim" });
  if (flags.replay !== undefined) { // what is typed now is what runs; what is not comes from the record
    const { signal } = stop;
    const { input: recorded, dialog, kept } = await replayDialog(flags.replay, {
      cwd,
      kind: "ask",
      flags,
      signal,
    });
    const input: DialogInput = {
      ...recorded,
      ...present({ text: text || undefined, schema }),
      budget: { ...recorded.budget, ...budget },
    };
    const place = { root: cwd, cwd };
    return await performRun(readyAsk(input, dialog), {
      terminal,
      flags,
      place,
      view: await view(),
      stop,
      kept,
    });
  }
  if (text === "" && flags.attach.length === 0) {
    throw new UsageError(
      'orrery ask needs a TEXT, or text on a pipe: orrery ask "Why is the sky blue?"',
      "ask",
    );
  }
  const app = await openApp({ grants });
  const usesStdin = piped !== undefined;
  return await runHere({ terminal, flags, view: await view(), stop, app, usesStdin }, async (at) => {
    const words = wordsWith(text, await attachedFiles(flags.attach, attachAt(at)));
    const asked = { ...splitWords(words), schema, system: flags.system, budget };
    const { input, dialog } = await beginDialog("ask", at, { flags, asked });
    return readyAsk(input, dialog);
  });
}

/** Whether a prompt is asked, and not a model: by the flags or, where they say nothing, by the record that is replayed. */
async function asksPrompt({ prompt, profile, replay }: AskCommand["flags"], cwd: string): Promise<boolean> {
  if (prompt !== undefined || profile !== undefined) return true;
  if (replay === undefined) return false;
  const { kind, input } = await recordedRun(replay, cwd);
  return kind === "prompt" && promptRunInput(input).say !== undefined;
}

/** The question with the text of a pipe behind it, between marks that do not occur in it; a pipe without text is none. */
export function question(words: readonly string[], piped: string | undefined): string {
  const text = words.join(" ").trim();
  const context = piped === undefined || piped.trim() === "" ? "" : piped;
  if (context === "" || text === "") return text === "" ? context : text;
  return `${text}\n\n${between(context, "stdin")}`;
}

/** The JSON Schema of a file, JSON or YAML. @throws {SourceError} or {ProblemsError} that names file, line and column; {FileError} */
async function readSchema(file: string, { cwd }: { readonly cwd: string }): Promise<JsonSchema> {
  const source = await flagFile(file, { flag: "--schema", cwd });
  const document = await parseYaml(source, { file });
  const schema = toJson(document.value);
  if (!isJsonObject(schema)) {
    throw new SourceError("Expected a JSON Schema, which is an object, found something else", {
      span: document.at([]) ?? { file, line: 1, column: 1 },
      source,
      hint: 'Such as {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}.',
    });
  }
  const prepared = prepareSchema(schema);
  if ("broken" in prepared) {
    const { pointer, message } = prepared.broken;
    const path = pointer.split("/").slice(1).map(decodeSegment);
    const span = document.at(path) ?? { file, line: 1, column: 1 };
    throw new SourceError(`This JSON Schema cannot be used: ${message}`, { span, source });
  }
  return schema;
}

/** More would not fit into any model's window. */
const MAX_BYTES = 10 * 1024 * 1024;
/** A pipe that nobody writes to or closes looks like a program that hangs. */
const NOTICE_MS = 3_000;

/**
 * All of stdin as text; undefined when it is a terminal.
 *
 * @throws {FileError} when it is not UTF-8 text, or longer than 10 MB
 */
async function pipedText(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  if (terminal.stdinIsTerminal) return undefined;
  const notice =
    "notice: waiting for stdin to end, because it is a pipe; for a question without context, add </dev/null\n";
  const timer = setTimeout(() => void terminal.stderr.write(notice), NOTICE_MS);
  try {
    let text = "";
    for await (const piece of callText(bounded(terminal.stdinChunks({ signal })), "stdin")) text += piece;
    return text;
  } finally {
    clearTimeout(timer);
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      throw new FileError(
        "Cannot read stdin: it is longer than 10 MB, which is too much for a question; send the part that matters",
        { path: "stdin", code: "other" },
      );
    }
    yield chunk;
  }
}
