import { typedPath } from "../catalog/paths.ts";
import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { DocumentResults } from "../service/start/document.ts";
import type { Interruptible } from "./around_run.ts";
import { type DeliverOptions, endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import { followRun, type RunView } from "./run_view.ts";

/** A document that is about to run. */
export interface DocumentWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly root: string;
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
  const shows = { ...work, view: typingPaths(view, work) };
  const summary = await namingRecord(kept, { terminal, work: () => followRun(events, shows) });
  const { shown } = results;
  if (shown !== undefined) await terminal.stdout.write(shown);
  return await endRun(summary, { ...work, isShown: shown !== undefined, endsLine: true });
}

/** Names files as they are typed in the working folder, which events name from the root (documents.md 1.3). */
function typingPaths(
  view: RunView,
  place: Pick<DocumentWork, "root" | "cwd">,
): Pick<RunView, "event" | "end"> {
  if (place.root === place.cwd) return view;
  const operation = (name: string): string =>
    name.replace(
      /^(@\S+ )(.+)(?=:\d+$)/,
      (_, before: string, file: string) => before + typedPath(file, place),
    );
  const message = (text: string): string =>
    text.replace(/^.+?(?=:\d+:\d+: error: )/, (file) => typedPath(file, place));
  const typed = (event: RunEvent): RunEvent => {
    if (event.type === "step-start") return { ...event, name: operation(event.name) };
    if (event.type === "step-skip" && event.name !== undefined) {
      return { ...event, name: operation(event.name) };
    }
    if (event.type === "warning" && event.file !== undefined) {
      return { ...event, file: typedPath(event.file, place) };
    }
    if (event.type === "run-end" && event.error !== undefined) {
      return { ...event, error: message(event.error) };
    }
    if (event.type !== "step-end" || event.error === undefined) return event;
    return { ...event, error: { ...event.error, message: message(event.error.message) } };
  };
  return { event: (event) => view.event(typed(event)), end: () => view.end() };
}
