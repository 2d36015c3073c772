// The steps that make requests (conversations.md 2.8).
import { slotText } from "../../conversation/fill_template.ts";
import { SLOT_LEVELS, slotProblem } from "../../conversation/slots.ts";
import type { StepOutcome } from "../../conversation/step_tree.ts";
import {
  type Clock,
  type Http,
  type HttpResponse,
  type HttpStream,
  isJsonObject,
  type Json,
  messageOf,
  objectOrEmpty,
  parseJson,
  PermissionRefused,
} from "../../core/core.ts";
import type { StepOf } from "../../parse/agent/agent.ts";
import { eventStream } from "../../parse/event_stream.ts";
import { parseJsonPath } from "../../schema/json_path.ts";
import { type ConversationRequest, conversationRequest, type ReadyRequest } from "./request.ts";
import { ConversationStepError, type StepWork } from "./work.ts";
import { EffectError, performEffect } from "../effect.ts";

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
    return apiValue(outcome, work.step.responsePath);
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

// The request of `api-call` as one effect, and what its answer is worth. What takes `fail` is an outcome, not an error: a resumed run takes
// it again without asking.

const MAX_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_SHOWN = 200;

/** Sends the request: `{status, type, text}`, or `{problem}`. @throws {PermissionRefused}; {Error} for a variable */
async function askApi(
  { run, means, signal }: StepWork<StepOf<"api-call">>,
  request: ConversationRequest,
): Promise<Json> {
  if (request.problem !== undefined) return { problem: request.problem };
  const ready = await request.ready();
  const { timeoutMs: ms = TIMEOUT_MS } = means;
  using deadline = deadlineOf({ clock: run.limitClock, ms, signal });
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
function apiValue(
  outcome: Json,
  responsePath: string | undefined,
): { readonly ok: Json } | { readonly problem: string } {
  const { text, problem } = objectOrEmpty(outcome);
  if (typeof problem === "string") return { problem };
  if (typeof text !== "string") return { problem: "the answer that was kept has no text" };
  if (responsePath === undefined) return wholeValue(text);
  const json = jsonAnswer(text);
  if ("problem" in json) {
    const found = JSON.stringify(text.slice(0, MAX_SHOWN));
    return { problem: `the answer ${json.problem}, expected JSON for the response-path: found ${found}` };
  }
  return pickedValue(json.ok, responsePath);
}

function wholeValue(text: string): { readonly ok: Json } | { readonly problem: string } {
  if (text === "") return { ok: null };
  const json = jsonAnswer(text);
  if ("ok" in json) return json;
  return json.problem === "is not JSON" ? { ok: text } : { problem: `the answer ${json.problem}` };
}

function pickedValue(value: Json, path: string): { readonly ok: Json } | { readonly problem: string } {
  const picked = readResponsePath(path)(value);
  if ("problem" in picked) return picked;
  return picked.ok === undefined
    ? { problem: `the response-path ${JSON.stringify(path)} selects nothing of the answer` }
    : { ok: picked.ok };
}

// The request of `sse-call` as one effect: its text is told while it streams, and kept when it has ended.

const SILENCE_MS = 60_000;
/** 16 MiB. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Of all data, which may come to no text at all. */
const MAX_DATA = 16 * MAX_LENGTH;
/** What an event counts besides its data: the time that it takes. */
const EVENT_LENGTH = 100;

type Work = StepWork<StepOf<"sse-call">>;

/** Sends the request and gives the whole text; `tell` takes it as it comes. @throws {Error} as conversations.md 2.8 words it */
async function askEventStream(
  { run, means, step, signal, warn }: Work,
  { request, tell }: { readonly request: ConversationRequest; readonly tell: (text: string) => void },
): Promise<Json> {
  if (request.problem !== undefined) throw new Error(`${request.url}: ${request.problem}`);
  const pick = step.responsePath === undefined ? undefined : readResponsePath(step.responsePath);
  const ready = await request.ready();
  using deadline = deadlineOf({
    clock: run.limitClock,
    ms: means.timeoutMs ?? SILENCE_MS,
    signal,
  });
  const sending: Sending = {
    url: request.url,
    deadline,
    signal,
    warn: (error) => warn(networkReason(ready.values.hiddenIn(error))),
  };
  const answer = await opened(ready, means.http, sending);
  const mask = ready.values.answerMask(run.secrets);
  const shown = mask.stream();
  let text = "";
  let length = 0;
  for await (const event of eventsOf(answer, sending)) {
    length += event.length + EVENT_LENGTH;
    if (length > MAX_DATA) throw new Error(`${request.url} sent more events than anybody waits for`);
    const piece = pieceOf(event, pick);
    text += piece;
    tell(shown.push(piece));
    if (text.length > MAX_LENGTH) throw new Error(`${request.url} sent more than 16 MB of text`);
  }
  tell(shown.end());
  return { text: mask.mask(text) };
}

interface Sending {
  /** As everybody may see it. */
  readonly url: string;
  readonly deadline: Deadline;
  readonly signal: AbortSignal;
  /** Tells what the network says of it: the error of the step does not. */
  warn(error: unknown): void;
}

async function opened(
  { url, options, values }: ReadyRequest,
  http: Http,
  { url: shown, deadline, signal, warn }: Sending,
): Promise<HttpStream> {
  try {
    const open = () => http.open(url, { ...options, signal: deadline.signal });
    return await oncemore(open, deadline.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PermissionRefused) throw values.hiddenIn(error);
    if (deadline.isOver) throw new Error(`${shown} stopped sending`);
    warn(error);
    throw new Error(`could not reach ${shown}`);
  }
}

/** The data of its events, until `[DONE]`. */
async function* eventsOf(
  { status, headers, body }: HttpStream,
  { url, deadline, signal, warn }: Sending,
): AsyncGenerator<string> {
  if (status !== 200) throw new Error(`${url} answered ${status}, expected 200`);
  if (!/^text\/event-stream *(?:;|$)/i.test(headers["content-type"] ?? "")) {
    throw new Error(`${url} did not answer with text/event-stream`);
  }
  const limited = unlessBroken(body, (error) => {
    signal.throwIfAborted();
    if (!deadline.isOver) warn(error);
    return new Error(`${url} stopped sending`);
  });
  for await (const data of eventStream(limited)) {
    if (data.trim() === "[DONE]") return;
    deadline.restart();
    yield data;
  }
}

/** What breaks the connection, or ends it after a long silence, is one error. */
async function* unlessBroken(
  body: AsyncIterable<Uint8Array>,
  broken: (error: unknown) => Error,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw broken(error);
  }
}

function pieceOf(event: string, pick: PickValue | undefined): string {
  if (pick === undefined) return event;
  const json = jsonAnswer(event);
  if ("problem" in json) throw new Error(`an event ${json.problem}`);
  const picked = pick(json.ok);
  if ("problem" in picked) throw new Error(picked.problem);
  return slotText(picked.ok);
}

/** Does it, and a second time when the network failed (conversations.md 2.3); what is not allowed, or aborted, is not tried again. */
async function oncemore<Value>(attempt: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof PermissionRefused || signal.aborted) throw error;
    return await attempt();
  }
}

/** Why a request failed, without the URL, which its reader knows. */
function networkReason(error: unknown): string {
  return messageOf(error).replace(/^Cannot fetch "(?:[^"\\]|\\.)*": /, "").replaceAll(/\s+/g, " ");
}

/**
 * Reads JSON from outside; `problem` goes behind what it is a problem of. A number of more digits than a value holds is a text: most are ids,
 * which are shown and sent on.
 */
function jsonAnswer(text: string): { readonly ok: Json } | { readonly problem: string } {
  try {
    const value = parseJson(text, { keepsDigits: true });
    if (isKeepable(value)) return { ok: value };
  } catch (error) {
    if (!(error instanceof RangeError)) return { problem: "is not JSON" };
  }
  return { problem: `is JSON with more than ${SLOT_LEVELS} levels, or with a number that is too large` };
}

/** `JSON.parse` takes any depth. */
function isKeepable(value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > SLOT_LEVELS) return false;
    level = level.flatMap((item) => typeof item === "object" && item !== null ? Object.values(item) : []);
  }
  return true;
}

interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** The time was over before anything else. */
  readonly isOver: boolean;
  /** Something has come: the time begins anew. */
  restart(): void;
}

/** A signal that is aborted when the time is over, when another one is, and when it is disposed of: what hangs on it ends with it. */
function deadlineOf({ clock, ms, signal }: {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}): Deadline {
  const work = new AbortController();
  let since = clock.now();
  let isOver = false;
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  watch().catch(() => undefined); // it was aborted, or is done

  function onAbort(): void {
    work.abort(signal.reason);
  }

  /** One timer for thousands of restarts. */
  async function watch(): Promise<void> {
    for (let left = ms; left > 0; left = since + ms - clock.now()) await clock.sleep(left, work.signal);
    if (work.signal.aborted) return;
    isOver = true;
    work.abort(new Error("the time is over"));
  }

  return {
    signal: work.signal,
    get isOver() {
      return isOver;
    },
    restart() {
      since = clock.now();
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", onAbort);
      work.abort(new DOMException("done", "AbortError"));
    },
  };
}

/** Picks from an answer: the one value, a list of several, undefined for none. */
type PickValue = (value: Json) => { readonly ok: Json | undefined } | { readonly problem: string };

/** Reads a response-path (conversations.md 2.10). @throws {Error} when it is no JSONPath */
function readResponsePath(path: string): PickValue {
  const parsed = parseJsonPath(path);
  if ("problem" in parsed) {
    throw new Error(`response-path ${JSON.stringify(path)} is not a valid JSONPath: ${parsed.problem}`);
  }
  return (value) => {
    try {
      const nodes = parsed.ok.select(value);
      const found = nodes.length > 1 ? nodes : nodes[0];
      const problem = found === undefined ? undefined : slotProblem(found);
      if (problem === undefined) return { ok: found };
      return { problem: `what the response-path ${JSON.stringify(path)} selects has ${problem}` };
    } catch (error) {
      return { problem: `the response-path ${JSON.stringify(path)}: ${messageOf(error)}` };
    }
  };
}
