import type { FileProblem } from "../check/check_options.ts";
import { problemLine } from "../check/problem_line.ts";

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
