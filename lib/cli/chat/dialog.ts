import { type Catalog, didYouMean, EMPTY_CATALOG, type Model, present } from "../../core/core.ts";
import { createRun, type FoundSecret, type KeepFlags, type KeptRun } from "../../project/open_run.ts";
import { limitsOf, type ProjectSettings } from "../../project/project.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import { silentModel } from "../../run/turn/noted_model.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetWithin } from "../../service/input/budget.ts";
import { type DialogInput, dialogInput, dialogJson, type DialogMeans } from "../../service/start/dialog.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import type { GrantFlags } from "../flags/grants.ts";
import { openReplay } from "../run/record.ts";
import { replayedPrompts } from "../run/calls.ts";

/** The flags that `ask` and `chat` share. */
type DialogFlags = Pick<
  ParsedCommand<typeof COMMANDS.ask>["flags"],
  "model" | "tools" | "system" | "tools-mode" | "budget" | "temperature" | "concurrency" | "timeout"
>;

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
  const mode = flags["tools-mode"] ?? toolsMode;
  return {
    model: name ?? model.id,
    modelId: model.id,
    contextTokens: model.contextTokens,
    toolsMode: mode === "native" ? "native" : "blocks",
    system: flags.system,
    temperature: flags.temperature,
    budget: budgetWithin(limits, budget),
    markers: calls.markers,
    limits: limitsOf(project, flags),
    rounds: limits.turns,
    contractRetries: limits.retries,
  };
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
  const input = { ...recorded, ...flagsOver(recorded, flags) };
  const prompts = replayedPrompts(cwd, { cwd, flags });
  return { input, replay, prompts, model: modelOf(input), catalog: EMPTY_CATALOG, kept: undefined };
}

function flagsOver({ tools: recorded }: DialogInput, flags: DialogFlags): Partial<DialogInput> {
  const { model, system, temperature, tools, "tools-mode": mode } = flags;
  return {
    ...present({ model, modelId: model, system, temperature }),
    tools: tools.length === 0 ? recorded : wholeServers(tools, recorded.map((name) => ({ name }))),
    ...(mode === "native" || mode === "blocks" ? { toolsMode: mode } : {}),
  };
}

function modelOf({ modelId, contextTokens }: DialogInput): Model {
  return silentModel({ id: modelId, contextTokens });
}

/** The names of gadgets with every `server__*` replaced by those of the server that there are; one that has none stays, and is an error later. */
export function wholeServers(
  names: readonly string[],
  known: readonly { readonly name: string; readonly state?: string }[],
): readonly string[] {
  const ready = known.filter(({ state = "ready" }) => state === "ready").map(({ name }) => name);
  const whole = names.flatMap((name) => {
    if (!name.endsWith("__*")) return [name];
    const found = ready.filter((each) => each.startsWith(name.slice(0, -1)));
    return found.length === 0 ? [name] : found;
  });
  return [...new Set(whole)];
}

/** Where a dialog belongs, and what is wanted of it. */
interface KeepDialogOptions {
  readonly project: ProjectSettings;
  /** Where its tools are. */
  readonly catalog: Catalog;
  readonly grants: RunGrants;
  /** What its servers are given. */
  readonly found: readonly FoundSecret[];
  readonly flags: KeepFlags;
}

/** Begins to keep a new dialog. @throws {UsageError} for tools that there are not, {JournalError} when the journal cannot be written, {FileError} for the record */
export async function keepDialog(
  { kind, input }: { readonly kind: "ask" | "chat"; readonly input: DialogInput },
  { project, catalog, grants, found, flags }: KeepDialogOptions,
): Promise<KeptRun> {
  assertKnownTools(input.tools, { catalog, command: kind });
  return await createRun({ kind, input: dialogJson(input) }, { ...project, grants, found }, flags);
}

/** Finds out before a run whether there is a gadget for each name of `--tools`. @throws {UsageError} for every one that is unknown */
function assertKnownTools(
  tools: readonly string[],
  { catalog, command }: { readonly catalog: Catalog; readonly command: string },
): void {
  const names = catalog.entries.map(({ name }) => name);
  const problems = tools.filter((name) => catalog.maybeFind(name) === undefined).map((name) =>
    `--tools: Unknown gadget ${JSON.stringify(name)}.${
      didYouMean(name, names)
    } orrery list gadgets shows what there is.`
  );
  if (problems.length > 0) throw new UsageError(problems, command);
}
