import { didYouMean, EMPTY_CATALOG, present } from "../../core/core.ts";
import { createRun, type KeepFlags, type KeptRun } from "../../project/open_run.ts";
import { limitsOf, type ProjectSettings, wantedModel } from "../../project/project.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import { silentModel } from "../../run/turn/noted_model.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetWithin } from "../../service/input/budget.ts";
import {
  type DialogInput,
  dialogInput,
  dialogJson,
  type DialogMeans,
  openDialog,
  type OpenedDialog,
} from "../../service/start/dialog.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import type { GrantFlags } from "../flags/grants.ts";
import type { AroundRun } from "../run/around.ts";
import { replayedPrompts } from "../run/calls.ts";
import { openReplay } from "../run/record.ts";

/** The flags that `ask` and `chat` share. */
type DialogFlags = Pick<
  ParsedCommand<typeof COMMANDS.ask>["flags"],
  "model" | "tools" | "system" | "tools-mode" | "budget" | "temperature" | "concurrency" | "timeout"
>;

/** What is asked, and of whom. */
interface BeginDialogOptions {
  readonly around: AroundRun;
  readonly grants: RunGrants;
  readonly flags: DialogFlags & KeepFlags;
  /** What the command line says. */
  readonly asked: Pick<DialogInput, "text" | "schema" | "system" | "budget">;
}

/**
 * Opens what a new question or conversation needs, and begins to keep it.
 *
 * @throws {UsageError} for a model and for tools that there are not, {JournalError} when the journal cannot be written, {FileError} for the record
 */
export async function beginDialog(
  kind: "ask" | "chat",
  project: ProjectSettings,
  { around, grants, flags, asked }: BeginDialogOptions,
): Promise<OpenedDialog & { readonly input: DialogInput; readonly kept: KeptRun }> {
  const name = wantedModel(flags.model);
  const typed = { flag: flags.model, command: kind };
  const dialog = await openDialog(project, { around, grants, tools: flags.tools, name, typed });
  const { model, catalog } = dialog;
  const { limits, calls, toolsMode } = project.config;
  const input: DialogInput = {
    ...asked,
    model: name ?? model.id,
    modelId: model.id,
    contextTokens: model.contextTokens,
    tools: wholeServers(flags.tools, catalog.entries),
    toolsMode: (flags["tools-mode"] ?? toolsMode) === "native" ? "native" : "blocks",
    temperature: flags.temperature,
    budget: budgetWithin(limits, asked.budget),
    markers: calls.markers,
    limits: limitsOf(project, flags),
    rounds: limits.turns,
    contractRetries: limits.retries,
  };
  const names = catalog.entries.map((entry) => entry.name);
  const problems = input.tools.filter((tool) => catalog.maybeFind(tool) === undefined).map((tool) =>
    `--tools: Unknown gadget ${JSON.stringify(tool)}.${
      didYouMean(tool, names)
    } orrery list gadgets shows what there is.`
  );
  if (problems.length > 0) throw new UsageError(problems, kind);
  const place = { ...project, grants, found: around.found };
  return { ...dialog, input, kept: await createRun({ kind, input: dialogJson(input) }, place, flags) };
}

/** A dialog that a record answers: nothing is asked, called or kept. */
export interface ReplayedDialog extends Omit<DialogMeans, "signal"> {
  readonly kept: undefined;
  readonly input: DialogInput;
}

/** Opens the record of a dialog; what the flags say counts over what it says. @throws as `openReplay` */
export async function replayDialog(
  record: string,
  { cwd, kind, flags }: {
    readonly cwd: string;
    readonly kind: "ask" | "chat";
    readonly flags: DialogFlags & GrantFlags & { readonly record: string | undefined };
  },
): Promise<ReplayedDialog> {
  const { replay } = await openReplay(record, { cwd, kind, alsoRecords: flags.record });
  const recorded = dialogInput(replay.run.input);
  const { model, system, temperature, tools, "tools-mode": mode } = flags;
  const input: DialogInput = {
    ...recorded,
    model: model ?? recorded.model,
    modelId: model ?? recorded.modelId,
    ...present({ system, temperature }),
    tools: tools.length === 0
      ? recorded.tools
      : wholeServers(tools, recorded.tools.map((name) => ({ name }))),
    ...(mode === "native" || mode === "blocks" ? { toolsMode: mode } : {}),
  };
  const { modelId: id, contextTokens } = input;
  return {
    input,
    replay,
    prompts: replayedPrompts(cwd, { cwd, flags }),
    model: silentModel({ id, contextTokens }),
    catalog: EMPTY_CATALOG,
    kept: undefined,
  };
}

/** The names of gadgets with every `server__*` replaced by those of the server that there are; one that has none stays, and is an error later. */
function wholeServers(
  names: readonly string[],
  known: readonly { readonly name: string; readonly state?: string }[],
): readonly string[] {
  const whole = names.flatMap((name) => {
    if (!name.endsWith("__*")) return [name];
    const found = known.filter(({ name: each, state = "ready" }) =>
      state === "ready" && each.startsWith(name.slice(0, -1))
    );
    return found.length === 0 ? [name] : found.map((each) => each.name);
  });
  return [...new Set(whole)];
}
