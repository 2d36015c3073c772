// The request of `api-call` as one effect, and what its answer is worth. What takes `fail` is an outcome, not an error: a resumed run takes
// it again without asking.

import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { PermissionRefused } from "../core/world.ts";
import type { HttpResponse } from "../core/world.ts";
import type { StepOf } from "../parse/agent_file.ts";
import type { ConversationRequest } from "./conversation_request.ts";
import type { StepWork } from "./conversation_work.ts";
import { Deadline } from "./deadline.ts";
import { jsonAnswer } from "./json_answer.ts";
import { networkReason, oncemore } from "./request_attempts.ts";

const MAX_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_SHOWN = 200;

/** Sends the request: `{status, type, text}`, or `{problem}`. @throws {PermissionRefused}; {Error} for a variable */
export async function askApi(
  { run, means, signal }: StepWork<StepOf<"api-call">>,
  request: ConversationRequest,
): Promise<Json> {
  if (request.problem !== undefined) return { problem: request.problem };
  const ready = await request.ready();
  const { timeoutMs: ms = TIMEOUT_MS } = means;
  using deadline = new Deadline({ clock: run.limitClock, ms, signal });
  try {
    const options = { ...ready.options, maxBytes: MAX_BYTES, signal: deadline.signal };
    const response = await oncemore(() => means.http.fetch(ready.url, options), deadline.signal);
    return outcomeOf(response, ready.values.answerMask(run.secrets).mask);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PermissionRefused) throw ready.values.hiddenIn(error);
    if (deadline.isOver) return { problem: `no answer within ${ms / 1000} s` };
    return { problem: networkReason(ready.values.hiddenIn(error)) };
  }
}

function outcomeOf({ status, headers, body, truncated }: HttpResponse, mask: (text: string) => string): Json {
  const type = headers["content-type"] ?? "";
  const text = mask(decoderOf(type).decode(body));
  if (status < 200 || status > 299) {
    const said = text.trim() === "" ? "" : ` (${JSON.stringify(text.trim().slice(0, MAX_SHOWN))})`;
    return { problem: `answered ${status}${said}, expected 200 to 299` };
  }
  if (truncated) return { problem: `the answer is longer than ${MAX_BYTES / 1024 / 1024} MB` };
  return { status, type: mask(type), text };
}

function decoderOf(contentType: string): TextDecoder {
  const label = /;\s*charset="?([\w.:-]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** The value of an outcome, or why there is none. @throws {Error} for a response-path that cannot be read */
export async function apiValue(
  outcome: Json,
  responsePath: string | undefined,
): Promise<{ readonly ok: Json } | { readonly problem: string }> {
  const { text, problem } = isJsonObject(outcome) ? outcome : {};
  if (typeof problem === "string") return { problem };
  if (typeof text !== "string") return { problem: "the answer that was kept has no text" };
  if (responsePath === undefined) return wholeValue(text);
  const json = jsonAnswer(text);
  if ("problem" in json) {
    const found = JSON.stringify(text.slice(0, MAX_SHOWN));
    return { problem: `the answer ${json.problem}, expected JSON for the response-path: found ${found}` };
  }
  return await pickedValue(json.ok, responsePath);
}

function wholeValue(text: string): { readonly ok: Json } | { readonly problem: string } {
  if (text === "") return { ok: null };
  const json = jsonAnswer(text);
  if ("ok" in json) return json;
  return json.problem === "is not JSON" ? { ok: text } : { problem: `the answer ${json.problem}` };
}

async function pickedValue(
  value: Json,
  path: string,
): Promise<{ readonly ok: Json } | { readonly problem: string }> {
  const { readResponsePath }: typeof import("./response_path.ts") = await import(
    "./response_path.ts" as string
  );
  const picked = readResponsePath(path)(value);
  if ("problem" in picked) return picked;
  return picked.ok === undefined
    ? { problem: `the response-path ${JSON.stringify(path)} selects nothing of the answer` }
    : { ok: picked.ok };
}
