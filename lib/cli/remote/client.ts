// What a running server is asked over HTTP (lib/server/api/), typed and checked. Nothing here knows of a terminal.
import {
  type HttpStream,
  isRecord,
  messageOf,
  ProblemsError,
  type RunEvent,
  type RunTrace,
  SourceError,
  withCause,
} from "../../core/core.ts";
import { hostHttp } from "../../host/http/http.ts";
import { quietTimer } from "../../host/process.ts";
import { eventStream } from "../../parse/event_stream.ts";
import { EXIT } from "../../service/exit_code.ts";
import type { ConversationJson } from "../../service/talks/state.ts";
import type { Answer, Frame, OpenAsk, RunState, TalkState } from "../../service/service.ts";

/** A run that a server has begun. */
export interface StartedRun {
  readonly id: string;
  /** What it tells, from its beginning on. */
  readonly body?: AsyncIterable<Uint8Array>;
}

/** What is asked besides a path. */
interface Asked {
  /** Sent as JSON, with POST. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Calls: sent as they come, with POST. */
  readonly text?: AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** What a server said no to, or that none is there; the message names its URL where that says more. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  /** That of the problem, such as `not-found`; `unreachable` where nothing answered as a server does. */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    { code, details = {}, cause }: {
      readonly code: string;
      readonly details?: ServerError["details"];
      readonly cause?: unknown;
    },
  ) {
    super(message, withCause({ cause }));
    this.code = code;
    this.details = details;
  }

  /** As the same thing ends a command that is done here. */
  get exitCode(): number {
    return EXIT_OF_CODE.get(this.code) ?? EXIT.usage;
  }
}

const EXIT_OF_CODE: ReadonlyMap<string, number> = new Map([
  ...["unreachable", "provider", "rate-limit", "stopping", "readers"].map((code) =>
    [code, EXIT.provider] as const
  ),
  ...["busy", "ended", "changed", "unverified", "interrupted", "nothing", "limit", "internal", "failed"].map((
    code,
  ) => [code, EXIT.failed] as const),
  ["refused", EXIT.refused],
  ["timeout", EXIT.timeout],
]);

/** How long a connection may be silent: the server says something every 15 s. */
const SILENT_MS = 45_000;

/** Before it is tried again after a connection broke, one time after the other; ms. */
const WAITS_MS = [50, 250, 1_000, 2_000, 4_000, 8_000, 15_000];

const http = hostHttp({ check: () => undefined });

/** Asks one server. No proxy stands between, and no redirect is followed: the token is for this server alone. */
export class ServerClient {
  /** Without a slash at its end. */
  readonly url: string;
  readonly #token: string | undefined;
  readonly #tokenFrom: string;

  /** @param options.tokenFrom where the token is from; without one, where it was looked for */
  constructor({ url, token, tokenFrom }: {
    readonly url: string;
    readonly token: string | undefined;
    readonly tokenFrom: string;
  }) {
    this.url = url;
    this.#token = token;
    this.#tokenFrom = tokenFrom;
  }

  /** What a command about a run of this server ends with. */
  get flag(): string {
    return `--server ${this.url}`;
  }

  /** Begins something, and is told of it from then on: who comes later is not told the pieces of texts that are whole by then. */
  async begin(path: string, body: Readonly<Record<string, unknown>>): Promise<StartedRun> {
    return await this.#started(path, { body: { ...body, stream: true } });
  }

  /** Runs calls while they come. @param signal breaks them off, which ends the run */
  async calls(text: AsyncIterable<string>, signal: AbortSignal): Promise<StartedRun> {
    return await this.#started("/v1/calls", { text, signal });
  }

  async #started(path: string, asked: Asked): Promise<StartedRun> {
    const { headers, body } = await this.#told(path, asked);
    const id = headers["orrery-run"] ?? "";
    if (!/^[\w:@-][\w.:@-]{0,99}$/.test(id)) throw this.#strange("events of no run");
    return { id, body };
  }

  /** An answer that goes on: it breaks off where nothing comes any more. */
  async #told(path: string, { signal, ...asked }: Asked): ReturnType<ServerClient["ask"]> {
    const silence = new AbortController();
    const both = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
    const { body, ...head } = await this.ask(path, { ...asked, signal: both });
    return { ...head, body: untilSilent(body, silence) };
  }

  run(id: string): Promise<RunState> {
    return this.json(`/v1/runs/${encodeURIComponent(id)}`, isRunState);
  }

  talk(id: string): Promise<TalkState> {
    return this.json(`/v1/conversations/${encodeURIComponent(id)}`, isTalkState);
  }

  /** Takes back so many turns of a conversation; gives the one that goes on before them. */
  back(id: string, turns: number): Promise<TalkState> {
    return this.json(`/v1/conversations/${id}/back`, isTalkState, { turns });
  }

  /** All that is kept of a conversation. */
  exported(id: string): Promise<ConversationJson> {
    return this.json(`/v1/conversations/${encodeURIComponent(id)}/export`, isConversation);
  }

  /** The text of a document, an agent or a call file. */
  async source(path: string): Promise<string> {
    return (await this.json(`/v1/sources/${encodeURIComponent(path)}`, isSource)).text;
  }

  trace(id: string): Promise<RunTrace> {
    return this.json(`/v1/runs/${encodeURIComponent(id)}/trace`, isTrace);
  }

  /** The runs of the project, the newest first. @param most so many of them; default: all */
  async *runs(most = Infinity): AsyncGenerator<RunState> {
    let before = "";
    for (let left = most; left > 0;) {
      const limit = Math.min(left, MOST_LISTED);
      const { runs } = await this.json(`/v1/runs?limit=${limit}${before}`, isRunList);
      yield* runs;
      if (runs.length < limit) return;
      left -= limit;
      before = `&before=${encodeURIComponent(runs.at(-1)?.id ?? "")}`;
    }
  }

  /** It is told to stop; one that has ended meanwhile is no error. */
  async cancel(id: string, reason: string): Promise<void> {
    await this.json(`/v1/runs/${id}/cancel`, isRecord, { reason }).catch(unless("ended"));
  }

  /** One that somebody else has answered is no error. */
  async answer(id: string, ask: string, answer: Answer): Promise<void> {
    await this.json(`/v1/runs/${id}/answers`, isRecord, { ask, ...answer }).catch(unless("ended"));
  }

  /**
   * What a run tells from behind a `seq` on, every event once, until there is no more; of a conversation until its turn is over. A connection that
   * breaks is made again.
   *
   * @param body what was answered already
   * @throws {ServerError} when it could not be made again
   */
  async *frames(
    id: string,
    { after = 0, body }: { readonly after?: number; readonly body?: AsyncIterable<Uint8Array> } = {},
  ): AsyncGenerator<Frame> {
    let seen = after;
    let first = body;
    let isOver = false;
    for (let failures = 0; !isOver;) {
      try {
        const chunks = first ?? await this.#events(id, seen);
        first = undefined;
        if (chunks === undefined) return; // nothing more will come
        for await (const data of eventStream(chunks)) {
          const frame = this.#frame(data);
          failures = 0;
          if ("event" in frame) {
            if (frame.event.seq <= seen) continue;
            seen = frame.event.seq;
            isOver = frame.event.type === "run-end";
          }
          yield frame;
        }
        if (!isOver) throw new Error("it has ended");
      } catch (error) {
        if (isOver) return;
        if (error instanceof ServerError && !MAY_PASS.has(error.code)) throw error;
        const waitMs = WAITS_MS[failures++];
        if (waitMs === undefined) throw this.#lost(id, error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  /** Undefined where there is nothing more. */
  async #events(id: string, after: number): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { status, body } = await this.#told(`/v1/runs/${encodeURIComponent(id)}/events`, {
      headers: { accept: "text/event-stream", "last-event-id": String(after) },
    });
    if (status !== 204) return body;
    await textIn(body);
    return undefined;
  }

  #frame(data: string): Frame {
    const told: unknown = JSON.parse(data);
    if (isRecord(told)) {
      if (typeof told.type === "string" && typeof told.seq === "number") {
        return { event: told as unknown as RunEvent };
      }
      if (typeof told.ask === "string") {
        return typeof told.question === "string"
          ? { ask: told as unknown as OpenAsk }
          : { answered: told.ask };
      }
      if (typeof told.seq === "number") return { gap: told.seq };
    }
    throw this.#strange("an event that is none");
  }

  /** An answer in JSON. @param is whether it has what is used of it @param body sent with POST; GET without it */
  async json<Value>(
    path: string,
    is: (json: unknown) => json is Value,
    body?: Readonly<Record<string, unknown>>,
  ): Promise<Value> {
    const json = maybeJson(await textIn((await this.ask(path, { body })).body));
    if (is(json)) return json;
    throw this.#strange("something else than its API says");
  }

  /** An answer that is no problem. @throws {ServerError}, {ProblemsError} */
  async ask(
    path: string,
    { body, text, headers = {}, signal }: Asked = {},
  ): Promise<Pick<HttpStream, "status" | "headers" | "body">> {
    const answer = await http.open(this.url + path, {
      method: body === undefined && text === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: {
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(text !== undefined && { "content-type": "text/plain; charset=utf-8" }),
        ...headers,
      },
      body: text === undefined ? body && JSON.stringify(body) : bytesOf(text),
      signal,
    }).catch((error) => {
      throw new ServerError(
        `No orrery serve answers at ${this.url}: ${messageOf(error)}. ` +
          "Start one there with orrery serve, or name another one with --server URL",
        { code: "unreachable", cause: error },
      );
    });
    if (answer.status < 300) return answer;
    throw this.#problem(answer.status, await textIn(answer.body));
  }

  #problem(status: number, text: string): Error {
    const problem = maybeJson(text);
    if (!isRecord(problem) || typeof problem.code !== "string" || typeof problem.detail !== "string") {
      return this.#strange(`the status ${status} without a problem of its API`);
    }
    const { code, detail, problems } = problem;
    if (code === "token") return this.#noToken();
    if (code === "check" && Array.isArray(problems) && problems.length > 0) {
      return new ProblemsError(problems.filter(isRecord).map(sourceError));
    }
    const message = code === "host"
      ? `${this.url}: ${detail}; that server is started with --name for the name it is asked by`
      : detail;
    return new ServerError(message, { code, details: problem });
  }

  #noToken(): ServerError {
    const found = this.#token === undefined
      ? `${this.url} asks for a token, and there is none in ${this.#tokenFrom}`
      : `${this.url} does not take the token of ${this.#tokenFrom}`;
    return new ServerError(
      `${found}; expected the one that orrery serve has printed, and keeps in .orrery/orrery.db-token of its project: --token TOKEN, or the variable ORRERY_TOKEN`,
      { code: "token" },
    );
  }

  #strange(found: string): ServerError {
    return new ServerError(
      `${this.url} answers with ${found}; expected orrery serve of this version at that URL`,
      { code: "unreachable" },
    );
  }

  #lost(id: string, cause: unknown): ServerError {
    return new ServerError(
      `The connection to ${this.url} broke and could not be made again: ${messageOf(cause)}. ` +
        `Run ${id} belongs to the server; to follow it, or to go on with it: orrery resume ${id} ${this.flag}`,
      { code: "unreachable", cause },
    );
  }
}

/** Of one answer, as its route has it. */
const MOST_LISTED = 200;

/** What may be otherwise a moment later. */
const MAY_PASS: ReadonlySet<string> = new Set(["unreachable", "stopping", "readers", "internal"]);

async function* bytesOf(text: AsyncIterable<string>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of text) yield new TextEncoder().encode(piece);
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ServerError) || error.code !== code) throw error;
  };
}

// What is used of an answer is there: the rest of it is the user's, however large and deep.

function has(
  json: unknown,
  names: string,
  is: (value: unknown) => boolean,
): json is Readonly<Record<string, unknown>> {
  return isRecord(json) && names.split(" ").every((name) => is(json[name]));
}

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";

function isRunState(json: unknown): json is RunState {
  return has(json, "id kind status", isText) && has(json, "startedAt ms steps", isNumber) &&
    has(json, "usage", isRecord);
}

function isRunList(json: unknown): json is { readonly runs: readonly RunState[] } {
  return isRecord(json) && Array.isArray(json.runs) && json.runs.every(isRunState);
}

function isTalkState(json: unknown): json is TalkState {
  return has(json, "id agent status", isText) && has(json, "messages", Array.isArray) &&
    has(json, "slots usage", isRecord);
}

function isConversation(json: unknown): json is ConversationJson {
  return has(json, "id agent file status", isText) && has(json, "messages at", Array.isArray) &&
    has(json, "slots usage", isRecord);
}

function isSource(json: unknown): json is { readonly text: string } {
  return has(json, "text", isText);
}

function isTrace(json: unknown): json is RunTrace {
  return has(json, "summary run", isRecord) && has(json, "steps events messages checkpoints", Array.isArray);
}

/** The same chunks, until none has come for too long. */
async function* untilSilent(
  chunks: AsyncIterable<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<Uint8Array> {
  const arm = () => quietTimer(SILENT_MS, () => silence.abort(new Error("nothing came for 45 s")));
  let timer = arm();
  try {
    for await (const chunk of chunks) {
      timer[Symbol.dispose]();
      yield chunk;
      timer = arm();
    }
  } finally {
    timer[Symbol.dispose]();
  }
}

async function textIn(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

function maybeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A mistake in a file there; its text is not here, so no line of it is shown. */
function sourceError(
  { message, file, line, column, hint, code }: Readonly<Record<string, unknown>>,
): SourceError {
  const maybeText = (value: unknown) => typeof value === "string" ? value : undefined;
  return new SourceError(String(message), {
    code: maybeText(code),
    hint: maybeText(hint),
    span: typeof line === "number"
      ? { file: maybeText(file), line, column: typeof column === "number" ? column : 1 }
      : undefined,
  });
}
