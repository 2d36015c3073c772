import type { RunEvent } from "../core/event.ts";
import type { RunJournal } from "../core/journal.ts";
import type { Terminal } from "../host/terminal.ts";
import type { DocumentFile } from "../parse/document_file.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { Approvals } from "../run/approvals.ts";
import { runDocumentFile } from "../run/document.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import type { Replay } from "../run/replay.ts";
import type { Interruptible } from "./around_run.ts";
import type { DocumentResults } from "./document_results.ts";
import type { DocumentRunInput } from "./document_run_input.ts";
import { endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import type { DeliverOptions } from "./end_run.ts";
import { followRun } from "./follow_run.ts";
import type { PromptCallsOptions } from "./open_prompt_calls.ts";
import type { RunView } from "./run_view.ts";

/** A document that is about to run. */
export interface DocumentWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly document: DocumentFile;
  readonly input: DocumentRunInput;
  readonly means: DocumentMeans;
  readonly results: DocumentResults;
  readonly kept: KeptRun | undefined;
  /** Gives what is put in front of the run's journal, or in place of one that is not there. */
  readonly journal?: (kept: RunJournal | undefined) => RunJournal;
  readonly replay?: Replay | undefined;
  readonly approvals?: Approvals | undefined;
  /** Where the prompts are that its tools may ask. */
  readonly called: Pick<PromptCallsOptions, "place" | "catalog" | "world" | "canAsk">;
}

/** Runs a document and delivers what it gives; gives the exit code. */
export async function performDocument(work: DocumentWork): Promise<number> {
  const { terminal, view, stop, kept, results } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const events = eventsOf(work);
  const summary = await namingRecord(kept, { terminal, work: () => followRun(events, work) });
  const { shown } = results;
  if (shown !== undefined) await terminal.stdout.write(shown);
  return await endRun(summary, { ...work, isShown: shown !== undefined, endsLine: true });
}

const loadPromptCalls = (): Promise<typeof import("./open_prompt_calls.ts")> =>
  import("./open_prompt_calls.ts" as string);

function eventsOf(work: DocumentWork): AsyncIterable<RunEvent> {
  const { document, input, means, stop, replay, approvals, kept, journal, called } = work;
  const { budget, limits, model: modelName } = input;
  return runDocumentFile({
    document,
    means,
    input: {
      text: input.text,
      values: new Map(Object.entries(input.values)),
      ...(input.prompt === undefined ? {} : { prompt: input.prompt }),
    },
    signal: stop.signal,
    containers: async () =>
      (await loadPromptCalls()).openPromptCalls({ ...called, budget, limits, modelName }),
    ...(replay === undefined ? {} : { replay }),
    ...(approvals === undefined ? {} : { approvals }),
    ...kept?.options,
    ...(journal && { journal: journal(kept?.options.journal) }),
  });
}
