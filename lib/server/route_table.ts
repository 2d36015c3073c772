// Every route there is. What is not in this table is not there.
import { isJsonObject, type JsonObject, objectOf, onlyFields, toJsonObject } from "../core/core.ts";
import { CATALOG_PARTS } from "../service/look/look.ts";
import type { RunState } from "../service/service.ts";
import { json, seeOther } from "./answers.ts";
import { docsPage } from "./pages/docs.tsx";
import { insidePath } from "./guard.ts";
import type { McpHttp } from "./mcp/http.ts";
import { openAiRoutes } from "./openai/openai.ts";
import { pageRoutes } from "./pages/pages.tsx";
import { defineRoute, type Route, type RouteContext } from "./route.ts";
import { conversationRoutes } from "./api/conversations.ts";
import { loginRoutes } from "./api/login.tsx";
import { openapiRoute } from "./api/openapi.ts";
import { runRoutes } from "./api/run.ts";
import { runsRoutes } from "./api/runs.ts";
import { followed, started, wantsEvents } from "./run_answers.ts";
import { HttpProblem, invalid } from "./problem.ts";
import {
  ASK,
  BUDGET,
  EFFORT,
  EVENT_ANSWER,
  MAX_NAME,
  MAY_NOT_START,
  MODEL,
  NAME,
  SCHEMAS,
  STREAM,
} from "./api/schemas.ts";
import { sessionCookie } from "./session.ts";

/** One call of one gadget. */
const gadgetRoutes = [
  defineRoute("POST", "/v1/gadgets/{name}", "Calls one gadget", {
    description:
      "422 is an answer to what was sent: the input does not fit the gadget (input), or the gadget threw, " +
      "which is how it says that it cannot do this call, and why (failed). 500 is no word of the gadget: it could not be loaded, " +
      "the process or the server it runs in is gone, or its result is no JSON.",
    params: objectOf({ name: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,63}$" } }, ["name"]),
    body: onlyFields({
      input: { type: "object", description: "What the gadget's own schema wants" },
      ask: ASK,
      stream: STREAM,
    }),
    responses: {
      200: {
        description: "What it gave",
        orEvents: true,
        schema: objectOf({ run: { type: "string" }, result: {} }, ["run", "result"]),
      },
    },
    problems: {
      403: ["refused"],
      404: ["not-found"],
      409: ["stopped"],
      422: ["input", "failed"],
      429: ["limit"],
      500: ["failed"],
      503: ["stopping", "readers"],
      504: ["timeout"],
    },
    async handle(context) {
      const { params: { name }, body: { input = {}, ask, stream } } = context;
      const run = await context.service.start({
        kind: "gadget",
        name,
        input: toJsonObject(input),
        canAsk: ask,
      });
      if (wantsEvents(context.request, stream)) return followed(context, run);
      return resultOf(await run.ended);
    },
  }),
];

function resultOf(state: RunState): Response {
  const { id, status, value = null, calls = [] } = state;
  const [call] = calls.filter(isJsonObject);
  if (status === "done" && (call === undefined || call.status === "result")) {
    return json({ run: id, result: value });
  }
  throw failed(state, call ?? {});
}

/** What is not here is 500: nothing of it is the word of a gadget to whoever called it. */
const STATUS_OF_CALL: Readonly<Record<string, readonly [status: number, code: string]>> = {
  "permission": [403, "refused"],
  "not-trusted": [403, "refused"],
  "unknown-gadget": [404, "not-found"],
  "input": [422, "input"],
  "parse": [422, "input"],
  "timeout": [504, "timeout"],
  "abort": [409, "stopped"],
  "failed": [422, "failed"],
};

function failed({ id, status, error, reason }: RunState, call: JsonObject): HttpProblem {
  const word = typeof call.code === "string" ? call.code : status === "stopped" ? "abort" : "";
  const [httpStatus, code] = STATUS_OF_CALL[word] ?? [500, "failed"];
  const detail = typeof call.error === "string"
    ? call.error
    : error ?? `the call ended as ${reason ?? status}`;
  return new HttpProblem(httpStatus, code, detail, {
    more: { run: id, ...(typeof call.flag === "string" && { flag: call.flag }) },
  });
}

const PATH = objectOf({
  path: { ...NAME, description: "Such as review/code" },
}, ["path"]);

const INPUT = { type: "object", description: "Values of its variables" } as const;

/** Prompts of the registry. */
const promptRoutes = [
  defineRoute(
    "POST",
    "/v1/prompts/{path+}/render",
    "The prompt with these values, as a model would get it; no model is asked",
    {
      params: PATH,
      body: onlyFields({ input: INPUT }),
      responses: {
        200: {
          description: "Its text",
          schema: objectOf({
            text: { type: "string" },
            tools: { type: "array", items: { type: "string" } },
            contract: { description: "What an answer has to be" },
          }, ["text", "tools", "contract"]),
        },
      },
      problems: { 403: ["outside"], 404: ["not-found"], 422: ["check"] },
      handle: async ({ service, params, body: { input = {} } }) =>
        json(await service.look.render(insidePath(params.path), toJsonObject(input))),
    },
  ),
  defineRoute("POST", "/v1/prompts/{path+}/run", "Runs a prompt or a tactic", {
    params: PATH,
    body: onlyFields({
      input: INPUT,
      say: { type: "string", description: "What is said to it" },
      profile: { type: "string", maxLength: MAX_NAME },
      model: MODEL,
      effort: EFFORT,
      budget: BUDGET,
      ask: ASK,
      stream: STREAM,
    }),
    responses: { 200: EVENT_ANSWER, 202: { description: "It has begun", schema: SCHEMAS.Started } },
    problems: {
      403: ["outside"],
      404: ["not-found"],
      ...MAY_NOT_START,
    },
    async handle(context) {
      const { input, ask, stream: _stream, ...wanted } = context.body;
      const run = await context.service.start({
        kind: "prompt",
        path: insidePath(context.params.path),
        ...wanted,
        input: input && toJsonObject(input),
        canAsk: ask,
      });
      return started(context, run, context.body);
    },
  }),
];

const LIST = { type: "array", items: { type: "object" } } as const;
const PROBLEMS = { type: "array", items: SCHEMAS.FileProblem } as const;

/** What is in the project, and what is wrong with it. */
const catalogRoutes = [
  defineRoute("GET", "/v1/catalog", "Everything that can be run, with schemas", {
    responses: {
      200: {
        description: "The catalogue",
        schema: objectOf({
          ...Object.fromEntries(CATALOG_PARTS.map((part) => [part, LIST])),
          problems: PROBLEMS,
        }, CATALOG_PARTS),
      },
    },
    handle: async ({ service }) => json(await service.look.catalog()),
  }),
  defineRoute(
    "GET",
    "/v1/sources/{path+}",
    "The text of a file of the project, as its pages show it",
    {
      description: "Secrets that the project and its environment have are taken out of it.",
      params: objectOf({ path: { ...NAME, description: "Relative to the project root" } }, ["path"]),
      responses: {
        200: {
          description: "Its text",
          schema: objectOf({ file: { type: "string" }, text: { type: "string" } }, ["file", "text"]),
        },
      },
      problems: { 403: ["outside"], 404: ["not-found"] },
      async handle({ service, params: { path } }) {
        return json({ file: path, text: await service.look.source(insidePath(path)) });
      },
    },
  ),
  defineRoute(
    "POST",
    "/v1/check",
    "What is wrong with files of the project, or with a posted text; nothing runs",
    {
      body: onlyFields({
        files: {
          type: "array",
          maxItems: 1_000,
          items: { ...NAME },
          description: "Relative to the project root; without it, and without text, all of the project",
        },
        name: { ...NAME, description: "Of the text: its ending says what it is" },
        text: { type: "string", description: "What is checked in place of files" },
      }),
      responses: {
        200: {
          description: "What was found",
          schema: objectOf({ problems: PROBLEMS }, ["problems"]),
        },
      },
      problems: { 403: ["outside"], 404: ["not-found"] },
      async handle({ service, body: { files, name, text } }) {
        if (text === undefined) {
          if (name !== undefined) throw invalid("found name without text, expected both or none");
          files?.forEach(insidePath);
          return json({ problems: await service.look.check(files === undefined ? {} : { files }) });
        }
        if (files !== undefined) throw invalid("found files and text, expected one of them");
        if (name === undefined) throw invalid("found text without name, expected name too, such as a.calls");
        return json({ problems: await service.look.check({ text: { name: insidePath(name), text } }) });
      },
    },
  ),
];

// MCP over HTTP at one path. What speaks it is loaded with the first request.

const path = "/mcp";

/** JSON-RPC 2.0. */
const MESSAGE = {
  type: ["object", "array"],
  description: "A request, a notification, an answer to the server, or several of them",
  maxItems: 1000,
  items: { type: "object" },
} as const;

/** The one path of MCP, with the sessions of one server. */
function mcpRoutes(): readonly Route[] {
  let opened: Promise<McpHttp> | undefined;
  const answer = async (context: RouteContext, body?: unknown): Promise<Response> =>
    await (await (opened ??= openHttp(context))).fetch(context.request, body);
  const access = "bearer";
  return [
    defineRoute("POST", path, "A message of MCP (streamable HTTP)", {
      body: MESSAGE,
      responses: {
        200: { description: "What it is answered with, as JSON or as SSE" },
        202: { description: "It needs no answer" },
      },
      access,
      handle: (context) => answer(context, context.body),
    }),
    defineRoute("GET", path, "What the server says by itself to a session of MCP, as SSE", {
      responses: { 200: { description: "Its messages", type: "text/event-stream" } },
      access,
      handle: (context) => answer(context),
    }),
    defineRoute("DELETE", path, "Ends a session of MCP", {
      responses: { 200: { description: "It has ended" } },
      access,
      handle: (context) => answer(context),
    }),
  ];
}

async function openHttp(context: RouteContext): Promise<McpHttp> {
  const { McpHttp }: typeof import("./mcp/http.ts") = await import("./mcp/http.ts" as string);
  return new McpHttp(context);
}

/** How a browser gets its cookie. */
const linkRoutes = [
  defineRoute("POST", "/v1/links", "A link to the page that works once, within five minutes", {
    responses: {
      201: {
        description: "The link",
        schema: objectOf({ url: { type: "string" } }, ["url"]),
      },
    },
    access: "bearer",
    handle: ({ settings }) =>
      json({ url: `${settings.origin}/link/${settings.sessions.link()}` }, { status: 201 }),
  }),
  defineRoute("GET", "/link/{code}", "Gives the browser its cookie, once", {
    params: objectOf({ code: { type: "string", pattern: "^[\\w-]{1,100}$" } }, ["code"]),
    responses: { 303: { description: "To the page" } },
    problems: { 404: ["link"] },
    access: "open",
    handle({ settings: { sessions, cookie }, params: { code }, isHead }) {
      if (isHead && sessions.isLink(code)) return seeOther("/"); // whoever looks where it leads has not followed it
      const session = sessions.follow(code);
      if (session === undefined) {
        throw new HttpProblem(
          404,
          "link",
          "this link was used, or is older than five minutes: open /login, or ask for a new one by POST /v1/links",
        );
      }
      return seeOther("/", { "set-cookie": sessionCookie(cookie, session) });
    },
  }),
];

/** Whether the server is there. */
const healthRoutes = [
  defineRoute("GET", "/healthz", "Whether the server is there", {
    responses: {
      200: {
        description: "It is",
        schema: objectOf({ status: { enum: ["ok"] }, version: { type: "string" } }, ["status", "version"]),
      },
    },
    access: "open",
    handle: ({ service }) => json({ status: "ok", version: service.version }),
  }),
];

/** A text of calls that runs while it is being sent. */
const callRoutes = [
  defineRoute(
    "POST",
    "/v1/calls",
    "Runs the calls of the body, each as soon as it has come; a body that breaks off ends the run",
    {
      responses: { 200: EVENT_ANSWER },
      problems: { 429: ["limit"], 503: ["stopping", "readers"] },
      accepts: "calls",
      async handle(context) {
        const gone = new AbortController();
        const text = context.text(gone.signal);
        const run = await context.service.start({ kind: "calls", name: "body.calls", text });
        return followed(context, run, { onGone: () => gone.abort() });
      },
    },
  ),
];

/** The table of one server. */
export function createRoutes(): readonly Route[] {
  const routes: readonly Route[] = [
    ...healthRoutes,
    ...catalogRoutes,
    ...runsRoutes,
    ...runRoutes,
    ...conversationRoutes,
    ...promptRoutes,
    ...callRoutes,
    ...gadgetRoutes,
    ...openAiRoutes(),
    ...mcpRoutes(),
    ...linkRoutes,
    ...loginRoutes,
    openapiRoute(() => routes),
    docsPage(() => routes),
    ...pageRoutes,
  ];
  return routes;
}
