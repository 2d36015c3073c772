import { json } from "../answers.ts";
import { insidePath } from "../inside_path.ts";
import { defineRoute } from "../route.ts";
import { jsonObject, started } from "../run_answers.ts";
import { ASK, BUDGET, EVENT_ANSWER, MAX_NAME, MODEL, SCHEMAS, STREAM } from "../schemas.ts";

const PATH = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1, maxLength: MAX_NAME, description: "Such as review/code" },
  },
  required: ["path"],
} as const;

const INPUT = { type: "object", description: "Values of its variables" } as const;

/** Prompts of the registry. */
export const promptRoutes = [
  defineRoute({
    method: "POST",
    path: "/v1/prompts/{path+}/render",
    summary: "The prompt with these values, as a model would get it; no model is asked",
    request: {
      params: PATH,
      body: { type: "object", properties: { input: INPUT }, additionalProperties: false },
    },
    responses: {
      200: {
        description: "Its text",
        schema: {
          type: "object",
          properties: {
            text: { type: "string" },
            tools: { type: "array", items: { type: "string" } },
            contract: { description: "What an answer has to be" },
          },
          required: ["text", "tools", "contract"],
        },
      },
    },
    problems: { 403: ["outside"], 404: ["not-found"], 422: ["check"] },
    access: "token",
    handle: async ({ service, params, body: { input = {} } }) =>
      json(await service.look.render(insidePath(params.path), jsonObject(input))),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/prompts/{path+}/run",
    summary: "Runs a prompt or a tactic",
    request: {
      params: PATH,
      body: {
        type: "object",
        properties: {
          input: INPUT,
          say: { type: "string", description: "What is said to it" },
          profile: { type: "string", maxLength: MAX_NAME },
          model: MODEL,
          budget: BUDGET,
          ask: ASK,
          stream: STREAM,
        },
        additionalProperties: false,
      },
    },
    responses: { 200: EVENT_ANSWER, 202: { description: "It has begun", schema: SCHEMAS.Started } },
    problems: {
      403: ["outside"],
      404: ["not-found"],
      422: ["check", "model"],
      429: ["limit"],
      503: ["stopping", "readers"],
    },
    access: "token",
    async handle(context) {
      const { input, ask, stream: _stream, ...wanted } = context.body;
      const run = await context.service.start({
        kind: "prompt",
        path: insidePath(context.params.path),
        ...wanted,
        ...(input !== undefined && { input: jsonObject(input) }),
        ...(ask !== undefined && { canAsk: ask }),
      });
      return started(context, run, context.body);
    },
  }),
];
