// What the routes have in common that start something or follow it.

import { quietTimer } from "../host/quiet_timer.ts";
import { isJsonObject, toJson } from "../core/json.ts";
import type { JsonObject } from "../core/json.ts";
import type { RunHandle, RunState } from "../service/service.ts";
import { json } from "./answers.ts";
import { HttpProblem } from "./problem.ts";
import type { RouteContext } from "./route.ts";
import { runEvents, wantsEvents } from "./sse.ts";
import type { RunEventsOptions } from "./sse.ts";

/** Where a run is found. */
export function runUrl(id: string): string {
  return `/v1/runs/${encodeURIComponent(id)}`;
}

/** A run that has begun: its events when they were asked for, else where it is. */
export function started(
  context: Pick<RouteContext, "request" | "settings">,
  run: RunHandle,
  { stream }: { readonly stream?: boolean },
): Response {
  if (wantsEvents(context.request, stream)) return followed(context, run);
  const url = runUrl(run.id);
  const { id, kind, status } = run;
  return json({ id, kind, status, url, events: `${url}/events` }, {
    status: 202,
    headers: { location: url },
  });
}

/** All events of a run; of a conversation those of the turn. */
export function followed(
  context: Pick<RouteContext, "settings">,
  run: RunHandle,
  options: Pick<RunEventsOptions, "headers" | "onGone"> = {},
): Response {
  const after = run.kind === "conversation" ? run.before : 0;
  return runEvents(context, run.read({ after }), { headers: { "orrery-run": run.id }, ...options });
}

/** Waits for the end of a run, and no longer than this. */
export async function endOf(
  run: RunHandle,
  { waitMs }: { readonly waitMs: number },
): Promise<RunState> {
  if (waitMs <= 0) return run.state;
  const late = Promise.withResolvers<undefined>();
  using _late = quietTimer(waitMs, () => late.resolve(undefined));
  return await Promise.race([run.ended, late.promise]) ?? run.state;
}

/** A field that its schema has found to be an object. */
export function jsonObject(value: Readonly<Record<string, unknown>>): JsonObject {
  const given = toJson(value);
  return isJsonObject(given) ? given : {};
}

/** @throws {HttpProblem} 400 `invalid` */
export function invalid(detail: string): HttpProblem {
  return new HttpProblem(400, "invalid", { detail });
}
