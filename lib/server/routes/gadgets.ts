import { isJsonObject } from "../../core/json.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RunState } from "../../service/service.ts";
import { json } from "../answers.ts";
import { HttpProblem } from "../problem.ts";
import { defineRoute } from "../route.ts";
import { followed, jsonObject } from "../run_answers.ts";
import { ASK, STREAM } from "../schemas.ts";
import { wantsEvents } from "../sse.ts";

/** One call of one gadget. */
export const gadgetRoutes = [
  defineRoute({
    method: "POST",
    path: "/v1/gadgets/{name}",
    summary: "Calls one gadget",
    description:
      "422 is an answer to what was sent: the input does not fit the gadget (input), or the gadget threw, " +
      "which is how it says that it cannot do this call, and why (failed). 500 is no word of the gadget: it could not be loaded, " +
      "the process or the server it runs in is gone, or its result is no JSON.",
    request: {
      params: {
        type: "object",
        properties: { name: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,63}$" } },
        required: ["name"],
      },
      body: {
        type: "object",
        properties: {
          input: { type: "object", description: "What the gadget's own schema wants" },
          ask: ASK,
          stream: STREAM,
        },
        additionalProperties: false,
      },
    },
    responses: {
      200: {
        description: "What it gave",
        orEvents: true,
        schema: {
          type: "object",
          properties: { run: { type: "string" }, result: {} },
          required: ["run", "result"],
        },
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
    access: "token",
    async handle(context) {
      const { params: { name }, body: { input = {}, ask, stream } } = context;
      const run = await context.service.start({
        kind: "gadget",
        name,
        input: jsonObject(input),
        ...(ask !== undefined && { canAsk: ask }),
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
  return new HttpProblem(httpStatus, code, {
    detail,
    more: { run: id, ...(typeof call.flag === "string" && { flag: call.flag }) },
  });
}
