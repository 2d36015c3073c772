import type { AgentProblem } from "./agent_problem.ts";

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
