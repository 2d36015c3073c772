import { onlyFields, shownBase64, toJsonObject, type Words, wordsWith } from "../../core/core.ts";
import type { FromJsonSchema } from "../../schema/input_type.ts";
import type { RunHandle, TalkHandle } from "../../service/service.ts";
import { json } from "../answers.ts";
import { insidePath, MAX_FILE_BODY_BYTES } from "../guard.ts";
import { invalid } from "../problem.ts";
import { defineRoute, type RouteContext } from "../route.ts";
import { followed, readAfter, runEvents, wantsEvents } from "../run_answers.ts";
import {
  ASK,
  BUDGET,
  EFFORT,
  EVENT_ANSWER,
  ID_PARAMS,
  listOf,
  MODEL,
  NAME,
  SCHEMAS,
  STREAM,
} from "./schemas.ts";

const TURN = onlyFields({ stream: STREAM });
const FILES = {
  type: "array",
  maxItems: 100,
  description: "What is shown with it: images (png, jpeg, gif, webp), PDFs and text, at most 20 MB each",
  items: onlyFields({
    name: { type: "string", maxLength: 1000 },
    data: { type: "string", description: "Base64" },
  }, ["data"]),
} as const;
const TALK = { description: "The conversation behind the turn", schema: SCHEMAS.TalkState } as const;
const TURN_ANSWERS = { 200: { ...TALK, orEvents: true } } as const;
const TURN_PROBLEMS = {
  400: ["empty"],
  404: ["not-found", "gone"],
  409: ["busy", "ended", "interrupted", "changed", "nothing"],
  429: ["limit"],
  503: ["stopping", "readers"],
} as const;

/** A turn: its events when they were asked for, else the conversation when it has ended. */
async function turnAnswer(
  context: RouteContext<unknown, unknown, { readonly stream?: boolean }>,
  { talk, turn, status = 200 }: {
    readonly talk: TalkHandle;
    readonly turn: RunHandle;
    readonly status?: number;
  },
): Promise<Response> {
  const place = { location: `/v1/conversations/${encodeURIComponent(talk.id)}` };
  if (wantsEvents(context.request, context.body.stream)) {
    return followed(context, turn, {
      headers: { "orrery-run": talk.id, "content-location": place.location },
    });
  }
  await turn.ended;
  return json(await talk.state(), { status, headers: status === 201 ? place : {} });
}

/** What is said with files. @throws {HttpProblem} that names the file */
function wordsOf(text = "", files: FromJsonSchema<typeof FILES> = []): Words {
  return wordsWith(
    text,
    files.map(({ name, data }, index) => {
      const shown = shownBase64(data, { name });
      if ("part" in shown) return shown.part;
      const at = `files[${index}]`;
      throw invalid(`${at}: ${name === undefined ? "it" : JSON.stringify(name)} ${shown.problem}`, {
        field: at,
      });
    }),
  );
}

/** Conversations with agents. */
export const conversationRoutes = [
  defineRoute(
    "POST",
    "/v1/conversations",
    "Begins a conversation with an agent; answers when its first turn has ended",
    {
      body: onlyFields({
        agent: { ...NAME, description: "The file of the agent, relative to the project root" },
        slots: { type: "object", description: "Slots that are set before its first step" },
        user: { ...NAME, description: "With whom: global slots are kept for this user. Without it: local" },
        module: NAME,
        session: NAME,
        message: { type: "string", description: "What is said first" },
        files: FILES,
        model: MODEL,
        effort: EFFORT,
        budget: BUDGET,
        ask: ASK,
        stream: STREAM,
      }, ["agent"]),
      responses: { 200: EVENT_ANSWER, 201: TALK },
      problems: { 403: ["outside"], 422: ["check"], ...TURN_PROBLEMS },
      maxBytes: MAX_FILE_BODY_BYTES,
      async handle(context) {
        const { agent, slots, ask, message, files, stream: _stream, ...wishes } = context.body;
        const begun = await context.service.talks.begin({
          agent: insidePath(agent),
          ...wishes,
          message: message === undefined && files === undefined ? undefined : wordsOf(message, files),
          slots: slots && toJsonObject(slots),
          canAsk: ask,
        });
        return await turnAnswer(context, { ...begun, status: 201 });
      },
    },
  ),
  defineRoute("GET", "/v1/conversations", "The conversations of the project, newest first", {
    query: onlyFields({ agent: NAME, limit: { type: "integer", minimum: 1, maximum: 200 } }),
    responses: {
      200: {
        description: "Conversations",
        schema: listOf("conversations", SCHEMAS.TalkState),
      },
    },
    handle: async ({ service, query }) => json({ conversations: await service.talks.list(query) }),
  }),
  defineRoute("GET", "/v1/conversations/{id}", "How a conversation stands", {
    params: ID_PARAMS,
    query: onlyFields({
      last: { type: "integer", minimum: 1, description: "Only so many of its newest messages" },
    }),
    responses: { 200: { description: "The conversation", schema: SCHEMAS.TalkState } },
    problems: { 404: ["not-found", "gone"] },
    handle: async ({ service, params, query }) =>
      json(await (await service.talks.open(params.id)).state(query)),
  }),
  defineRoute("GET", "/v1/conversations/{id}/export", "All that is kept of a conversation", {
    description:
      "As orrery show conversation --json has it: with where it is, whose it is, and all its messages.",
    params: ID_PARAMS,
    responses: { 200: { description: "The conversation", schema: { type: "object" } } },
    problems: { 404: ["not-found", "gone"] },
    handle: async ({ service, params }) => json(await (await service.talks.open(params.id)).exported()),
  }),
  defineRoute("POST", "/v1/conversations/{id}/messages", "Says something; answers when the turn has ended", {
    params: ID_PARAMS,
    body: onlyFields({ text: { type: "string" }, files: FILES, stream: STREAM }, ["text"]),
    responses: TURN_ANSWERS,
    problems: TURN_PROBLEMS,
    maxBytes: MAX_FILE_BODY_BYTES,
    async handle(context) {
      const { text, files } = context.body;
      const talk = await context.service.talks.open(context.params.id);
      return await turnAnswer(context, { talk, turn: await talk.say(wordsOf(text, files)) });
    },
  }),
  defineRoute(
    "POST",
    "/v1/conversations/{id}/retry",
    "Tries the turn that failed, or was interrupted, again; makes the first one where there is none",
    {
      params: ID_PARAMS,
      body: TURN,
      responses: TURN_ANSWERS,
      problems: TURN_PROBLEMS,
      async handle(context) {
        const talk = await context.service.talks.open(context.params.id);
        return await turnAnswer(context, { talk, turn: await talk.retry() });
      },
    },
  ),
  defineRoute(
    "POST",
    "/v1/conversations/{id}/back",
    "A new conversation, without the last turns of this one",
    {
      params: ID_PARAMS,
      body: onlyFields({ turns: { type: "integer", minimum: 1 } }, ["turns"]),
      responses: { 200: { description: "The conversation before them", schema: SCHEMAS.TalkState } },
      problems: { 404: ["not-found", "gone"], 409: ["busy"] },
      async handle({ service, params, body }) {
        return json(await (await service.talks.open(params.id)).back(body.turns));
      },
    },
  ),
  defineRoute(
    "GET",
    "/v1/conversations/{id}/events",
    "The events of all turns, until the conversation is completed",
    {
      params: ID_PARAMS,
      query: onlyFields({ after: { type: "integer", minimum: 0 } }),
      responses: { 200: EVENT_ANSWER },
      problems: { 404: ["not-found", "gone"], 503: ["readers"] },
      async handle(context) {
        const after = readAfter(context.request, context.query.after);
        const talk = await context.service.talks.open(context.params.id);
        return runEvents(context, talk.read({ after }));
      },
    },
  ),
];
