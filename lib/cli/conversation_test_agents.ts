import { dirname, join } from "../core/path.ts";
import { SourceError } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import type { AgentFile } from "../parse/agent_file.ts";
import type { AgentProblem } from "../parse/agent_problem.ts";
import { readAgentFile } from "../parse/read_agent_file.ts";
import type { TestField } from "./test_field.ts";
import type { TestSource } from "./file_test.ts";

/** The agents that a file of tests names, each read once. */
export class TestAgents {
  /** What is wrong with them, in their own files. */
  readonly problems: SourceError[] = [];
  readonly #folder: string;
  readonly #shown: string;
  readonly #agents = new Map<string, Promise<AgentFile | undefined>>();

  constructor({ path, file }: TestSource) {
    this.#folder = dirname(path);
    this.#shown = dirname(file);
  }

  /** The agent of a file, named relative to the folder of the tests; undefined when it cannot be used. */
  find(field: TestField): Promise<AgentFile | undefined> {
    const name = field.text();
    if (name === undefined) return Promise.resolve(undefined);
    let agent = this.#agents.get(name);
    if (agent === undefined) this.#agents.set(name, agent = this.#read(name, field));
    return agent;
  }

  async #read(name: string, field: TestField): Promise<AgentFile | undefined> {
    try {
      const text = await hostFiles({ root: this.#folder }).readText(name);
      const { agent, problems } = await readAgentFile(text, { file: join(this.#shown, name) });
      const errors = problems.filter(({ severity }) => severity === "error");
      this.problems.push(...errors.map((problem) => errorOf(problem, text)));
      return agent;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      field.problem(error.message);
      return undefined;
    }
  }
}

function errorOf(
  { file, line, column, path, message, code, hint }: AgentProblem,
  source: string,
): SourceError {
  return new SourceError(`${path}: ${message}`, {
    span: { file, line, column },
    source,
    code,
    hint,
  });
}
