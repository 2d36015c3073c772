import { byPlace } from "../core/by_place.ts";
import type { DocumentProblem } from "../parse/document/tree.ts";
import type { FileProblem } from "./check_options.ts";

/** Where a problem is told; a column that is left out is the first. */
export interface ProblemPlace {
  /** Empty for what is in no file. */
  readonly file: string;
  readonly line: number;
}

/** What is in no file: options of the command line. */
export const NO_FILE: ProblemPlace = { file: "", line: 0 };

/** Collects problems in any order, each once. */
export class ProblemList {
  readonly #byFile = new Map<string, Map<string, FileProblem>>([["", new Map()]]);

  /** Gives a file its place among the others. */
  name(file: string): void {
    if (!this.#byFile.has(file)) this.#byFile.set(file, new Map());
  }

  add(file: string, { severity, line, column, message }: DocumentProblem): void {
    this.name(file);
    const key = `${line}:${column}:${severity}:${message}`;
    const problems = this.#byFile.get(file);
    if (!problems?.has(key)) problems?.set(key, { file, severity, line, column, message });
  }

  error({ file, line }: ProblemPlace, message: string): void {
    this.add(file, { severity: "error", line, column: 1, message });
  }

  warn({ file, line }: ProblemPlace, message: string): void {
    this.add(file, { severity: "warning", line, column: 1, message });
  }

  /** By file in the order in which they were named, and by line and column. */
  sorted(): readonly FileProblem[] {
    return [...this.#byFile.values()].flatMap((problems) => [...problems.values()].sort(byPlace));
  }
}
