import { byPlace } from "../core/by_place.ts";
import type { Span } from "../core/source_error.ts";
import { MOST_TOLD } from "./check_fields.ts";
import { type AgentPath, agentPathText } from "./agent_path.ts";
import type { AgentCode, AgentProblem } from "./agent_problem.ts";
import type { AgentYaml } from "./agent_yaml.ts";

/** What is told of a part of the file. */
export interface AgentFinding {
  readonly message: string;
  /** Default: `E600`. */
  readonly code?: AgentCode;
  /** Default: an error. */
  readonly severity?: AgentProblem["severity"];
  readonly hint?: string;
  /** Where to look: the value (the default) or its key, or a key inside it. */
  readonly at?: "value" | "key" | { readonly key: string };
}

/** One look through an agent file: gathers what is wrong in it. */
export class AgentReading {
  readonly #file: string;
  readonly #yaml: AgentYaml;
  readonly #problems: AgentProblem[] = [];
  #isSound: boolean;
  /** Parts that are no good YAML: what they were taken for is nobody's mistake. */
  readonly #broken = new Set<string>();

  constructor(yaml: AgentYaml, file: string) {
    this.#file = file;
    this.#yaml = yaml;
    this.#isSound = yaml.problems.length === 0;
    for (const { path, broken, length: _length, ...problem } of yaml.problems) {
      if (broken !== undefined) this.#broken.add(agentPathText(broken));
      this.#problems.push({ file, ...problem, path: agentPathText(path), severity: "error" });
    }
  }

  /** Notes what is wrong; so many problems are noted of one file as of any other. */
  tell(
    path: AgentPath,
    { at = "value", code = "E600", severity = "error", message, hint }: AgentFinding,
  ): void {
    const text = agentPathText(path);
    if (this.#broken.has(text)) return;
    if (severity === "error") this.#isSound = false;
    if (this.#problems.length >= MOST_TOLD) return;
    const { line, column } = typeof at === "string"
      ? this.#yaml.place(path, at)
      : this.#yaml.place([...path, at.key], "key");
    const said = { path: text, message, severity, code, hint };
    this.#problems.push({ file: this.#file, line, column, ...said });
  }

  /** Where the key of a part stands. */
  span(path: AgentPath): Span {
    return { file: this.#file, ...this.#yaml.place(path, "key") };
  }

  /** A number or a truth value as it is written. */
  written(path: AgentPath, value: number | boolean): string {
    return this.#yaml.written(path) ?? String(value);
  }

  /** Whether there was no error, told or not. */
  get isSound(): boolean {
    return this.#isSound;
  }

  /** Whether there are errors, and so many that no more are noted. */
  get isFull(): boolean {
    return !this.#isSound && this.#problems.length >= MOST_TOLD;
  }

  /** In the order of the text. */
  get problems(): readonly AgentProblem[] {
    return this.#problems.toSorted(byPlace);
  }
}
