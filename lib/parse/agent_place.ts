import { type LineIndex, lineIndex } from "./line_index.ts";
import type { YamlRange } from "./yaml_problem.ts";

/** A place in the text of an agent file: from 1, and how much of the line it takes. */
export interface AgentPlace {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** The places of a text. */
export class AgentPlaces {
  readonly #text: string;
  readonly #lines: LineIndex;

  constructor(text: string) {
    this.#text = text;
    this.#lines = lineIndex(text);
  }

  /** Of a range, as far as its first line goes. */
  of([start, end]: YamlRange): AgentPlace {
    const lineEnd = this.#text.indexOf("\n", start);
    const length = Math.max(1, Math.min(end, lineEnd === -1 ? this.#text.length : lineEnd) - start);
    return { ...this.#lines(start), length };
  }

  /** Where a place is in the text, from 0. */
  offset({ line, column }: AgentPlace): number {
    let start = 0;
    for (let n = 1; n < line; n++) start = this.#text.indexOf("\n", start) + 1;
    return start + column - 1;
  }
}
