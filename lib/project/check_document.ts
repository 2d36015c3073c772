import type { FileProblem } from "../check/check_options.ts";
import { checkProgramDocument, openProgramDocument } from "./program_document.ts";
import type { DocumentOptions } from "./program_document.ts";

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
