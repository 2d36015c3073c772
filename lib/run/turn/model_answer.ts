import {
  type FinishReason,
  type Json,
  type Message,
  objectOrEmpty,
  type Reasoning,
  toJson,
  type ToolCall,
  type Usage,
} from "../../core/core.ts";

/** What a model answered: the outcome of a model step. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reasoning: readonly Reasoning[];
  readonly finish: FinishReason;
  /** The reason in the provider's own word, where it is none that is known. */
  readonly rawFinish?: string;
  readonly usage: Usage;
  /** Which model it was, after a fallback. */
  readonly model: string;
  /** It is what was left of an answer that broke off: all up to its last whole call. */
  readonly isCut?: boolean;
}

/** Cuts an answer into pieces while it comes: what keeping it costs does not grow with what has come already. */
export class AnswerPieces {
  /** Since the last piece. */
  #text = "";
  /** How much of the answer the pieces have. */
  #kept = { textLength: 0, calls: 0, reasoning: 0 };

  text(text: string): void {
    this.#text += text;
  }

  /** The next piece: what is new in the answer so far, of whose text the first `textLength` UTF-16 units count. */
  cut({ textLength, calls, reasoning }: Pick<ModelAnswer, "calls" | "reasoning"> & {
    readonly textLength: number;
  }): Json {
    const kept = this.#kept;
    const length = textLength - kept.textLength;
    const piece = {
      text: this.#text.slice(0, length),
      calls: calls.slice(kept.calls),
      reasoning: reasoning.slice(kept.reasoning),
    };
    this.#text = this.#text.slice(length);
    this.#kept = { textLength, calls: calls.length, reasoning: reasoning.length };
    return toJson({
      ...(piece.text !== "" && { text: piece.text }),
      ...(piece.calls.length > 0 && { calls: piece.calls }),
      ...(piece.reasoning.length > 0 && { reasoning: piece.reasoning }),
    });
  }
}

/** The answer that the pieces are of. */
export function answerFromPieces(pieces: readonly Json[], model: string): ModelAnswer {
  const answers = pieces.map((piece) => answerFrom(piece, model));
  return {
    ...answerFrom(null, model),
    text: answers.map(({ text }) => text).join(""),
    calls: answers.flatMap(({ calls }) => calls),
    reasoning: answers.flatMap(({ reasoning }) => reasoning),
  };
}

/** Why the answer ended before it was whole; of one that broke off behind a whole call the rest is gone already. */
export function cutOffBy({ finish, rawFinish, isCut }: ModelAnswer): string | undefined {
  if (isCut === true) return undefined;
  switch (finish) {
    case "stop":
    case "calls":
      return undefined;
    case "length":
      return "The answer was cut off by the limit of its length";
    case "filter":
      return "The answer was cut off by a filter";
    case "error":
      return `The answer was cut off by an error${rawFinish === undefined ? "" : ` ("${rawFinish}")`}`;
    case "other":
      return `The answer may be cut off: it ended ${
        rawFinish === undefined ? "without a reason" : `for the reason "${rawFinish}", which is not known`
      }`;
  }
}

/** Why a call of it never runs, for the model. */
export function cutCall(answer: ModelAnswer): string {
  const why = cutOffBy(answer);
  const how = answer.finish === "length" ? ", with shorter arguments" : "";
  return `${
    why === undefined ? "" : `${why}. `
  }The arguments of this call had not ended, so it was not run. Call it again${how}`;
}

/** What is wrong with an answer, with what may be the cause of it: that it was cut off. */
export function whyBad(problem: string, answer: ModelAnswer): string {
  const cut = cutOffBy(answer);
  return cut === undefined ? problem : `${problem.replace(/\.$/, "")}. ${cut}`;
}

/** The answer as a message of the history. */
export function assistantMessage({ text, calls, reasoning }: ModelAnswer): Message {
  return {
    role: "assistant",
    content: text,
    ...(calls.length > 0 && { calls }),
    ...(reasoning.length > 0 && { reasoning }),
  };
}

/** The answer as it is kept. */
export function answerJson(answer: ModelAnswer): Json {
  return toJson(answer);
}

/** An answer that was kept, as {@linkcode answerJson} has made it: nobody else writes there. What is not there was empty. */
export function answerFrom(json: Json, model: string): ModelAnswer {
  const kept: object = objectOrEmpty(json);
  return {
    text: "",
    calls: [],
    reasoning: [],
    finish: "other",
    usage: { input: 0, output: 0 },
    model,
    ...kept,
  };
}
