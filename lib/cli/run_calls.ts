import type { Catalog } from "../core/catalog.ts";
import type { Json } from "../core/json.ts";
import type { World } from "../core/world.ts";
import type { Terminal } from "../host/terminal.ts";
import type { Markers } from "../parse/calls/header.ts";
import type { KeptRun } from "../project/open_run.ts";
import { printable } from "../render/shown_text.ts";
import type { Approvals } from "../run/approvals.ts";
import type { CallLimits } from "../run/call_graph.ts";
import type { Replay } from "../run/replay.ts";
import { callsEvents } from "../service/start/calls.ts";
import type { PromptCallsOptions } from "../service/prompt/containers.ts";
import type { Interruptible } from "./around_run.ts";
import { type DeliverOptions, endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import { followRun, type RunView } from "./run_view.ts";

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
  readonly approvals?: Approvals;
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

/** Runs calls to their end and delivers their result; gives the exit code. */
export async function performCalls(work: CallsWork): Promise<number> {
  const { terminal, view, stop, kept, source, markers } = work;
  const { asked = work.replay?.run.input ?? null } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const events = callsEvents({ ...work, source, asked, signal: stop.signal }, kept?.options ?? {});
  const summary = await namingRecord(kept, { terminal, work: () => followRun(events, work) });
  return await endRun(summary, { ...work, emptyNotice: noCalls(source.name, markers) });
}

function noCalls(file: string, { start }: Markers): string {
  const name = file === "stdin" ? file : printable(JSON.stringify(file));
  return `notice: nothing ran: no line of ${name} begins with ${printable(start)}\n`;
}
