import { isRecord } from "../core/json.ts";
import type { Span } from "../core/source_error.ts";
import type { AgentPath } from "./agent_path.ts";
import type { AgentFinding, AgentReading } from "./agent_reading.ts";

/** A part of an agent file, and the way to it. */
export class AgentPart {
  readonly value: unknown;
  readonly path: AgentPath;
  /** Absent: the part is not there, and that has been told of what would hold it. */
  readonly #reading: AgentReading | undefined;

  constructor(value: unknown, path: AgentPath, reading?: AgentReading) {
    this.value = value;
    this.path = path;
    this.#reading = reading;
  }

  /** What stands at a key; undefined when nothing does. */
  child(key: string): AgentPart | undefined {
    const { value } = this;
    return isRecord(value) && Object.hasOwn(value, key)
      ? new AgentPart(value[key], [...this.path, key], this.#reading)
      : undefined;
  }

  /** Of a mapping; none of anything else. */
  get keys(): readonly string[] {
    return isRecord(this.value) ? Object.keys(this.value) : [];
  }

  /** Of a list; none of anything else. */
  get items(): readonly AgentPart[] {
    const items: readonly unknown[] = Array.isArray(this.value) ? this.value : [];
    return items.map((item, index) => new AgentPart(item, [...this.path, index], this.#reading));
  }

  /** Notes that it is not what it has to be. */
  refuse(message: string, options: Omit<AgentFinding, "message"> = {}): void {
    this.#reading?.tell(this.path, { ...options, message });
  }

  /** Where its key stands; of an item of a list, where it begins itself. */
  get keySpan(): Span {
    return this.#reading?.span(this.path) ?? { line: 1, column: 1 };
  }

  /** A number or a truth value as it is written in the file. */
  written(value: number | boolean): string {
    return this.#reading?.written(this.path, value) ?? String(value);
  }
}

/** A part that is not there, and of which nothing more is told. */
export const NO_PART: AgentPart = new AgentPart(undefined, []);
