// The request of `sse-call` as one effect: its text is told while it streams, and kept when it has ended.

import type { Json } from "../core/json.ts";
import { PermissionRefused } from "../core/world.ts";
import type { Http, HttpStream } from "../core/world.ts";
import { slotText } from "../conversation/fill_template.ts";
import type { StepOf } from "../parse/agent_file.ts";
import { eventStream } from "../parse/event_stream.ts";
import type { ConversationRequest, ReadyRequest } from "./conversation_request.ts";
import type { StepWork } from "./conversation_work.ts";
import { Deadline } from "./deadline.ts";
import { jsonAnswer } from "./json_answer.ts";
import { networkReason, oncemore } from "./request_attempts.ts";
import type { PickValue } from "./response_path.ts";

const SILENCE_MS = 60_000;
/** 16 MiB. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Of all data, which may come to no text at all. */
const MAX_DATA = 16 * MAX_LENGTH;
/** What an event counts besides its data: the time that it takes. */
const EVENT_LENGTH = 100;

type Work = StepWork<StepOf<"sse-call">>;

/** Sends the request and gives the whole text; `tell` takes it as it comes. @throws {Error} as conversations.md 2.8 words it */
export async function askEventStream(
  { run, means, step, signal, warn }: Work,
  { request, tell }: { readonly request: ConversationRequest; readonly tell: (text: string) => void },
): Promise<Json> {
  if (request.problem !== undefined) throw new Error(`${request.url}: ${request.problem}`);
  const pick = await pickOf(step.responsePath);
  const ready = await request.ready();
  using deadline = new Deadline({
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

async function pickOf(path: string | undefined): Promise<PickValue | undefined> {
  if (path === undefined) return undefined;
  const { readResponsePath }: typeof import("./response_path.ts") = await import(
    "./response_path.ts" as string
  );
  return readResponsePath(path);
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
