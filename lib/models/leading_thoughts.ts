// Many local models think in their text: `<think>…</think>` before the answer, or only its end, where the template of their server has
// begun the thought. None of it is the answer: calls in it are not meant, and it fits no contract.

import { type Model, type ModelPart, wrappedModel } from "../core/core.ts";

const OPEN = /<think(?:ing)?>/i;
const LEADING_OPEN = new RegExp(`^\\s*${OPEN.source}`, "i");
/** A text that may become one. */
const MAY_OPEN = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/i;
/** Not where an answer speaks of it. */
const CLOSE = /(?<!["'`])<\/think(?:ing)?>/i;
/** At the end of a piece: what may be the beginning of a tag, and the character before it. */
const TAIL = /[^]?<[^<>]{0,10}$|[^]$/;

/**
 * The model with thoughts at the beginning of its text told as reasoning. Where only the end of a thought is marked, the text before it
 * turns into one when that end comes, and further answers of the model are held back until then.
 *
 * @param opensUnseen the first answer is held back too, since the thoughts of this model may have no beginning
 */
export function withLeadingThoughts(model: Model, opensUnseen: boolean): Model {
  const habit = { opensUnseen };
  return wrappedModel(model, (request) => new Answer(habit).parts(model.stream(request)));
}

class Answer {
  readonly #habit: { opensUnseen: boolean };
  readonly #parts: ModelPart[] = [];
  /** Before a thought, in one, in what may be one, in an answer whose thought may still end, or where no thought can be. */
  #place: "start" | "thought" | "held" | "answer" | "over" = "start";
  /** Text that is not told; in an answer, the tail before it too, which is. */
  #rest = "";
  #told = 0;
  #thought = "";
  #hasThought = false;

  constructor(habit: { opensUnseen: boolean }) {
    this.#habit = habit;
  }

  async *parts(source: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart> {
    for await (const part of source) {
      if (part.type === "text" && this.#place !== "over") {
        this.#rest += part.text;
        while (this.#goOn());
      } else {
        if (!["text", "reasoning", "thought", "retry"].includes(part.type)) this.#flush();
        this.#parts.push(part);
      }
      yield* this.#parts.splice(0);
    }
    this.#flush();
    yield* this.#parts;
  }

  /** Reads on from the place where it is; whether there is more to be read. */
  #goOn(): boolean {
    switch (this.#place) {
      case "start":
        return this.#begin();
      case "thought":
      case "held":
        return this.#think();
      case "answer":
        return this.#answer();
      default:
        return this.#tellRest();
    }
  }

  #begin(): boolean {
    const opening = LEADING_OPEN.exec(this.#rest);
    if (opening === null && MAY_OPEN.test(this.#rest)) return false;
    if (opening !== null) {
      this.#place = "thought";
      this.#rest = this.#rest.slice(opening[0].length);
    } else if (this.#hasThought) {
      this.#place = "over";
      this.#rest = this.#rest.trimStart();
    } else this.#place = this.#habit.opensUnseen || isClosed(this.#rest) ? "held" : "answer";
    return true;
  }

  #think(): boolean {
    const close = CLOSE.exec(this.#rest);
    if (this.#place === "held" && OPEN.test(this.#rest.slice(0, close?.index))) {
      this.#place = "over"; // an answer that says something of thoughts
      this.#rest = this.#thought + this.#rest;
      return true;
    }
    const end = close?.index ?? this.#rest.length - tailLength(this.#rest);
    const piece = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + (close?.[0].length ?? 0));
    this.#thought += piece;
    if (this.#place === "thought") this.#tell("reasoning", piece);
    if (close === null) return false;
    if (this.#place === "held") this.#tell("reasoning", this.#thought);
    this.#habit.opensUnseen ||= this.#place === "held";
    this.#endThought();
    this.#place = "start"; // another one may follow
    return true;
  }

  #answer(): boolean {
    if (OPEN.test(this.#rest)) {
      this.#place = "over"; // it says something of thoughts
      this.#rest = this.#rest.slice(this.#told);
      return true;
    }
    const close = CLOSE.exec(this.#rest);
    const end = close === null ? this.#rest.length : close.index + close[0].length;
    this.#tell("text", this.#rest.slice(this.#told, end));
    this.#told = close === null ? tailLength(this.#rest) : 0;
    this.#rest = this.#rest.slice(end - this.#told);
    if (close === null) return false;
    this.#habit.opensUnseen = true;
    this.#parts.push({ type: "thought", reasoning: { text: "", metadata: {} }, wasText: true });
    this.#place = "over";
    return true;
  }

  #tellRest(): boolean {
    this.#tell("text", this.#rest);
    this.#rest = "";
    return false;
  }

  /** Something else than text comes, or nothing more. */
  #flush(): void {
    if (this.#place === "thought") {
      this.#thought += this.#rest;
      this.#tell("reasoning", this.#rest);
      this.#endThought();
    } else if (this.#place === "held" || (this.#place === "start" && !this.#hasThought)) {
      this.#tell("text", this.#thought + this.#rest);
    }
    if (this.#place === "answer") return;
    this.#place = "over";
    this.#rest = "";
  }

  #tell(type: "text" | "reasoning", text: string): void {
    if (text !== "") this.#parts.push({ type, text });
  }

  /** Shown in traces, and of no provider: it is given back to none. */
  #endThought(): void {
    this.#parts.push({ type: "thought", reasoning: { text: this.#thought.trim(), metadata: {} } });
    this.#thought = "";
    this.#hasThought = true;
  }
}

function tailLength(text: string): number {
  return TAIL.exec(text)?.[0].length ?? 0;
}

/** Whether a thought ends in a text that does not begin there. */
export function isClosed(text: string): boolean {
  const [open, close] = [text.search(OPEN), text.search(CLOSE)];
  return close >= 0 && (open < 0 || open > close);
}
