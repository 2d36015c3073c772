// The run of an executable document (documents.md). What its operations do are steps of the run: one that was killed goes on at its
// operation, by doing again what no step is needed for.
import { ModelError, type RunEvent } from "../../core/core.ts";
import { LiveDocument } from "../../document/live_document.ts";
import type { DocumentFile } from "../../parse/document/document.ts";
import { documentInputs, type GivenInput } from "./callee.ts";
import { DocumentFailure } from "./failure.ts";
import type { DocumentMeans } from "./means.ts";
import { runFile } from "./run_file.ts";
import { notedTools } from "../turn/offered.ts";
import type { Run, RunEnd, RunOptions } from "../run.ts";
import { endingRun, endOfThrown, modelReason } from "../work_run.ts";

/** A document to be run. It has been checked. */
export interface DocumentRunOptions extends RunOptions {
  readonly document: DocumentFile;
  readonly input: GivenInput;
  readonly means: DocumentMeans;
}

/**
 * Runs a document and tells what happens. The value of `run-end` is what the document returns, else the last answer of a model, as text.
 *
 * The `document` of `run-end` is its text as the run left it.
 *
 * `run-end` is `failed` with the line of the error, `FILE:LINE:1: error: @name: TEXT`, where an operation failed; `stopped` with the reason of
 * a budget, or `interrupted`.
 */
export function runDocumentFile(options: DocumentRunOptions): AsyncIterable<RunEvent> {
  const { document: file, input, means } = options;
  return endingRun("document", { ...options, file: file.path }, async (run) => {
    const live = new LiveDocument(file.tree, { input: documentInputs(file, masked(input, run)) });
    const tools = notedTools(run, { tools: means.tools, keyPrefix: "" });
    try {
      const { returned, answer } = await runFile({
        run,
        means: { ...means, tools },
        file,
        live,
        chain: [file],
        saved: new Set(),
        keyPrefix: "",
      });
      const value = returned?.text ?? answer;
      return { status: "done", ...(value === undefined ? {} : { value }), document: live.print() };
    } catch (error) {
      const end = error instanceof DocumentFailure ? endOfFailure(error) : endOfThrown(error, run);
      return { ...end, document: live.print() };
    }
  });
}

/** As the journal keeps it: a resumed run is given the same. */
function masked(input: GivenInput, run: Run): GivenInput {
  const { values, ...texts } = input;
  return { ...run.mask(texts), values: new Map(run.mask([...values])) };
}

/** What a provider did not answer may be asked again when the run is resumed. */
function endOfFailure(failure: DocumentFailure): RunEnd {
  const cause = rootCause(failure);
  const isOfProvider = cause instanceof ModelError && modelReason(cause) === "provider";
  return { status: "failed", error: failure.message, ...(isOfProvider && { keepAs: "stopped" }) };
}

function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && !(cause instanceof ModelError) && cause.cause !== undefined) {
    cause = cause.cause;
  }
  return cause;
}
