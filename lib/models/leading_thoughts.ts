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
  return wrappedModel(model, (request) => toldThoughts(model.stream(request), habit));
}

/** Before a thought, in one, in what may be one, in an answer whose thought may still end, or where no thought can be. */
type Place = "start" | "thought" | "held" | "answer" | "over";

async function* toldThoughts(
  source: AsyncIterable<ModelPart>,
  habit: { opensUnseen: boolean },
): AsyncGenerator<ModelPart> {
  /** To be given next. */
  const parts: ModelPart[] = [];
  let place = "start" as Place;
  /** Text that is not told; in an answer, the tail before it too, which is. */
  let rest = "";
  let told = 0;
  let thought = "";
  let hasThought = false;

  const tell = (type: "text" | "reasoning", text: string): void => {
    if (text !== "") parts.push({ type, text });
  };
  /** Shown in traces, and of no provider: it is given back to none. */
  const endThought = (): void => {
    parts.push({ type: "thought", reasoning: { text: thought.trim(), metadata: {} } });
    thought = "";
    hasThought = true;
  };

  // What stands at each place is read from `rest`, and whether there is more to be read.
  const readers: Readonly<Record<Place, () => boolean>> = {
    start() {
      const opening = LEADING_OPEN.exec(rest);
      if (opening === null && MAY_OPEN.test(rest)) return false;
      if (opening !== null) {
        place = "thought";
        rest = rest.slice(opening[0].length);
      } else if (hasThought) {
        place = "over";
        rest = rest.trimStart();
      } else place = habit.opensUnseen || isClosed(rest) ? "held" : "answer";
      return true;
    },
    thought: () => readThought("thought"),
    held: () => readThought("held"),
    answer() {
      if (OPEN.test(rest)) {
        place = "over"; // it says something of thoughts
        rest = rest.slice(told);
        return true;
      }
      const close = CLOSE.exec(rest);
      const end = close === null ? rest.length : close.index + close[0].length;
      tell("text", rest.slice(told, end));
      told = close === null ? tailLength(rest) : 0;
      rest = rest.slice(end - told);
      if (close === null) return false;
      habit.opensUnseen = true;
      parts.push({ type: "thought", reasoning: { text: "", metadata: {} }, wasText: true });
      place = "over";
      return true;
    },
    over() {
      tell("text", rest);
      rest = "";
      return false;
    },
  };
  const readThought = (kind: "thought" | "held"): boolean => {
    const close = CLOSE.exec(rest);
    if (kind === "held" && OPEN.test(rest.slice(0, close?.index))) {
      place = "over"; // an answer that says something of thoughts
      rest = thought + rest;
      return true;
    }
    const end = close?.index ?? rest.length - tailLength(rest);
    const piece = rest.slice(0, end);
    rest = rest.slice(end + (close?.[0].length ?? 0));
    thought += piece;
    if (kind === "thought") tell("reasoning", piece);
    if (close === null) return false;
    if (kind === "held") tell("reasoning", thought);
    habit.opensUnseen ||= kind === "held";
    endThought();
    place = "start"; // another one may follow
    return true;
  };
  /** Something else than text comes, or nothing more. */
  const flush = (): void => {
    if (place === "thought") {
      thought += rest;
      tell("reasoning", rest);
      endThought();
    } else if (place === "held" || (place === "start" && !hasThought)) tell("text", thought + rest);
    if (place === "answer") return;
    place = "over";
    rest = "";
  };

  for await (const part of source) {
    if (part.type === "text" && place !== "over") {
      rest += part.text;
      while (readers[place]());
    } else {
      if (!["text", "reasoning", "thought", "retry", "warning"].includes(part.type)) flush();
      parts.push(part);
    }
    for (const each of parts.splice(0)) yield each;
  }
  flush();
  yield* parts;
}

function tailLength(text: string): number {
  return TAIL.exec(text)?.[0].length ?? 0;
}

/** Whether a thought ends in a text that does not begin there. */
export function isClosed(text: string): boolean {
  const [open, close] = [text.search(OPEN), text.search(CLOSE)];
  return close >= 0 && (open < 0 || open > close);
}
