import { EMPTY_CATALOG } from "../core/catalog.ts";
import type { Files } from "../core/world.ts";
import { readDocument } from "../parse/document/document.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import {
  documentEvents,
  DocumentResults,
  type DocumentRunInput,
  documentRunInput,
} from "../service/start/document.ts";
import { UsageError } from "../service/exit_code.ts";
import { documentView } from "./document_view.ts";
import { openReplay } from "./open_replay.ts";
import { performDocument } from "./perform_document.ts";
import { assertSameText, latePrompts } from "./replay_calls.ts";
import type { DocumentCommand } from "./run_document_once.ts";

/** Runs the document of a record again, every effect answered by it. @throws {ReplayError} when the file is not the recorded one any more */
export async function replayDocument(
  word: string,
  { flags, terminal, cwd, stop, record }: DocumentCommand & { readonly record: string },
): Promise<number> {
  const opened = await openReplay(record, { cwd, kind: "document", alsoRecords: flags.record });
  const { run } = opened.replay;
  const [stored] = run.files ?? [];
  if (stored === undefined) {
    throw new UsageError([`${JSON.stringify(record)} has no document in it`], { command: "run" });
  }
  await assertSameText(word, { opened, cwd, record });
  const input = documentRunInput(run.input);
  const results = new DocumentResults(flags.out ?? "none", { root: cwd, cwd });
  const view = await documentView(terminal, flags);
  const events = documentEvents({
    document: await readDocument(stored.text, { path: stored.path }),
    input,
    means: replayedMeans(input, results),
    signal: stop.signal,
    approvals: undefined,
    called: { catalog: EMPTY_CATALOG, place: latePrompts(cwd, { cwd, flags }) },
    replay: opened.replay,
  }, {});
  return await performDocument({
    terminal,
    flags,
    root: cwd,
    cwd,
    stop,
    view,
    results,
    kept: undefined,
    events,
  });
}

/** What a document works with when a record answers every effect: nothing is touched. */
function replayedMeans(input: DocumentRunInput, results: DocumentResults): DocumentMeans {
  const { model, mode, showsOperations, budget } = input;
  return {
    root: "/",
    files: NO_FILES,
    maySave: () => true,
    shell: { run: untouched },
    script: { command: "sh", args: () => [], inherit: [] },
    models: { find: untouched },
    tools: { find: () => undefined, names: () => Promise.resolve([]) },
    flags: { model, mode },
    defaults: input.defaults,
    showsOperations,
    budget,
    calls: {},
    random: () => 0,
    check: () => Promise.resolve([]),
    result: (document) => results.keep(document),
  };
}

const untouched = (): never => {
  throw new Error("A replay touches nothing");
};

const NO_FILES: Files = {
  resolve: untouched,
  stat: untouched,
  readBytes: untouched,
  readText: untouched,
  writeText: untouched,
  list: untouched,
};
