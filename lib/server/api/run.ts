import { onlyFields } from "../../core/core.ts";
import { type RunHandle, type Service, ServiceError } from "../../service/service.ts";
import { empty, json } from "../answers.ts";
import { defineRoute } from "../route.ts";
import { endOf, readAfter, runEvents, started } from "../run_answers.ts";
import { invalid } from "../problem.ts";
import {
  ASK,
  BEGINNING_PARAMS,
  BUDGET,
  EVENT_ANSWER,
  ID_PARAMS,
  listOf,
  MAX_NAME,
  MAY_LACK,
  SCHEMAS,
  STREAM,
} from "./schemas.ts";

/** A run that is under way here. @throws {ServiceError} */
async function underWay(service: Service, id: string): Promise<RunHandle> {
  const here = service.find(id);
  if (here?.status === "running") return here;
  const { status } = here ?? await service.run(id);
  const found = service.find(id); // of another node, once it was asked for
  if (found?.status === "running") return found;
  if (status === "running") {
    throw new ServiceError(
      `Run ${id} belongs to another process of this machine, or is only just going on here: expected one of this server`,
      { code: "busy" },
    );
  }
  throw new ServiceError(`Run ${id} is not under way: it is ${status}`, { code: "ended" });
}

const STEPS = { type: "array", maxItems: 10_000, items: { type: "string", maxLength: MAX_NAME } } as const;

/** One run: looked at, followed, stopped, gone on with, answered, removed. */
export const runRoutes = [
  defineRoute("GET", "/v1/runs/{id}", "How a run stands", {
    params: BEGINNING_PARAMS,
    query: onlyFields({
      wait: { type: "number", minimum: 0, maximum: 60, description: "Seconds to wait for its end" },
    }),
    responses: { 200: { description: "The run", schema: SCHEMAS.RunState } },
    problems: MAY_LACK,
    async handle({ service, params, query: { wait = 0 } }) {
      const id = await service.idOf(params.id);
      const run = service.find(id);
      return json(
        run === undefined ? await service.run(id) : await endOf(run, { waitMs: wait * 1000 }),
      );
    },
  }),
  defineRoute("GET", "/v1/runs/{id}/trace", "All that is kept of a run: its steps, events, messages", {
    params: BEGINNING_PARAMS,
    responses: { 200: { description: "The trace", schema: { type: "object" } } },
    problems: MAY_LACK,
    handle: async ({ service, params }) => json(await service.trace(await service.idOf(params.id))),
  }),
  defineRoute("GET", "/v1/runs/{id}/events", "The events of a run, as they happen", {
    params: BEGINNING_PARAMS,
    query: onlyFields({
      after: {
        type: "integer",
        minimum: 0,
        description: "Only what comes behind this seq; Last-Event-ID wins",
      },
    }),
    responses: { 200: EVENT_ANSWER, 204: { description: "It is over, and there is nothing more" } },
    problems: { 404: ["not-found"], 503: ["readers"] },
    async handle(context) {
      const { service, request, params, query } = context;
      const id = await service.idOf(params.id);
      const after = readAfter(request, query.after);
      const status = await service.status(id);
      const reader = await service.read(id, { after });
      if (status === "running") return runEvents(context, reader);
      const first = await reader.next({ maxBytes: 65_536 }); // of a run that is over: there is nothing to wait for
      return first === undefined ? empty() : runEvents(context, reader, { first });
    },
  }),
  defineRoute("POST", "/v1/runs/{id}/cancel", "Stops a run; it can be gone on with", {
    params: ID_PARAMS,
    body: onlyFields({ reason: { type: "string", maxLength: MAX_NAME } }),
    responses: { 202: { description: "It is told to stop", schema: SCHEMAS.RunState } },
    problems: { 404: ["not-found"], 409: ["ended", "busy"] },
    async handle({ service, params, body: { reason } }) {
      const run = await underWay(service, params.id);
      run.cancel(reason);
      return json(run.state, { status: 202 });
    },
  }),
  defineRoute(
    "POST",
    "/v1/runs/{id}/resume",
    "Goes on with a run that was stopped, also by the end of its process",
    {
      params: ID_PARAMS,
      body: onlyFields({
        rerun: { ...STEPS, description: "Steps whose end is not known: to be done again" },
        skip: { ...STEPS, description: "The same: to be left out" },
        budget: BUDGET,
        ask: ASK,
        stream: STREAM,
      }),
      responses: { 200: EVENT_ANSWER, 202: { description: "It goes on", schema: SCHEMAS.Started } },
      problems: {
        404: ["not-found"],
        409: ["busy", "ended", "changed", "unverified"],
        422: ["check"],
        429: ["limit"],
        503: ["stopping", "readers"],
      },
      async handle(context) {
        const { ask, stream: _stream, ...wishes } = context.body;
        const run = await context.service.resume(context.params.id, {
          ...wishes,
          ...(ask !== undefined && { canAsk: ask }),
        });
        return started(context, run, context.body);
      },
    },
  ),
  defineRoute(
    "POST",
    "/v1/runs/{id}/answers",
    "Answers a question of a run: allow for a permission, text for everything else",
    {
      params: ID_PARAMS,
      body: onlyFields({
        ask: { type: "string", minLength: 1, maxLength: 100 },
        allow: { type: "boolean" },
        text: { type: "string" },
      }, ["ask"]),
      responses: {
        200: {
          description: "It is answered; what else is open",
          schema: listOf("asks", SCHEMAS.OpenAsk),
        },
      },
      problems: { 404: ["not-found"], 409: ["ended", "busy"] },
      async handle({ service, params, body: { ask, allow, text } }) {
        const answer = answerOf(allow, text);
        const decided = service.find(params.id)?.decided(ask);
        if (decided !== undefined) throw notOpen(params.id, ask, decided);
        const run = await underWay(service, params.id);
        if (!await run.answer(ask, answer, { by: "http" })) throw notTaken(run, ask);
        return json({ asks: run.state.asks });
      },
    },
  ),
  defineRoute("DELETE", "/v1/runs/{id}", "Removes a run that is over from the journal", {
    params: ID_PARAMS,
    responses: { 204: { description: "It is gone" } },
    problems: { 404: ["not-found"], 409: ["busy"] },
    async handle({ service, params }) {
      await service.remove(params.id);
      return empty();
    },
  }),
];

function notOpen(run: string, ask: string, why: string): Error {
  return new ServiceError(`${ask} of run ${run} is not open: ${why}`, { code: "ended" });
}

/** It is not open, or this is no answer to it. */
function notTaken(run: RunHandle, ask: string): Error {
  const open = run.state.asks.find((each) => each.ask === ask);
  if (open === undefined) {
    return notOpen(run.id, ask, "it was decided earlier, which the trace of the run tells, or never asked");
  }
  const { kind, choices } = open;
  if (kind === "permission") return invalid(`found text for the permission ${ask}, expected allow`);
  if (choices === undefined) return invalid(`found allow for the question ${ask}, expected text`);
  const said = choices.map((choice) => JSON.stringify(choice)).join(" or ");
  return invalid(`found no choice of the question ${ask}, expected text, one of ${said}`);
}

function answerOf(allow: boolean | undefined, text: string | undefined) {
  if (allow !== undefined && text === undefined) return { allow };
  if (text !== undefined && allow === undefined) return { text };
  throw invalid(
    `found ${allow === undefined ? "neither allow nor text" : "allow and text"}, expected one of them`,
  );
}
