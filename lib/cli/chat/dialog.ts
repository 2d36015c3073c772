import { didYouMean, effortFrom, present } from "../../core/core.ts";
import type { KeptRun } from "../../service/keep.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetWithin, limitsOf } from "../../service/input/budget.ts";
import {
  type DialogInput,
  dialogInput,
  openDialog,
  type OpenedDialog,
  recordedDialog,
} from "../../service/kinds/dialog/start.ts";
import { recordedPlace, type StartPlace } from "../../service/start/ready_run.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { type GrantFlags, grantsOf } from "../flags/grants.ts";
import { openReplay } from "../run/record.ts";
import { wantedModel } from "../../host/process.ts";

/** The flags that `ask` and `chat` share. */
type DialogFlags = Pick<
  ParsedCommand<typeof COMMANDS.ask>["flags"],
  | "model"
  | "tools"
  | "system"
  | "tools-mode"
  | "budget"
  | "temperature"
  | "effort"
  | "concurrency"
  | "timeout"
>;

/** What is asked, and of whom. */
interface BeginDialogOptions {
  readonly flags: DialogFlags;
  /** What the command line says. */
  readonly asked: Pick<DialogInput, "text" | "media" | "schema" | "system" | "budget">;
}

/** Opens what a new question or conversation needs. @throws {UsageError} for a model and for tools that there are not */
export async function beginDialog(
  command: "ask" | "chat",
  at: StartPlace,
  { flags, asked }: BeginDialogOptions,
): Promise<{ readonly dialog: OpenedDialog; readonly input: DialogInput }> {
  const { project } = at;
  const name = wantedModel(flags.model);
  const dialog = await openDialog(at, { tools: flags.tools, name, typed: { flag: flags.model, command } });
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
    effort: effortFrom(flags.effort),
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
  if (problems.length > 0) throw new UsageError(problems, command);
  return { dialog, input };
}

/** @throws {UsageError} for files that a record has already */
export function refuseReplayed(
  { attach, replay }: Pick<ParsedCommand<typeof COMMANDS.ask>["flags"], "attach" | "replay">,
  command: "ask" | "chat",
): void {
  if (attach.length === 0 || replay === undefined) return;
  throw new UsageError("--attach and --replay do not go together: the record has what was attached", command);
}

/** A dialog that a record answers: nothing is asked, called or kept. */
export interface ReplayedDialog {
  readonly dialog: OpenedDialog;
  readonly kept: KeptRun;
  readonly input: DialogInput;
}

/** Opens the record of a dialog; what the flags say counts over what it says. @throws as `openReplay` */
export async function replayDialog(
  record: string,
  { cwd, kind, flags, signal }: {
    readonly cwd: string;
    readonly kind: "ask" | "chat";
    readonly flags: DialogFlags & GrantFlags & { readonly record: string | undefined };
    readonly signal: AbortSignal;
  },
): Promise<ReplayedDialog> {
  const { run, kept } = await openReplay(record, { cwd, kind, alsoRecords: flags.record });
  const recorded = dialogInput(run.input);
  const { model, system, temperature, tools, "tools-mode": mode } = flags;
  const input: DialogInput = {
    ...recorded,
    model: model ?? recorded.model,
    modelId: model ?? recorded.modelId,
    ...present({ system, temperature, effort: effortFrom(flags.effort) }),
    tools: tools.length === 0
      ? recorded.tools
      : wholeServers(tools, recorded.tools.map((name) => ({ name }))),
    ...(mode === "native" || mode === "blocks" ? { toolsMode: mode } : {}),
  };
  const at = await recordedPlace(cwd, { cwd, grants: grantsOf(flags), signal });
  return { input, dialog: recordedDialog(input, at), kept };
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
