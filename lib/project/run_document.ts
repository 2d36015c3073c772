import { type FileProblem, givenBlocks, problemLine } from "../check/check_options.ts";
import type { RunEvent } from "../core/core.ts";
import type { Budget } from "../run/budget.ts";
import { runDocumentFile } from "../run/document/document.ts";
import { homeMeans } from "./document/place.ts";
import {
  type CheckableDocument,
  checkProgramDocument,
  type DocumentOptions,
  openProgramDocument,
  programDefaults,
} from "./document/program.ts";

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
  const { home, settings, write, model } = opened;
  const { out = "none", budget = {}, signal, world } = options;
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
  yield* checkedEvents(opened, { means, signal, clock: world?.clock });
}

/** Checks a document and runs it. @throws {DocumentCheckError} with everything that is wrong, before anything runs */
export async function* checkedEvents(
  document: CheckableDocument,
  run: Omit<Parameters<typeof runDocumentFile>[0], "document" | "input">,
): AsyncGenerator<RunEvent> {
  const { input, input: { prompt, values = {} } } = document;
  const checked = await checkProgramDocument(document);
  const { entry, problems } = checked;
  if (entry === undefined || problems.some(({ severity }) => severity === "error")) {
    throw new DocumentCheckError(problems);
  }
  const given = { text: givenBlocks(input, checked), values: new Map(Object.entries(values)), prompt };
  yield* runDocumentFile({ ...run, document: entry, input: given });
}

/** How a document is checked. */
export type CheckDocumentOptions = DocumentOptions;

/**
 * Finds everything that can be known to be wrong with a document before it runs, in its own text and in what it imports and runs
 * (documents.md 1.2): errors, which keep it from running, and warnings. Nothing is run and no file is written.
 *
 * @param file relative to the root of the `world`; without one, to the working folder
 * @throws {TypeError} for a block of the input that is none, {ProblemsError} for mistakes in `orrery.yaml`
 *
 * ```ts
 * import { checkDocument, memoryFiles } from "orrery";
 *
 * const text = "# Plan\n\n@llm\npromt: Go on.\n";
 * const world = { root: "/project", files: memoryFiles({ "plan.md": text }) };
 * for (const { file, line, column, severity, message } of await checkDocument("plan.md", { world })) {
 *   console.log(`${file}:${line}:${column}: ${severity}: ${message}`);
 * }
 * // => plan.md:4:1: error: @llm has no parameter "promt" (did you mean "prompt"?)
 * ```
 */
export async function checkDocument(
  file: string | URL,
  options: CheckDocumentOptions = {},
): Promise<readonly FileProblem[]> {
  await using document = await openProgramDocument(file, options);
  return (await checkProgramDocument(document)).problems;
}

/**
 * A document cannot be run: what is wrong was found before anything ran. The message has a line for each error.
 *
 * ```ts
 * import { DocumentCheckError, memoryFiles, runDocument } from "orrery";
 *
 * const world = { root: "/project", files: memoryFiles({ "plan.md": "@shell\nprompt: date\n" }) };
 * try {
 *   for await (const event of runDocument("plan.md", { world })) console.log(event.type);
 * } catch (error) {
 *   if (error instanceof DocumentCheckError) console.log(error.problems[0]?.message);
 * } // => @shell needs run permission (--allow-run)
 * ```
 */
export class DocumentCheckError extends Error {
  override readonly name = "DocumentCheckError";
  /** Errors and warnings: by file, the document itself first, and by line. */
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    super(problems.filter(({ severity }) => severity === "error").map(problemLine).join("\n"));
    this.problems = problems;
  }
}
