// A secret that a model says in pieces is one still: it is taken out before anybody gets the pieces, a record too.

import { parseJson } from "../core/json.ts";
import type { ToolCall } from "../core/message.ts";
import type { ModelPart } from "../core/model.ts";
import type { Secrets } from "../core/secrets.ts";

type PieceType = "text" | "reasoning";

/** The parts of one answer, with the secrets taken out of them. */
export class MaskedParts {
  readonly #secrets: Secrets;
  readonly #streams: Readonly<Record<PieceType, ReturnType<Secrets["stream"]>>>;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
    this.#streams = { text: secrets.stream(), reasoning: secrets.stream() };
  }

  /** Gives what may be told by now. How a call grows is told no more: the whole call comes. */
  push(part: ModelPart): readonly ModelPart[] {
    switch (part.type) {
      case "text":
      case "reasoning":
        return piece(part.type, this.#streams[part.type].push(part.text));
      case "call-delta":
        return [];
      case "call":
        return [{
          ...part,
          call: { ...this.#secrets.maskJson(part.call), arguments: this.#arguments(part.call) },
        }];
      case "finish":
        return [...this.end(), this.#secrets.maskJson(part)];
      case "thought":
        return [...(part.wasText === true ? this.end() : []), this.#secrets.maskJson(part)];
      default:
        return [this.#secrets.maskJson(part)];
    }
  }

  /** Text within JSON within JSON would be escaped twice: the values are what is looked through. */
  #arguments({ arguments: given }: ToolCall): string {
    try {
      const values = parseJson(given);
      const masked = this.#secrets.maskJson(values);
      return masked === values ? given : JSON.stringify(masked);
    } catch {
      return this.#secrets.mask(given);
    }
  }

  /** Gives what was held back. */
  end(): readonly ModelPart[] {
    const { text, reasoning } = this.#streams;
    return [...piece("reasoning", reasoning.end()), ...piece("text", text.end())];
  }
}

function piece(type: PieceType, text: string): readonly ModelPart[] {
  return text === "" ? [] : [{ type, text }];
}
