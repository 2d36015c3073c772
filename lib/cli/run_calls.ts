import type { Catalog } from "../core/catalog.ts";
import type { World } from "../core/world.ts";
import type { Json } from "../core/json.ts";
import type { Terminal } from "../host/terminal.ts";
import type { Markers } from "../parse/call_header.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { ProjectSettings } from "../project/project.ts";
import { printable } from "../render/printable.ts";
import type { Approvals } from "../run/approvals.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { runCalls } from "../run/calls.ts";
import type { Replay } from "../run/replay.ts";
import { endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import { followRun } from "./follow_run.ts";
import type { Interruptible } from "./around_run.ts";
import type { PromptCallsOptions } from "./open_prompt_calls.ts";
import type { DeliverOptions } from "./end_run.ts";
import type { RunView } from "./run_view.ts";

/** A text of calls with everything it needs to run. */
export interface CallsWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly catalog: Catalog;
  readonly world?: World;
  readonly kept: KeptRun | undefined;
  /** Asks about what no flag allows; default: nobody. */
  readonly approvals?: Approvals | undefined;
  /** Answers every effect. */
  readonly replay?: Replay;
  readonly source: {
    readonly name: string;
    readonly isReadOnce: boolean;
    readonly text: Iterable<string> | AsyncIterable<string>;
  };
  readonly markers: Markers;
  readonly limits: CallLimits;
  /** Where the prompts are that the calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
  /** What the run has kept of itself, with the model and the budget of those prompts. Default: what the record of a replay has. */
  readonly asked?: Json;
}

const loadPromptCalls = (): Promise<typeof import("./open_prompt_calls.ts")> =>
  import("./open_prompt_calls.ts" as string);

/** Runs calls to their end and delivers their result; gives the exit code. */
export async function performCalls(work: CallsWork): Promise<number> {
  const { terminal, view, stop, kept, source, markers, catalog, limits } = work;
  const { asked = work.replay?.run.input ?? null } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const events = runCalls(source.text, {
    catalog,
    ...(work.world === undefined ? {} : { clock: work.world.clock }),
    ...(work.replay === undefined ? {} : { replay: work.replay }),
    ...(work.approvals === undefined ? {} : { approvals: work.approvals }),
    markers,
    limits,
    containers: async () => (await loadPromptCalls()).openFilePrompts(asked, promptsOf(work)),
    signal: stop.signal,
    file: source.name,
    isReadOnce: source.isReadOnce,
    ...kept?.options,
  });
  const summary = await namingRecord(kept, { terminal, work: () => followRun(events, work) });
  return await endRun(summary, { ...work, emptyNotice: noCalls(source.name, markers) });
}

function promptsOf({ prompts: place, catalog, limits, world, approvals }: CallsWork): PromptCallsOptions {
  return { place, catalog, limits, world, canAsk: approvals !== undefined };
}

function noCalls(file: string, { start }: Markers): string {
  const name = file === "stdin" ? file : printable(JSON.stringify(file));
  return `notice: nothing ran: no line of ${name} begins with ${printable(start)}\n`;
}

/** The flags over the settings of the project. */
export function limitsOf(
  { config }: ProjectSettings,
  flags: { readonly concurrency?: number | undefined; readonly timeout?: number | undefined },
): { readonly concurrency: number; readonly timeoutMs: number; readonly resultBytes: number } {
  const { concurrency = config.limits.concurrency, timeout } = flags;
  return {
    concurrency,
    timeoutMs: timeout === undefined ? config.limits.timeoutMs : timeout * 1000,
    resultBytes: config.limits.resultBytes,
  };
}
