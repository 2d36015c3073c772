// The steps that make requests (conversations.md 2.8).

import type { StepOutcome } from "../conversation/step_outcome.ts";
import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import type { StepOf } from "../parse/agent_file.ts";
import { apiValue, askApi } from "./api_answer.ts";
import { conversationRequest } from "./conversation_request.ts";
import type { ConversationRequest } from "./conversation_request.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { StepWork } from "./conversation_work.ts";
import { EffectError, performEffect } from "./effect.ts";
import { askEventStream } from "./sse_answer.ts";

type ApiWork = StepWork<StepOf<"api-call">>;
type SseWork = StepWork<StepOf<"sse-call">>;

/**
 * Makes the request of `api-call`. All that goes wrong with it takes `fail`, with a warning that says what.
 *
 * @throws {ConversationStepError} for a header that cannot be sent, a variable that cannot be read, and a host that is not allowed and
 * stands in the file
 */
export async function performApiCall(work: ApiWork): Promise<StepOutcome> {
  const { step } = work;
  const request = conversationRequest(work, { key: keyOf(work) });
  const answer = await askedApi(work, request);
  if ("ok" in answer) {
    work.setSlot(step.target, answer.ok);
    return { kind: "flow", flow: step.success };
  }
  work.warn(`${request.method} ${shortened(request.url)}: ${answer.problem}`);
  return { kind: "flow", flow: step.fail };
}

async function askedApi(
  work: ApiWork,
  request: ConversationRequest,
): Promise<{ readonly ok: Json } | { readonly problem: string }> {
  try {
    const outcome = await asEffect(work, request, () => askApi(work, request));
    return await apiValue(outcome, work.step.responsePath);
  } catch (error) {
    const isOfSlot = error instanceof EffectError && error.failure.code === "permission" &&
      error.failure.flag?.includes("--allow-env") !== true && request.isHostFilled;
    if (isOfSlot) return { problem: error.message };
    throw stepError(work, error);
  }
}

/**
 * Makes the request of `sse-call`: its text is told as it comes, and is one message.
 *
 * @throws {ConversationStepError} for everything that goes wrong
 */
export async function performSseCall(work: SseWork): Promise<StepOutcome> {
  const { step } = work;
  const request = conversationRequest(work, {
    key: keyOf(work),
    defaults: { Accept: "text/event-stream" },
  });
  const text = await streamedText(work, request);
  if (text !== "") work.say(text);
  if (step.store !== undefined) work.setSlot(step.store, text);
  return { kind: "next" };
}

async function streamedText(work: SseWork, request: ConversationRequest): Promise<string> {
  let isTold = false;
  const tell = (text: string): void => {
    if (text === "" || work.signal.aborted) return;
    isTold = true;
    work.delta(text);
  };
  try {
    const outcome = await asEffect(work, request, () => askEventStream(work, { request, tell }));
    return isJsonObject(outcome) && typeof outcome.text === "string" ? outcome.text : "";
  } catch (error) {
    if (isTold) work.discard();
    throw stepError(work, error);
  }
}

/** A request that was not finished is sent again: it says itself that it is the same (turn.md 3). */
function asEffect(
  work: ApiWork | SseWork,
  { method, url, input }: ConversationRequest,
  perform: () => Promise<Json>,
): Promise<Json> {
  return performEffect(work.run, {
    key: keyOf(work),
    kind: "http",
    name: `${method} ${shortened(url)}`,
    input,
    isIdempotent: true,
    perform,
  });
}

function keyOf({ key }: ApiWork | SseWork): string {
  return `${key}/http`;
}

/** What the run itself throws, such as the reason of its end, stays as it is. */
function stepError(work: ApiWork | SseWork, error: unknown): unknown {
  if (!(error instanceof EffectError) || work.signal.aborted) return error;
  return new ConversationStepError(work.step.id, error.message, { cause: error });
}

const MAX_URL = 300;

function shortened(url: string): string {
  return url.length > MAX_URL ? `${url.slice(0, MAX_URL)}…` : url;
}
