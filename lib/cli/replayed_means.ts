import type { Files } from "../core/world.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import type { DocumentResults } from "../service/document_results.ts";
import type { DocumentRunInput } from "../service/document_run_input.ts";

/** What a document works with when a record answers every effect: nothing is touched. */
export function replayedMeans(input: DocumentRunInput, results: DocumentResults): DocumentMeans {
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
