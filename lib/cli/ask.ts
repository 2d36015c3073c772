import type { JsonSchema } from "../core/gadget.ts";
import type { Model } from "../core/model.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import type { ProjectSettings } from "../project/project.ts";
import { aroundRun } from "./around_run.ts";
import { budgetOf } from "./budget_flag.ts";
import { chooseView } from "./choose_view.ts";
import { openDialogCatalog } from "./dialog_catalog.ts";
import { dialogInput, dialogJson } from "./dialog_input.ts";
import type { DialogInput } from "./dialog_input.ts";
import { findModel, wantedModel } from "./dialog_model.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { interruptible } from "./interruptible.ts";
import type { Interruptible } from "./interruptible.ts";
import { openReplay } from "./open_replay.ts";
import { pipedText } from "./piped_text.ts";
import { question } from "./question.ts";
import { limitsOf } from "./run.ts";
import { isStreamed, performAsk } from "./run_ask.ts";
import { checkResultFile } from "./run_result.ts";
import { readSchema } from "./schema_file.ts";
import { UsageError } from "./usage_error.ts";
import { wholeServers } from "./whole_servers.ts";

type AskCommand = ParsedCommand<typeof COMMANDS.ask>;
/** The flags that `ask` and `chat` share. */
export type DialogFlags = Pick<
  AskCommand["flags"],
  "model" | "tools" | "system" | "tools-mode" | "budget" | "temperature" | "concurrency" | "timeout"
>;

/** `orrery ask TEXT`: asks a model one question; gives the exit code. */
export async function ask({ words, flags }: AskCommand, terminal: Terminal): Promise<number> {
  if (flags.json && flags.jsonl) {
    throw new UsageError(["--json and --jsonl cannot both have stdout; choose one"], { command: "ask" });
  }
  const cwd = workingFolder();
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "ask" });
  await checkResultFile(flags.output, cwd);
  const schema = flags.schema === undefined ? undefined : await readSchema(flags.schema, { cwd });
  const stop = interruptible(terminal);
  const onWait = (text: string) => void terminal.stderr.write(`notice: ${text}\n`);
  const piped = await pipedText(terminal, { signal: stop.signal, onWait });
  if (stop.signal.aborted) return EXIT.interrupted;
  const text = question(words, piped);
  if (flags.replay !== undefined) {
    return await replayAsk({ text, schema, budget }, { terminal, flags, cwd, stop, record: flags.replay });
  }
  if (text === "") {
    throw new UsageError(['orrery ask needs a TEXT, or text on a pipe: orrery ask "Why is the sky blue?"'], {
      command: "ask",
    });
  }
  const project = await openSettings(cwd, { cwd });
  const shape = { tools: flags.tools, ...(schema === undefined ? {} : { schema }) };
  const view = await chooseView(terminal, {
    flags,
    file: "ask",
    shownText: isStreamed(shape, flags) ? "none" : "interim",
  });
  stop.onSecond(() => view.abandon());
  await using around = await aroundRun(view, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: piped !== undefined,
  });
  const { tools } = flags;
  const opened = await around.open(openDialogCatalog(project, { ...grants, ...around.opening, tools }));
  if (opened === undefined) return EXIT.interrupted;
  const name = wantedModel(flags.model);
  const place = { ...project, isAccepted: opened.projectAccepted, settings: grants.settings };
  const model = await findModel({ ...place, name });
  const input: DialogInput = {
    text,
    ...shape,
    ...inputOf(flags, { project, budget, name, model }),
    tools: wholeServers(tools, opened.catalog.entries),
  };
  const { createRun }: typeof import("../project/open_run.ts") = await import(
    "../project/open_run.ts" as string
  );
  const start = { kind: "ask", input: dialogJson(input) };
  const kept = await createRun(start, { ...project, grants, found: around.found }, flags);
  const { approvals } = around;
  return await performAsk({ ...opened, terminal, flags, cwd, view, stop, input, model, kept, approvals });
}

/** What the flags and the settings say of a dialog. */
export function inputOf(
  flags: DialogFlags,
  { project, budget, name, model }: {
    readonly project: ProjectSettings;
    readonly budget: DialogInput["budget"];
    readonly name: string | undefined;
    readonly model: Model;
  },
): Omit<DialogInput, "text" | "schema" | "tools"> {
  const { limits, calls, toolsMode } = project.config;
  const { tokens, cost, timeMs } = limits;
  const mode = flags["tools-mode"] ?? toolsMode;
  return {
    model: name ?? model.id,
    modelId: model.id,
    ...(model.contextTokens === undefined ? {} : { contextTokens: model.contextTokens }),
    toolsMode: mode === "native" ? "native" : "blocks",
    ...(flags.system === undefined ? {} : { system: flags.system }),
    ...(flags.temperature === undefined ? {} : { temperature: flags.temperature }),
    budget: {
      ...(tokens === undefined ? {} : { tokens }),
      ...(cost === undefined ? {} : { cost }),
      ...(timeMs === undefined ? {} : { timeMs }),
      ...budget,
    },
    markers: calls.markers,
    limits: limitsOf(project, flags),
    rounds: limits.turns,
    contractRetries: limits.retries,
  };
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
  const { replay } = await openReplay(record, { cwd, kind: "ask" });
  const recorded = dialogInput(replay.run.input);
  const input: DialogInput = {
    ...recorded,
    ...(given.text === "" ? {} : { text: given.text }),
    ...(given.schema === undefined ? {} : { schema: given.schema }),
    ...replayedInput(recorded, flags),
    budget: { ...recorded.budget, ...given.budget },
  };
  const shownText = isStreamed(input, flags) ? "none" : "interim";
  const view = await chooseView(terminal, { flags, file: "ask", shownText });
  const model = replayedModel(input);
  const catalog = { entries: [], maybeFind: () => undefined };
  return await performAsk({
    terminal,
    flags,
    cwd,
    view,
    stop,
    input,
    model,
    catalog,
    replay,
    kept: undefined,
  });
}

/** What the flags say over a record. */
export function replayedInput(recorded: DialogInput, flags: DialogFlags): Partial<DialogInput> {
  const { model, system, temperature, tools, "tools-mode": mode } = flags;
  return {
    ...(model === undefined ? {} : { model, modelId: model }),
    ...(system === undefined ? {} : { system }),
    ...(temperature === undefined ? {} : { temperature }),
    tools: tools.length === 0
      ? recorded.tools
      : wholeServers(tools, recorded.tools.map((name) => ({ name }))),
    ...(mode === "native" || mode === "blocks" ? { toolsMode: mode } : {}),
  };
}

/** Stands for the model whose answers the record has. */
export function replayedModel({ modelId, contextTokens }: DialogInput): Model {
  return {
    id: modelId,
    ...(contextTokens === undefined ? {} : { contextTokens }),
    stream: () => {
      throw new Error("A replay asks no model");
    },
  };
}
