// Answers and errors as clients of OpenAI know them, and how the answer of a run is made of what it tells.
import {
  decodeSegment,
  isRecord,
  type JsonObject,
  ModelError,
  type ModelErrorCode,
  type ModelPart,
  type RunEvent,
  type ToolCall,
  type Usage,
} from "../../core/core.ts";
import { isInsideCall } from "../../render/shown_text.ts";
import { framesOf } from "../../service/runs/history.ts";
import type { RunHandle, RunState } from "../../service/service.ts";
import { json } from "../answers.ts";
import { HttpProblem, type ProblemDetails } from "../problem.ts";

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
  readonly parts: AsyncGenerator<ModelPart, undefined>;
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

/** The last part of an answer. */
export type Finish = Extract<ModelPart, { readonly type: "finish" }>;

/**
 * Why an answer ended, in OpenAI's words.
 *
 * @param options.hasCalls something is called in the answer
 * @param options.isCut a call of it had not ended, so that it was left out
 */
export function finishWord(
  { reason }: Finish,
  { hasCalls, isCut }: { readonly hasCalls: boolean; readonly isCut: boolean },
): string {
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
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
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
  #open: { readonly step: string; readonly text: string } | undefined;

  /** All that was told. */
  get all(): string {
    return this.#told;
  }

  /** A piece of what a step says; gives what is to be told. */
  piece(step: string, text: string): string {
    if (text === "") return "";
    const before = this.#open?.step === step ? this.#open.text : undefined;
    this.#open = { step, text: (before ?? "") + text };
    return this.#tell(text, before !== undefined);
  }

  /** All that a step says; gives what is missing of it. */
  whole(step: string, text: string): string {
    const open = this.#open;
    this.cut();
    if (open?.step === step && text.startsWith(open.text)) {
      return this.#tell(text.slice(open.text.length), true);
    }
    return text === "" ? "" : this.#tell(text, false);
  }

  /** What was said last is no part of a text that goes on. */
  cut(): void {
    this.#open = undefined;
  }

  #tell(text: string, goesOn: boolean): string {
    const told = goesOn || this.#told === "" ? text : BETWEEN + text;
    this.#told += told;
    return told;
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
  /** What models think on the way is told too, apart from the answer. */
  readonly showsThoughts?: true;
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
      if (!("event" in frame)) continue;
      const { event } = frame;
      const isThought = event.type === "reasoning-delta" && options.showsThoughts;
      if (isThought && !isInsideCall(event.step)) yield { type: "reasoning", text: event.text };
      const text = options.tell(event);
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

/** A field of the request that cannot be taken. @param param as `messages[0].content` */
export function badField(param: string, detail: string, code = "invalid_value"): HttpProblem {
  return new HttpProblem(400, code, `${param}: ${detail}`, { more: { param } });
}

/** A problem as an answer. */
export function tellOpenAiProblem(problem: ProblemDetails): Response {
  const { status, headers } = problem;
  return json(openAiProblemJson(problem), { status, headers });
}

/** The same as JSON. */
export function openAiProblemJson({ status, code, detail, more = {} }: ProblemDetails): JsonObject {
  return { error: { message: detail, type: typeOfStatus(status), param: paramOf(more), code } };
}

/** The field that is at fault: what was said of it, or where the schema found it. */
function paramOf({ param, issues }: JsonObject): string | null {
  if (typeof param === "string") return param;
  const [first] = Array.isArray(issues) ? issues : [];
  const pointer = isRecord(first) ? first.pointer : undefined;
  if (typeof pointer !== "string" || pointer === "") return null;
  return pointer.slice(1).split("/").map(decodeSegment)
    .map((part, index) => /^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`).join("");
}

function typeOfStatus(status: number): string {
  return TYPES.get(status) ?? (status < 500 ? "invalid_request_error" : "server_error");
}

const TYPES: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [403, "permission_error"],
  [409, "conflict_error"],
  [429, "rate_limit_error"],
]);

/** What a model could not do; everything else as it is. */
export function ofModelError(thrown: unknown): unknown {
  if (!(thrown instanceof ModelError)) return thrown;
  const [status, code, param] = MODEL_ERRORS[thrown.code];
  const { retryAfterMs = 1000, message } = thrown;
  return new HttpProblem(status, code, message, {
    ...(param !== undefined && { more: { param } }),
    ...(status === 429 && { headers: { "retry-after": String(Math.ceil(retryAfterMs / 1000)) } }),
  });
}

const MODEL_ERRORS: {
  readonly [code in ModelErrorCode]: readonly [status: number, code: string, param?: string];
} = {
  config: [404, "model_not_found", "model"],
  auth: [502, "provider_auth"], // the key is ours, and the caller's own is right
  request: [400, "provider_refused"],
  context: [400, "context_length_exceeded", "messages"],
  "rate-limit": [429, "rate_limit_exceeded"],
  server: [502, "provider_error"],
  network: [502, "provider_unreachable"],
  timeout: [504, "timeout"],
  answer: [502, "provider_answer"],
  permission: [403, "permission_denied"],
  aborted: [503, "stopping"],
};
