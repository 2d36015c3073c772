import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import type { AnswerStream } from "./answer_stream.ts";
import type { Interruptible } from "./interruptible.ts";
import { RunSummary } from "./run_summary.ts";
import type { RunView } from "./run_view.ts";

/** Who hears of a run. */
export interface FollowOptions {
  readonly terminal: Terminal;
  readonly view: RunView;
  readonly flags: { readonly json?: boolean; readonly jsonl: boolean };
  /** Where the answer of a model goes as it comes. */
  readonly answer?: AnswerStream | undefined;
  /** Ended when nobody reads stdout any more. */
  readonly stop?: Interruptible;
}

/** Takes the events of a run to everybody who wants them, until the run is over. */
export async function followRun(
  events: AsyncIterable<RunEvent>,
  { terminal, view, flags, answer, stop }: FollowOptions,
): Promise<RunSummary> {
  const summary = new RunSummary({ withCalls: flags.json ?? false });
  const { jsonLine }: Pick<typeof import("../render/jsonl.ts"), "jsonLine"> = flags.jsonl
    ? await import("../render/jsonl.ts" as string)
    : { jsonLine: () => "" };
  try {
    for await (const event of events) {
      summary.add(event);
      if (flags.jsonl) await terminal.stdout.write(jsonLine(event));
      await answer?.event(event);
      await view.event(event);
      if (terminal.stdout.closed && answer !== undefined) stop?.leave();
    }
    await answer?.complete(summary.value);
  } finally {
    await answer?.end();
    await view.end();
  }
  return summary;
}
