import type { Clock } from "../core/clock.ts";
import type { RunEvent } from "../core/event.ts";
import { messageOf } from "../core/source_error.ts";
import { Run } from "./run.ts";

/** Does a work in a run that nobody keeps; its events go to whoever wants them. */
export async function inOwnRun<Result>(
  options: {
    readonly clock: Clock;
    readonly signal?: AbortSignal;
    readonly onEvent?: (event: RunEvent) => void;
  },
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { clock, signal, onEvent } = options;
  const run = new Run({ clock, signal });
  run.start("prompt", undefined);
  const told = tell(run.events, onEvent);
  told.catch(() => undefined); // thrown below, when the work has ended
  try {
    const result = await work(run);
    run.end({ status: "done" });
    return result;
  } catch (error) {
    run.end({ status: run.signal.aborted ? "stopped" : "failed", error: messageOf(error) });
    throw error;
  } finally {
    await told;
  }
}

async function tell(
  events: AsyncIterable<RunEvent>,
  onEvent: ((event: RunEvent) => void) | undefined,
): Promise<void> {
  for await (const event of events) onEvent?.(event);
}
