// What clients of OpenAI ask: models, and chat completions.
import { type JsonObject, type ModelPart, objectOf, type ToolCall } from "../../core/core.ts";
import { quietTimer } from "../../host/process.ts";
import { json } from "../answers.ts";
import { failureOf, type ProblemDetails } from "../problem.ts";
import { defineRoute, type Route, type RouteContext, type ServerSettings } from "../route.ts";
import type { TextSource } from "../text_streams.ts";
import { type AnswerHead, callJson, finishWord, type MadeAnswer, usageJson } from "./answer.ts";
import {
  CHAT_COMPLETION,
  CHAT_REQUEST,
  type ChatBody,
  LISTED_MODEL,
  MODEL_LIST,
  OPENAI_ERROR,
  refuseUnsupported,
} from "./schemas.ts";
import { configuredAnswer, type PassedOn } from "./configured_answer.ts";
import {
  askedModel,
  isOwnName,
  namedCatalog,
  type NamedModel,
  namedModels,
  unknownModel,
} from "./model_names.ts";
import { badField, ofModelError, openAiProblemJson, tellOpenAiProblem } from "./problem.ts";
import { runAnswer } from "./run_answer.ts";
import { talkAnswer } from "./talk_answer.ts";
import { TalkMemory } from "./talk_history.ts";

/** How long the head of a stream waits for what comes first, ms. */
const FIRST_MS = 5_000;

const ERRORS = {
  400: { description: "A field cannot be taken", schema: OPENAI_ERROR },
  404: { description: "There is no such model", schema: OPENAI_ERROR },
} as const;

const modelsRoute = defineRoute({
  method: "GET",
  path: "/v1/models",
  summary: "The models that chat completions can name",
  responses: { 200: { description: "All of them", schema: MODEL_LIST } },
  tellProblem: tellOpenAiProblem,
  handle: async ({ service }) => {
    const models = namedModels(await namedCatalog(service.look));
    return json({ object: "list", data: models.map(modelJson) });
  },
});

const modelRoute = defineRoute({
  method: "GET",
  path: "/v1/models/{id+}",
  summary: "One model",
  request: {
    params: objectOf({ id: { type: "string", minLength: 1, maxLength: 1000 } }, ["id"]),
  },
  responses: { 200: { description: "The model", schema: LISTED_MODEL }, 404: ERRORS[404] },
  tellProblem: tellOpenAiProblem,
  handle: async ({ service, params: { id } }) => {
    if (isOwnName(id)) {
      await askedModel(id, service.look); // short names of agents are not in the list
      return json(modelJson({ id, ownedBy: "orrery" }));
    }
    const models = namedModels(await namedCatalog(service.look));
    const found = models.find((model) => model.id === id);
    if (found === undefined) throw unknownModel(id, models);
    return json(modelJson(found));
  },
});

function modelJson({ id, ownedBy }: NamedModel) {
  return { id, object: "model", created: 0, owned_by: ownedBy };
}

/** What the requests to one server have in common. */
interface Means {
  readonly memory: TalkMemory;
  readonly passedOn: PassedOn;
}

const means = new WeakMap<ServerSettings, Means>();

function meansOf(settings: ServerSettings): Means {
  const known = means.get(settings) ?? { memory: new TalkMemory(), passedOn: { count: 0 } };
  means.set(settings, known);
  return known;
}

const chatRoute = defineRoute({
  method: "POST",
  path: "/v1/chat/completions",
  summary:
    "An answer of a configured model, or of an agent, a profile, a document or a prompt (orrery/agent/NAME, …)",
  request: { body: CHAT_REQUEST },
  responses: {
    200: {
      description: "The answer; with stream: true as SSE, a chat.completion.chunk an event, then [DONE]",
      schema: CHAT_COMPLETION,
    },
    ...ERRORS,
    403: { description: "No grant allows it", schema: OPENAI_ERROR },
    409: { description: "The conversation is not known, or busy, or has ended", schema: OPENAI_ERROR },
    422: { description: "What was run has failed", schema: OPENAI_ERROR },
    429: { description: "Too many runs, or the provider's own limit", schema: OPENAI_ERROR },
    502: { description: "The provider has failed", schema: OPENAI_ERROR },
    503: { description: "The server is about to end", schema: OPENAI_ERROR },
    504: { description: "It took too long", schema: OPENAI_ERROR },
  },
  access: "bearer",
  tellProblem: tellOpenAiProblem,
  async handle(context) {
    try {
      return await answered(await madeAnswer(context.body, context), context);
    } catch (thrown) {
      throw ofModelError(thrown);
    }
  },
});

/** The models, and chat completions. */
export const openAiRoutes: readonly Route[] = [modelsRoute, modelRoute, chatRoute];

async function madeAnswer(
  body: ChatBody,
  { service, settings }: Pick<RouteContext, "service" | "settings">,
): Promise<MadeAnswer> {
  const { memory, passedOn } = meansOf(settings);
  refuseUnsupported(body);
  if (!isOwnName(body.model)) return await configuredAnswer(body, { service, passedOn });
  const { asked, catalog } = await askedModel(body.model, service.look);
  refuseForeignFields(body);
  switch (asked.kind) {
    case "agent":
      return await talkAnswer(asked.file, body, { service, memory, isLive: body.stream === true });
    case "profile":
    case "document":
    case "prompt":
      return await runAnswer(asked, body, { service, catalog });
  }
}

async function answered(
  answer: MadeAnswer,
  { body, request, service: { root }, settings: { tell, streams } }:
    & Pick<RouteContext, "request" | "service" | "settings">
    & { readonly body: ChatBody },
): Promise<Response> {
  const { headers = {} } = answer;
  const problemOf = (thrown: unknown) => failureOf(ofModelError(thrown), { root, tell });
  if (body.stream !== true) return json(await awaited(answer, request.signal), { headers });
  const source = chatStream(await begun(answer, { waitMs: FIRST_MS }), {
    includeUsage: body.stream_options?.include_usage === true,
    problemOf,
  });
  return streams.open(source, { headers });
}

/** The whole answer; nobody waits for it any more once the connection is gone. The signal fires at a good end too, so nobody listens by then. */
async function awaited(answer: MadeAnswer, gone: AbortSignal): ReturnType<typeof chatAnswer> {
  const leave = (): void => answer.leave();
  gone.addEventListener("abort", leave);
  if (gone.aborted) leave();
  try {
    return await chatAnswer(answer);
  } finally {
    gone.removeEventListener("abort", leave);
  }
}

/** What cannot be asked of an agent, a profile, a document or a prompt: it has tools and a form of its own. @throws {HttpProblem} */
function refuseForeignFields({ model, tools, response_format: format }: ChatBody): void {
  if (tools !== undefined && tools !== null && tools.length > 0) {
    throw badField(
      "tools",
      `${model} has tools of its own, and runs them itself; leave them out`,
      "tools_not_supported",
    );
  }
  if (format !== undefined && format !== null && format.type !== "text") {
    const text = `${model} says itself what its answer has to be; leave it out`;
    throw badField("response_format", text, "unsupported_value");
  }
}

/** The whole answer, as `chat.completion`. */
async function chatAnswer({ head, parts }: Pick<MadeAnswer, "head" | "parts">): Promise<JsonObject> {
  let content = "";
  let thought = "";
  const calls: ToolCall[] = [];
  let isCut = false;
  let end: Extract<ModelPart, { readonly type: "finish" }> | undefined;
  for await (const part of parts) {
    if (part.type === "text") content += part.text;
    else if (part.type === "reasoning") thought += part.text;
    else if (part.type === "call") calls.push(part.call);
    else if (part.type === "call-cut") isCut = true;
    else if (part.type === "finish") end = part;
  }
  const finish = end ?? { type: "finish", reason: "stop", usage: { input: 0, output: 0 }, model: head.model };
  const message = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(thought === "" ? {} : { reasoning_content: thought }), // as other servers name it, and clients read it
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callJson) }),
  };
  return {
    id: head.id,
    object: "chat.completion",
    created: head.created,
    model: head.model,
    choices: [{
      index: 0,
      message,
      logprobs: null,
      finish_reason: finishWord(finish, { hasCalls: calls.length > 0, isCut }),
    }],
    usage: usageJson(finish.usage),
  };
}

/** How an answer is streamed. */
interface ChatStreamOptions {
  readonly includeUsage: boolean;
  /** What is told of something that was thrown. */
  readonly problemOf: (thrown: unknown) => ProblemDetails;
}

/** The answer as SSE, a chunk an event, and `[DONE]`; what goes wrong on the way is its last event. */
function chatStream(answer: MadeAnswer, options: ChatStreamOptions): TextSource {
  const pieces = piecesOf(answer, options);
  return {
    async next() {
      const { value, done } = await pieces.next();
      return done === true ? undefined : value;
    },
    leave() {
      answer.leave();
      pieces.return(undefined).catch(() => undefined); // nobody is left to tell
    },
  };
}

async function* piecesOf(
  { head, parts }: MadeAnswer,
  { includeUsage, problemOf }: ChatStreamOptions,
): AsyncGenerator<string, undefined> {
  const chunks = new ChatChunks(head, { includeUsage });
  yield eventText(chunks.begin());
  try {
    for await (const part of parts) {
      const text = chunks.of(part).map(eventText).join("");
      if (text !== "") yield text;
    }
  } catch (thrown) {
    yield eventText(openAiProblemJson(problemOf(thrown)));
    return;
  }
  yield "data: [DONE]\n\n";
}

function eventText(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/**
 * The same answer once its first part is there, so that what goes wrong before it still has a status of its own. A part that takes longer
 * than this is not waited for.
 */
async function begun(
  answer: MadeAnswer,
  { waitMs }: { readonly waitMs: number },
): Promise<MadeAnswer> {
  const parts = answer.parts[Symbol.asyncIterator]();
  const first = parts.next();
  const late = Promise.withResolvers<undefined>();
  using _late = quietTimer(waitMs, () => late.resolve(undefined));
  first.catch(() => undefined); // when it is too late for a status, it is told where the parts are read
  await Promise.race([first, late.promise]);
  return {
    ...answer,
    parts: afterFirst(first, parts),
    leave() {
      answer.leave();
      parts.return?.().catch(() => undefined); // it has begun, whether or not anybody reads the rest
    },
  };
}

async function* afterFirst(
  first: Promise<IteratorResult<ModelPart>>,
  parts: AsyncIterator<ModelPart>,
): AsyncGenerator<ModelPart, undefined> {
  try {
    for (let next = await first; next.done !== true; next = await parts.next()) yield next.value;
  } finally {
    await parts.return?.();
  }
}

/** Makes the chunks of one answer: the role first, then text as it comes, calls once they are complete, and why it ended. */
class ChatChunks {
  readonly #head: AnswerHead;
  readonly #includeUsage: boolean;
  #calls = 0;
  #isCut = false;

  constructor(head: AnswerHead, { includeUsage }: { readonly includeUsage: boolean }) {
    this.#head = head;
    this.#includeUsage = includeUsage;
  }

  /** The first one. */
  begin(): JsonObject {
    return this.#chunk({ role: "assistant", content: "" });
  }

  /** What a part of the answer is in chunks. */
  of(part: ModelPart): readonly JsonObject[] {
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [this.#chunk({ content: part.text })];
      case "reasoning":
        return part.text === "" ? [] : [this.#chunk({ reasoning_content: part.text })];
      case "call":
        return [this.#call(part.call)];
      case "call-cut":
        this.#isCut = true;
        return [];
      case "finish":
        return this.#end(part);
      case "call-start":
      case "call-delta":
      case "thought":
      case "retry":
        return [];
    }
  }

  #call(call: ToolCall): JsonObject {
    return this.#chunk({ tool_calls: [{ index: this.#calls++, ...callJson(call) }] });
  }

  #end(part: Extract<ModelPart, { readonly type: "finish" }>): readonly JsonObject[] {
    const last = this.#chunk({}, finishWord(part, { hasCalls: this.#calls > 0, isCut: this.#isCut }));
    if (!this.#includeUsage) return [last];
    return [last, { ...this.#object(), choices: [], usage: usageJson(part.usage) }];
  }

  #chunk(delta: JsonObject, finish: string | null = null): JsonObject {
    return {
      ...this.#object(),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(this.#includeUsage && { usage: null }),
    };
  }

  #object(): JsonObject {
    const { id, created, model } = this.#head;
    return { id, object: "chat.completion.chunk", created, model };
  }
}
