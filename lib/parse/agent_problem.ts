/** A short stable name of what is wrong with an agent file; a warning of one kind begins with `W` in place of `E`. */
export type AgentCode =
  | "E600"
  | "E601"
  | "E602"
  | "E603"
  | "E604"
  | "E605"
  | "E606"
  | "E607"
  | "W620"
  | "W621"
  | "W622"
  | "W623"
  | "W624"
  | "W625"
  | "W626"
  | "W627"
  | "W628"
  | "W629"
  | "W630"
  | "W631"
  | "W632"
  | "W633"
  | "W634"
  | "W635"
  | "W639";

/** Something that is wrong with an agent file, or that is likely not meant. */
export interface AgentProblem {
  /** As it was named. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** The way to it: `structure.action.chain[1].flow.goto`; `file` for the whole file. */
  readonly path: string;
  /** What was found and what was expected, without the place. */
  readonly message: string;
  readonly severity: "error" | "warning";
  readonly code: AgentCode;
  /** What to do about it, where the message does not say it. */
  readonly hint?: string;
}

/**
 * An agent file cannot be used: everything that is wrong with it, a line each in the message.
 *
 * ```ts
 * import { AgentFileError, loadAgent } from "orrery";
 *
 * try {
 *   await loadAgent({ file: "hello.agent.yml", text: 'version: "0.1"\n' });
 * } catch (error) {
 *   if (error instanceof AgentFileError) console.log(error.message);
 * } // => hello.agent.yml:1:1: error: file: "structure" is required in the file
 * ```
 */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  /** The errors, at least one, in the order of the text. */
  readonly problems: readonly AgentProblem[];

  constructor(problems: readonly AgentProblem[]) {
    super(problems.map(lineOf).join("\n"));
    this.problems = problems;
  }
}

function lineOf({ file, line, column, severity, path, message }: AgentProblem): string {
  return `${file}:${line}:${column}: ${severity}: ${path}: ${message}`;
}
