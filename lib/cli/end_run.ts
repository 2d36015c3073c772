import type { JournalStatus } from "../core/journal.ts";
import { messageOf } from "../core/source_error.ts";
import type { Terminal } from "../host/terminal.ts";
import type { KeptRun } from "../project/open_run.ts";
import { printable } from "../render/printable.ts";
import { EXIT } from "./exit_code.ts";
import type { Interruptible } from "./interruptible.ts";
import { deliverResult } from "./run_result.ts";
import type { DeliverOptions } from "./run_result.ts";
import type { RunSummary } from "./run_summary.ts";

/** What is known when a run is over. */
export interface EndRunOptions extends Omit<DeliverOptions, "isInterrupted"> {
  readonly stop: Interruptible;
  readonly kept: KeptRun | undefined;
}

/** Puts away what is kept of a run, writes its result where it belongs, and gives the exit code. */
export async function endRun(summary: RunSummary, options: EndRunOptions): Promise<number> {
  const { terminal, stop, kept } = options;
  const { status, problem } = await closed(kept, summary);
  const code = await deliverResult(summary, { ...options, isInterrupted: stop.isInterrupted });
  if (problem !== undefined) await terminal.stderr.write(`error: ${printable(problem)}\n`);
  if (
    (status === "stopped" || status === "held") && kept?.id !== undefined && !options.flags.quiet &&
    !stop.hasLeft
  ) {
    await terminal.stderr.write(`${status}; to go on: orrery resume ${kept.id}\n`);
  }
  if (stop.hasLeft && !stop.isInterrupted) return EXIT.ok;
  return problem === undefined ? code : Math.max(code, EXIT.failed);
}

/** Does the work; when it fails, says where the record is that could not be finished. */
export async function namingRecord<Result>(
  kept: KeptRun | undefined,
  { terminal, work }: { readonly terminal: Terminal; readonly work: () => Promise<Result> },
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (kept?.partialRecord !== undefined) {
      await terminal.stderr.write(`the record so far: ${printable(kept.partialRecord)}\n`);
    }
    throw error;
  }
}

/** Before the process ends at once: names what is left. */
export function sayWhatIsLeft(terminal: Terminal, kept: KeptRun | undefined): void {
  if (kept?.partialRecord !== undefined) {
    terminal.stderr.writeNow(`the record so far: ${printable(kept.partialRecord)}\n`);
  }
  if (kept?.id !== undefined) terminal.stderr.writeNow(`stopped; to go on: orrery resume ${kept.id}\n`);
}

async function closed(
  kept: KeptRun | undefined,
  { status }: RunSummary,
): Promise<{ readonly status?: JournalStatus | undefined; readonly problem?: string }> {
  try {
    return { status: await kept?.close(status) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
