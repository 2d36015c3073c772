import type { JsonSchema } from "../core/gadget.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings, wantedModel } from "../project/project.ts";
import { aroundRun, interruptible } from "./around_run.ts";
import { askView } from "./ask_view.ts";
import { budgetOf } from "../service/budget_flag.ts";
import { inputOf } from "./dialog_flags.ts";
import type { DialogInput } from "../service/dialog_input.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import type { Interruptible } from "./around_run.ts";
import { keepDialog } from "./keep_dialog.ts";
import { openDialog } from "../service/open_dialog.ts";
import { pipedText } from "./piped_text.ts";
import { question } from "./question.ts";
import { replayDialog } from "./replay_dialog.ts";
import { performAsk } from "./run_ask.ts";
import { checkResultFile, checkStdout } from "./end_run.ts";
import { readSchema } from "./schema_file.ts";
import { wholeServers } from "./whole_servers.ts";

type AskCommand = ParsedCommand<typeof COMMANDS.ask>;

/** `orrery ask TEXT`: asks a model one question; gives the exit code. */
export async function ask({ words, flags }: AskCommand, terminal: Terminal): Promise<number> {
  checkStdout(flags, "ask");
  const cwd = workingFolder();
  const grants = await grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "ask" });
  await checkResultFile(flags.output, cwd);
  const prompts = await maybePrompts(flags, cwd);
  const schema = flags.schema === undefined ? undefined : await readSchema(flags.schema, { cwd });
  const stop = interruptible(terminal);
  const onWait = (text: string) => void terminal.stderr.write(`notice: ${text}\n`);
  const piped = flags.input.includes("-")
    ? undefined // it is the values
    : await pipedText(terminal, { signal: stop.signal, onWait });
  if (stop.signal.aborted) return EXIT.interrupted;
  const text = question(words, piped);
  if (prompts !== undefined && (text !== "" || flags.replay !== undefined)) {
    const wanted = { command: "ask", path: flags.prompt, say: text === "" ? undefined : text } as const;
    return await prompts.runPromptCommand(wanted, {
      flags,
      terminal,
      cwd,
      stop,
      isStdinTaken: piped !== undefined,
    });
  }
  if (flags.replay !== undefined) {
    return await replayAsk({ text, schema, budget }, { terminal, flags, cwd, stop, record: flags.replay });
  }
  if (text === "") {
    throw new UsageError(['orrery ask needs a TEXT, or text on a pipe: orrery ask "Why is the sky blue?"'], {
      command: "ask",
    });
  }
  const project = await openSettings(cwd, { cwd });
  const shape = { tools: flags.tools, schema };
  const view = await askView(terminal, { input: shape, flags });
  stop.onSecond(() => view.abandon());
  await using around = await aroundRun(view, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: piped !== undefined,
  });
  const { tools } = flags;
  const name = wantedModel(flags.model);
  const dialog = await openDialog(project, {
    around,
    grants,
    tools,
    name,
    typed: { flag: flags.model, command: "ask" },
  });
  if (dialog === undefined) return EXIT.interrupted;
  const input: DialogInput = {
    text,
    ...shape,
    ...inputOf(flags, { project, budget, name, model: dialog.model }),
    tools: wholeServers(tools, dialog.catalog.entries),
  };
  const { found } = around;
  const { catalog } = dialog;
  const kept = await keepDialog({ kind: "ask", input }, { project, catalog, grants, found, flags });
  return await performAsk({ ...dialog, terminal, flags, cwd, view, stop, input, kept });
}

/** What asks prompts; undefined where a model is asked. @throws {UsageError} for flags that do not go together */
async function maybePrompts(
  flags: AskCommand["flags"],
  cwd: string,
): Promise<typeof import("./run_prompt.ts") | undefined> {
  const isPlain = flags.prompt === undefined && flags.profile === undefined && flags.replay === undefined &&
    flags.input.length === 0 && flags["input-json"] === undefined;
  if (isPlain) return undefined;
  const { asksPrompt, refuseWithoutPrompt, refuseWithPrompt }: typeof import("./ask_prompt.ts") =
    await import("./ask_prompt.ts" as string);
  if (await asksPrompt(flags, cwd)) {
    refuseWithPrompt(flags);
    return await import("./run_prompt.ts" as string);
  }
  refuseWithoutPrompt(flags, { command: "ask", wanted: "--prompt PATH" });
  return undefined;
}

/** What is typed now is what runs; what is not comes from the record. */
async function replayAsk(
  given: {
    readonly text: string;
    readonly schema: JsonSchema | undefined;
    readonly budget: DialogInput["budget"];
  },
  { terminal, flags, cwd, stop, record }: {
    readonly terminal: Terminal;
    readonly flags: AskCommand["flags"];
    readonly cwd: string;
    readonly stop: Interruptible;
    readonly record: string;
  },
): Promise<number> {
  const replayed = await replayDialog(record, { cwd, kind: "ask", flags });
  const input: DialogInput = {
    ...replayed.input,
    ...(given.text === "" ? {} : { text: given.text }),
    ...(given.schema === undefined ? {} : { schema: given.schema }),
    budget: { ...replayed.input.budget, ...given.budget },
  };
  const view = await askView(terminal, { input, flags });
  return await performAsk({ ...replayed, terminal, flags, cwd, view, stop, input });
}
