import type { JsonObject, ModelPart, RunEvent, ToolCall, Usage } from "../../core/core.ts";
import { framesOf } from "../../service/runs/reader.ts";
import type { RunHandle, RunState } from "../../service/service.ts";
import { HttpProblem } from "../problem.ts";

/** What all pieces of an answer have in common. */
export interface AnswerHead {
  /** `chatcmpl-…` */
  readonly id: string;
  /** s since 1970. */
  readonly created: number;
  /** As the request named it. */
  readonly model: string;
}

/** An answer while it is being made. Ending it early ends what makes it. */
export interface MadeAnswer {
  readonly head: AnswerHead;
  readonly parts: AsyncIterable<ModelPart>;
  /** Nobody wants it any more. */
  leave(): void;
  /** Such as the id of the run. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Gives the head of a new answer. */
export function answerHead(model: string): AnswerHead {
  return {
    id: `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

/** Why an answer ended, in OpenAI's words. */
export type FinishWord = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * @param options.hasCalls something is called in the answer
 * @param options.isCut a call of it had not ended, so that it was left out
 */
export function finishWord(
  { reason }: Extract<ModelPart, { readonly type: "finish" }>,
  { hasCalls, isCut }: { readonly hasCalls: boolean; readonly isCut: boolean },
): FinishWord {
  if (reason === "filter") return "content_filter";
  if (reason === "length" || isCut) return "length";
  return hasCalls ? "tool_calls" : "stop";
}

/** A whole call, as OpenAI writes it. */
export function callJson({ id, name, arguments: text }: ToolCall): JsonObject {
  return { id, type: "function", function: { name, arguments: text === "" ? "{}" : text } };
}

/** Tokens, as OpenAI counts them. */
export function usageJson({ input, output, cached, reasoning }: Usage): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** What stands between two texts that were said one behind the other. */
export const BETWEEN = "\n\n";

/**
 * Puts together what is told of texts that come piece by piece and then whole. What was told cannot be taken back: where a whole text is not
 * what its pieces were, it is told behind them.
 */
export class ToldText {
  #told = "";
  #open: { readonly step: string; text: string } | undefined;

  /** All that was told. */
  get all(): string {
    return this.#told;
  }

  /** A piece of what a step says; gives what is to be told. */
  piece(step: string, text: string): string {
    if (text === "") return "";
    const before = this.#open?.step === step ? "" : this.#begin(step);
    if (this.#open !== undefined) this.#open.text += text;
    return this.#tell(before + text);
  }

  /** All that a step says; gives what is missing of it. */
  whole(step: string, text: string): string {
    const said = this.#open?.step === step && text.startsWith(this.#open.text) ? this.#open.text : undefined;
    const rest = said === undefined ? text === "" ? "" : this.#begin(step) + text : text.slice(said.length);
    this.#open = undefined;
    return this.#tell(rest);
  }

  /** What was said last is no part of a text that goes on. */
  cut(): void {
    this.#open = undefined;
  }

  #begin(step: string): string {
    this.#open = { step, text: "" };
    return this.#told === "" ? "" : BETWEEN;
  }

  #tell(text: string): string {
    this.#told += text;
    return text;
  }
}

/** How the answer of a run is made of what it tells. */
interface RunAnswerOptions {
  /** As the request named it. */
  readonly model: string;
  /** Only what comes behind this `seq`. */
  readonly after: number;
  readonly headers: MadeAnswer["headers"];
  /** What an event adds to the answer. */
  tell(event: RunEvent): string;
  /** What is missing of it when the run has ended well, and what all of it has used up. */
  rest(state: RunState): Promise<{ readonly text: string; readonly usage: Usage }>;
  /** Nobody wants it any more. */
  onLeave?(): void;
}

/** The answer of a run. */
export function answerOf(run: RunHandle, options: RunAnswerOptions): MadeAnswer {
  const { model, after, headers } = options;
  const reader = run.read({ after });
  let isLeft = false;
  async function* parts(): AsyncGenerator<ModelPart, undefined> {
    for await (const frame of framesOf(reader)) {
      const text = "event" in frame ? options.tell(frame.event) : "";
      if (text !== "") yield { type: "text", text };
    }
    if (isLeft) return;
    const state = await run.ended;
    const failed = maybeFailedRun(state);
    if (failed !== undefined) throw failed;
    const { text, usage } = await options.rest(state);
    if (text !== "") yield { type: "text", text };
    yield { type: "finish", reason: "stop", usage, model };
  }
  return {
    head: answerHead(model),
    parts: parts(),
    leave() {
      isLeft = true;
      reader.leave();
      options.onLeave?.();
    },
    headers,
  };
}

/** What is told of a run that has not ended well; undefined for all others. */
function maybeFailedRun(
  { id, status, error, reason = "" }: Pick<RunState, "id" | "status" | "error" | "reason">,
): HttpProblem | undefined {
  if (status !== "failed" && status !== "stopped") return undefined;
  const [code, text] = FAILURES.get(reason) ?? [reason === "" ? "run_failed" : reason, 422];
  const what = error ?? (status === "stopped" ? "it was stopped" : "it failed");
  return new HttpProblem(text, code, `Run ${id}: ${what}`, {
    more: { run: id },
    headers: NO_RETRY, // what it has done so far is done
  });
}

/** Clients of OpenAI ask again by themselves at most errors, unless they are told not to. */
export const NO_RETRY = { "x-should-retry": "false" } as const;

/** By reason; every other one is the run's own, and a request that was understood. */
const FAILURES: ReadonlyMap<string, readonly [code: string, status: number]> = new Map([
  ["provider", ["provider_error", 502]],
  ["timeout", ["timeout", 504]],
  ["permission", ["permission_denied", 403]],
  ["interrupted", ["stopping", 503]],
]);
