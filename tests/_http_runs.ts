// Runs over HTTP: begun, followed to a place, waited for.

import assert from "node:assert/strict";
import type { Served } from "./_served_project.ts";

/** A frame of an answer that goes on: an event of a run, or something that has no number, such as a question. */
export interface Told {
  readonly type: string;
  /** Of an event. */
  readonly seq: number | undefined;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

/** What an answer tells, as it comes. Leaving it early leaves the answer. */
export async function* toldIn({ body }: Response): AsyncGenerator<Told, undefined> {
  let rest = "";
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = `${rest}${text}`.split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const [, type, id, data] = /^event: (.*)\n(?:id: (\d+)\n)?data: (.*)$/.exec(part) ?? [];
      if (type === undefined || data === undefined) continue;
      yield { type, seq: id === undefined ? undefined : Number(id), data: JSON.parse(data) };
    }
  }
}

/** Begins what a body wants; gives its id. */
export async function begun(
  server: Served,
  body: Readonly<Record<string, unknown>>,
  path = "/v1/runs",
): Promise<string> {
  const answer = await server.json(path, { body });
  assert.ok(answer.status === 202 || answer.status === 201, JSON.stringify(answer.body));
  return String(answer.body.id);
}

/** A run as JSON. */
// deno-lint-ignore no-explicit-any
export type RunJson = Readonly<Record<string, any>>;

/** How a run stands. */
export async function runOf(server: Served, id: string): Promise<RunJson> {
  const { status, body } = await server.json(`/v1/runs/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** How it ended. */
export async function endOf(server: Served, id: string): Promise<RunJson> {
  const { status, body } = await server.json(`/v1/runs/${id}?wait=20`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.notEqual(body.status, "running", JSON.stringify(body));
  return body;
}

/** Runs it to its end. */
export async function ran(
  server: Served,
  body: Readonly<Record<string, unknown>>,
  path?: string,
): Promise<RunJson> {
  return await endOf(server, await begun(server, body, path));
}

/** All that a run tells behind a number, up to the first that is meant, or to its end. */
export async function toldOf(
  server: Served,
  id: string,
  { after = 0, until = () => false, of = "runs" }: {
    readonly after?: number;
    readonly until?: (told: Told) => boolean;
    readonly of?: "runs" | "conversations";
  } = {},
): Promise<readonly Told[]> {
  const answer = await server.ask(`/v1/${of}/${id}/events?after=${after}`);
  assert.ok(answer.status === 200 || answer.status === 204, String(answer.status));
  const all: Told[] = [];
  for await (const told of toldIn(answer)) {
    all.push(told);
    if (until(told)) break;
  }
  return all;
}

/** Waits until a run asks something; gives its questions. */
export async function asked(server: Served, id: string): Promise<readonly RunJson[]> {
  await toldOf(server, id, { until: ({ type }) => type === "ask" });
  return (await runOf(server, id)).asks;
}

/** Stops a run, and waits for that. */
export async function stop(server: Served, id: string): Promise<RunJson> {
  const { status, body } = await server.json(`/v1/runs/${id}/cancel`, { body: { reason: "enough" } });
  assert.equal(status, 202, JSON.stringify(body));
  return await endOf(server, id);
}

/** Answers a question. */
export async function answer(
  server: Served,
  id: string,
  given: { readonly ask: string; readonly allow?: boolean; readonly text?: string },
): Promise<string> {
  const { status, body } = await server.json(`/v1/runs/${id}/answers`, { body: given });
  return status === 200 ? "200" : `${status} ${body.code}: ${body.detail}`;
}

/** The refusal of a request. */
export async function refusalOf(
  server: Served,
  path: string,
  body?: unknown,
): Promise<{ readonly code: string; readonly detail: string; readonly body: RunJson }> {
  const found = await server.json(path, body === undefined ? {} : { body });
  assert.ok(found.status >= 400, `${path}: ${found.status} ${JSON.stringify(found.body)}`);
  return {
    code: `${found.status} ${found.body.code}`,
    detail: String(found.body.detail),
    body: found.body,
  };
}
