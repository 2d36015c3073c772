import type { RunEvent, RunKind } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { endOfError } from "./end_reason.ts";
import { Run } from "./run.ts";
import type { RunEnd, RunOptions } from "./run.ts";

/** A run whose value is what a work gives; its events begin with the first read. */
export function workRun(
  kind: RunKind,
  options: RunOptions & { readonly file?: string },
  work: (run: Run) => Promise<Json>,
): AsyncIterable<RunEvent> {
  return endingRun(kind, options, async (run) => ({ status: "done", value: await work(run) }));
}

/** A run that ends as a work says, or with what it throws. */
export function endingRun(
  kind: RunKind,
  options: RunOptions & { readonly file?: string },
  work: (run: Run) => Promise<RunEnd>,
): AsyncIterable<RunEvent> {
  return { [Symbol.asyncIterator]: () => begin(kind, options, work) };
}

function begin(
  kind: RunKind,
  options: RunOptions & { readonly file?: string },
  work: (run: Run) => Promise<RunEnd>,
): AsyncIterator<RunEvent> {
  const run = new Run(options);
  run.start(kind, options.file);
  work(run)
    .catch((error) => endOfThrown(error, run))
    .then((end) => run.end(end))
    .catch((error) => run.events.fail(error));
  return run.events;
}

/** How a run ends whose work threw: whoever interrupts it makes everything in it throw. */
export function endOfThrown(error: unknown, run: Run): RunEnd {
  const end = endOfError(error);
  const isInterrupted = run.signal.aborted && end.reason !== "diverged";
  return isInterrupted ? { status: "stopped", reason: "interrupted" } : end;
}
