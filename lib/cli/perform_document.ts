import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { Interruptible } from "./around_run.ts";
import type { DocumentResults } from "../service/document_results.ts";
import { endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import type { DeliverOptions } from "./end_run.ts";
import { followRun } from "./run_view.ts";
import type { RunView } from "./run_view.ts";

/** A document that is about to run. */
export interface DocumentWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly results: DocumentResults;
  readonly kept: KeptRun | undefined;
  /** Of its run. */
  readonly events: AsyncIterable<RunEvent>;
}

/** Runs a document and delivers what it gives; gives the exit code. */
export async function performDocument(work: DocumentWork): Promise<number> {
  const { terminal, view, stop, kept, results, events } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const summary = await namingRecord(kept, { terminal, work: () => followRun(events, work) });
  const { shown } = results;
  if (shown !== undefined) await terminal.stdout.write(shown);
  return await endRun(summary, { ...work, isShown: shown !== undefined, endsLine: true });
}
