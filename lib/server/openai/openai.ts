// What clients of OpenAI ask: models, and chat completions.
import { type JsonObject, objectOf, type ToolCall } from "../../core/core.ts";
import { quietTimer } from "../../host/process.ts";
import { json } from "../answers.ts";
import { MAX_FILE_BODY_BYTES } from "../guard.ts";
import { failureOf } from "../problem.ts";
import { defineRoute, type Route, type RouteContext } from "../route.ts";
import {
  badField,
  callJson,
  type Finish,
  finishWord,
  type MadeAnswer,
  ofModelError,
  openAiProblemJson,
  tellOpenAiProblem,
  usageJson,
} from "./answer.ts";
import {
  CHAT_COMPLETION,
  CHAT_REQUEST,
  type ChatBody,
  LISTED_MODEL,
  MODEL_LIST,
  OPENAI_ERROR,
  refuseUnsupported,
} from "./schemas.ts";
import { configuredAnswer } from "./configured_answer.ts";
import { askedModel, isOwnName, type NamedModel, namedModels, unknownModel } from "./model_names.ts";
import { runAnswer } from "./run_answer.ts";
import { talkAnswer, TalkMemory } from "./talk_answer.ts";

/** How long the head of a stream waits for what comes first, ms. */
const FIRST_MS = 5_000;

const error = (description: string) => ({ description, schema: OPENAI_ERROR });
const UNKNOWN_MODEL = error("There is no such model");

const modelsRoute = defineRoute("GET", "/v1/models", "The models that chat completions can name", {
  responses: { 200: { description: "All of them", schema: MODEL_LIST } },
  tellProblem: tellOpenAiProblem,
  handle: async ({ service }) => {
    const models = await namedModels(service.look);
    return json({ object: "list", data: models.map(modelJson) });
  },
});

const modelRoute = defineRoute("GET", "/v1/models/{id+}", "One model", {
  params: objectOf({ id: { type: "string", minLength: 1, maxLength: 1000 } }, ["id"]),
  responses: { 200: { description: "The model", schema: LISTED_MODEL }, 404: UNKNOWN_MODEL },
  tellProblem: tellOpenAiProblem,
  handle: async ({ service, params: { id } }) => {
    if (isOwnName(id)) {
      await askedModel(id, service.look); // short names of agents are not in the list
      return json(modelJson({ id, ownedBy: "orrery" }));
    }
    const found = (await namedModels(service.look)).find((model) => model.id === id);
    if (found === undefined) throw await unknownModel(id, service.look);
    return json(modelJson(found));
  },
});

function modelJson({ id, ownedBy }: NamedModel) {
  return { id, object: "model", created: 0, owned_by: ownedBy };
}

/** The models, and chat completions, of one server. */
export function openAiRoutes(): readonly Route[] {
  const memory = new TalkMemory();
  const passedOn = { count: 0 };
  const chatRoute = defineRoute(
    "POST",
    "/v1/chat/completions",
    "An answer of a configured model, or of an agent, a profile, a document or a prompt (orrery/agent/NAME, …)",
    {
      body: CHAT_REQUEST,
      responses: {
        200: {
          description: "The answer; with stream: true as SSE, a chat.completion.chunk an event, then [DONE]",
          schema: CHAT_COMPLETION,
        },
        400: error("A field cannot be taken"),
        404: UNKNOWN_MODEL,
        403: error("No grant allows it"),
        409: error("The conversation is not known, or busy, or has ended"),
        422: error("What was run has failed"),
        429: error("Too many runs, or the provider's own limit"),
        502: error("The provider has failed"),
        503: error("The server is about to end"),
        504: error("It took too long"),
      },
      access: "bearer",
      maxBytes: MAX_FILE_BODY_BYTES,
      tellProblem: tellOpenAiProblem,
      async handle(context) {
        try {
          return await answered(await madeAnswer(context), context);
        } catch (thrown) {
          throw ofModelError(thrown);
        }
      },
    },
  );
  async function madeAnswer(
    { body, service }: Pick<RouteContext, "service"> & { readonly body: ChatBody },
  ): Promise<MadeAnswer> {
    refuseUnsupported(body);
    if (!isOwnName(body.model)) return await configuredAnswer(body, { service, passedOn });
    const { asked, catalog } = await askedModel(body.model, service.look);
    refuseForeignFields(body);
    return asked.kind === "agent"
      ? await talkAnswer(asked.name, body, { service, memory, isLive: body.stream === true })
      : await runAnswer({ ...asked, kind: asked.kind }, body, { service, catalog });
  }
  return [modelsRoute, modelRoute, chatRoute];
}

async function answered(
  answer: MadeAnswer,
  { body, request, service: { root }, settings: { tell, streams } }:
    & Pick<RouteContext, "request" | "service" | "settings">
    & { readonly body: ChatBody },
): Promise<Response> {
  const { headers, parts } = answer;
  if (body.stream !== true) return json(await awaited(answer, request.signal), { headers });
  // What goes wrong before the first part is there still has a status of its own. One that takes longer than this is not waited for.
  const first = parts.next();
  first.catch(() => undefined); // when it is too late for a status, it is told where the parts are read
  const late = Promise.withResolvers<undefined>();
  using _late = quietTimer(FIRST_MS, () => late.resolve(undefined));
  await Promise.race([first, late.promise]);
  const texts = streamed(answer, first, {
    includeUsage: body.stream_options?.include_usage === true,
    problemJson: (thrown) => openAiProblemJson(failureOf(ofModelError(thrown), { root, tell })),
  });
  const leave = (): void => {
    answer.leave();
    parts.return(undefined).catch(() => undefined); // it has begun, whether or not anybody reads the rest
  };
  return streams.open({ texts, leave }, { headers });
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
  let finish: Finish = { type: "finish", reason: "stop", usage: { input: 0, output: 0 }, model: head.model };
  for await (const part of parts) {
    if (part.type === "text") content += part.text;
    else if (part.type === "reasoning") thought += part.text;
    else if (part.type === "call") calls.push(part.call);
    else if (part.type === "call-cut") isCut = true;
    else if (part.type === "finish") finish = part;
  }
  const message = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(thought !== "" && { reasoning_content: thought }), // as other servers name it, and clients read it
    ...(calls.length > 0 && { tool_calls: calls.map(callJson) }),
  };
  return {
    ...head,
    object: "chat.completion",
    choices: [{
      index: 0,
      message,
      logprobs: null,
      finish_reason: finishWord(finish, { hasCalls: calls.length > 0, isCut }),
    }],
    usage: usageJson(finish.usage),
  };
}

/** The answer as SSE: the role first, then text as it comes, calls once they are complete, why it ended, and `[DONE]`; or what went wrong on the way. */
async function* streamed(
  { head, parts }: MadeAnswer,
  first: ReturnType<MadeAnswer["parts"]["next"]>,
  { includeUsage, problemJson }: {
    readonly includeUsage: boolean;
    /** What is told of something that was thrown. */
    readonly problemJson: (thrown: unknown) => JsonObject;
  },
): AsyncGenerator<string, undefined> {
  const object = { ...head, object: "chat.completion.chunk" };
  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    eventText({
      ...object,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(includeUsage && { usage: null }),
    });
  let calls = 0;
  let isCut = false;
  yield chunk({ role: "assistant", content: "" });
  try {
    for (let { value: part } = await first; part !== undefined; { value: part } = await parts.next()) {
      if (part.type === "text" && part.text !== "") yield chunk({ content: part.text });
      else if (part.type === "reasoning" && part.text !== "") yield chunk({ reasoning_content: part.text });
      else if (part.type === "call") {
        yield chunk({ tool_calls: [{ index: calls++, ...callJson(part.call) }] });
      } else if (part.type === "call-cut") isCut = true;
      else if (part.type === "finish") {
        yield chunk({}, finishWord(part, { hasCalls: calls > 0, isCut }));
        if (includeUsage) yield eventText({ ...object, choices: [], usage: usageJson(part.usage) });
      }
    }
    yield "data: [DONE]\n\n";
  } catch (thrown) {
    yield eventText(problemJson(thrown));
  }
}

function eventText(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
