import type { SourceError } from "./source_error.ts";

/** Everything that was found wrong with what a user wrote, thrown together: the message has one `place: text` a line. */
export class ProblemsError extends Error {
  override readonly name = "ProblemsError";
  /** At least one, in the order of the text. */
  readonly problems: readonly SourceError[];

  constructor(problems: readonly SourceError[]) {
    super(problems.map(lineOf).join("\n"));
    this.problems = problems;
  }
}

function lineOf(problem: SourceError): string {
  return problem.place === "" ? problem.message : `${problem.place}: ${problem.message}`;
}
