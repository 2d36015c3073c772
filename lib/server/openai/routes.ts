// What clients of OpenAI ask: models, and chat completions.

import { json } from "../answers.ts";
import { failureOf } from "../failure.ts";
import { defineRoute } from "../route.ts";
import type { Route, RouteContext } from "../route.ts";
import type { ServerSettings } from "../server_settings.ts";
import type { MadeAnswer } from "./answer_parts.ts";
import { refuseUnsupported } from "./chat_body.ts";
import type { ChatBody } from "./chat_body.ts";
import { chatAnswer } from "./chat_answer.ts";
import { CHAT_COMPLETION, CHAT_REQUEST, LISTED_MODEL, MODEL_LIST, OPENAI_ERROR } from "./chat_schema.ts";
import { begun, chatStream } from "./chat_stream.ts";
import { configuredAnswer } from "./configured_answer.ts";
import type { PassedOn } from "./configured_answer.ts";
import { askedModel, isOwnName, namedCatalog, namedModels, unknownModel } from "./model_names.ts";
import type { NamedModel } from "./model_names.ts";
import { ofModelError, tellOpenAiProblem } from "./openai_problem.ts";
import { refuseForeignFields } from "./own_fields.ts";
import { runAnswer } from "./run_answer.ts";
import { talkAnswer } from "./talk_answer.ts";
import { TalkMemory } from "./talk_memory.ts";

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
  access: "token",
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
    params: {
      type: "object",
      required: ["id"],
      properties: { id: { type: "string", minLength: 1, maxLength: 1000 } },
    },
  },
  responses: { 200: { description: "The model", schema: LISTED_MODEL }, 404: ERRORS[404] },
  access: "token",
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
