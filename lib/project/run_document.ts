import type { CheckedDocument } from "../check/check_options.ts";
import { givenBlocks } from "../check/given_blocks.ts";
import type { RunEvent } from "../core/event.ts";
import type { DocumentFile } from "../parse/document/document.ts";
import type { Budget } from "../run/budget.ts";
import { runDocumentFile } from "../run/document.ts";
import { DocumentCheckError } from "./document_check_error.ts";
import { homeMeans } from "./document_home.ts";
import {
  checkProgramDocument,
  type DocumentOptions,
  openProgramDocument,
  programDefaults,
  type ProgramDocument,
} from "./program_document.ts";

/** How a document is run. */
export interface RunDocumentOptions extends DocumentOptions {
  /** Where the result document is written: relative to the root of the `world`; without one, to the working folder. Default `none`. */
  readonly out?: string;
  /** What it may use up. Default: no bound. */
  readonly budget?: Budget;
  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/**
 * Checks a document, then runs it and tells what happens (documents.md, events.md). The file is not changed and, unless `out` names one,
 * none is written: the last event is `run-end` with the `document` as the run left it, and as `value` what it returns, else the last
 * answer of a model. Where an operation failed, its `status` is `failed`, and `error` says which and why. Leaving the loop early aborts
 * the run.
 *
 * @param file relative to the root of the `world`; without one, to the working folder
 * @throws {DocumentCheckError} before anything runs, with everything that is wrong; {TypeError} for a block of the input that is none;
 * {ProblemsError} for mistakes in `orrery.yaml`
 *
 * ```ts
 * import { fakeModel, memoryFiles, runDocument } from "orrery";
 *
 * const text = "# Question\n\nWhich colour has the sky?\n\n@llm\nprompt: Answer in one word.\nuse-header: \"# Answer\"\n";
 * const world = { root: "/project", files: memoryFiles({ "sky.md": text }) };
 * for await (const event of runDocument("sky.md", { world, model: fakeModel(["Blue."]) })) {
 *   if (event.type !== "run-end") continue;
 *   console.log(event.status, event.value); // => done Blue.
 *   console.log(event.document?.endsWith("# Answer\nBlue.\n")); // => true
 * }
 * ```
 */
export function runDocument(
  file: string | URL,
  options: RunDocumentOptions = {},
): AsyncIterable<RunEvent> {
  return { [Symbol.asyncIterator]: () => eventsOf(file, options) };
}

async function* eventsOf(file: string | URL, options: RunDocumentOptions): AsyncGenerator<RunEvent> {
  options.signal?.throwIfAborted();
  await using opened = await openProgramDocument(file, options);
  const checked = await checkProgramDocument(opened);
  const { entry, problems } = checked;
  if (entry === undefined || problems.some(({ severity }) => severity === "error")) {
    throw new DocumentCheckError(problems);
  }
  yield* performed(opened, { entry, checked, options });
}

function performed(
  { home, settings, input, model, write }: ProgramDocument,
  { entry, checked, options }: {
    readonly entry: DocumentFile;
    readonly checked: CheckedDocument;
    readonly options: RunDocumentOptions;
  },
): AsyncIterable<RunEvent> {
  const { out = "none", budget = {}, signal, world } = options;
  const { prompt, values = {} } = input;
  const means = homeMeans(home, {
    wishes: {
      defaults: programDefaults(settings),
      showsOperations: settings.showsOperations,
      budget,
      limits: {},
      model,
    },
    ...(out === "none" ? {} : {
      result: async ({ text, depth }) => {
        if (depth === 1) await write(out, text);
      },
    }),
  });
  return runDocumentFile({
    document: entry,
    means,
    input: {
      text: givenBlocks(input, checked),
      values: new Map(Object.entries(values)),
      prompt,
    },
    signal,
    clock: world?.clock,
  });
}
