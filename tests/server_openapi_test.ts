// The OpenAPI document is valid by two validators that nobody here wrote, and true: requests that are made of its schemas are understood by
// every route, and what comes back fits what it says.

import assert from "node:assert/strict";
import SwaggerParser from "@apidevtools/swagger-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import fc from "fast-check";
import type { JsonSchema } from "../mod.ts";
import { isRecord } from "../lib/core/json.ts";
import { issuesText } from "../lib/schema/validate.ts";
import { validateInput } from "../lib/schema/validate.ts";
import { ROUTES } from "../lib/server/route_table.ts";
import type { Accepts, Route } from "../lib/server/route.ts";
import { askServer, TOKEN } from "./_server.ts";
import { serveFake } from "./_fake_service.ts";
import type { ServedFake } from "./_fake_service.ts";

type Fields = Readonly<Record<string, unknown>>;

async function documentOf(served: ServedFake): Promise<Fields> {
  const json: unknown = await (await served.ask("/openapi.json")).json();
  assert.ok(isRecord(json));
  return json;
}

Deno.test("/openapi.json is valid OpenAPI 3.1", async () => {
  await using served = serveFake();
  const document = await documentOf(served);
  assert.equal(document.openapi, "3.1.0");
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors));
  await SwaggerParser.validate(JSON.parse(JSON.stringify(document)));
  // What they check is not nothing.
  assert.ok(!(await new Validator().validate({ ...document, info: {} })).valid);
});

Deno.test("every operation has an id of its own, a summary, and answers", async () => {
  await using served = serveFake();
  const { paths } = await documentOf(served);
  assert.ok(isRecord(paths));
  const ids = Object.values(paths).flatMap((methods) => isRecord(methods) ? Object.values(methods) : []).map(
    (operation) => {
      assert.ok(
        isRecord(operation) && typeof operation.summary === "string" && isRecord(operation.responses),
      );
      return operation.operationId;
    },
  );
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(ids.length, ROUTES.length);
});

/** Values of a schema; in the words that the routes of Orrery use. */
function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, enum: choices, anyOf, oneOf } = schema;
  if (Array.isArray(choices)) return fc.constantFrom(...choices);
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return fc.oneof(...branches.filter(isRecord).map(valuesOf));
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return fc.oneof(...types.map((each) => ofType(each, schema)));
}

function ofType(type: unknown, schema: JsonSchema): fc.Arbitrary<unknown> {
  const { minimum = 0, maximum = 1_000, minLength = 0, maxLength = 40, maxItems = 3 } = schema;
  switch (type) {
    case "string":
      return typeof schema.pattern === "string"
        ? fc.stringMatching(new RegExp(schema.pattern, "u"))
        : fc.string({
          minLength: Number(minLength),
          maxLength: Math.min(40, Number(maxLength)),
          unit: "grapheme",
        });
    case "integer":
      return fc.integer({ min: Number(minimum), max: Number(maximum) });
    case "number":
      return fc.float({ min: Number(minimum), max: Number(maximum), noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valuesOf(isRecord(schema.items) ? schema.items : {}), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Math.min(3, Number(maxItems)),
      });
    case "object":
      return objectOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  assert.ok(isRecord(properties) && Array.isArray(required));
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesOf(isRecord(schema) ? schema : {})]),
  );
  return fc.record(fields, { requiredKeys: required.filter((name) => typeof name === "string") });
}

interface Wanted {
  readonly params: Fields;
  readonly query: Fields;
  readonly body: Fields;
}

function requestsOf({ request = {} }: Route): fc.Arbitrary<Wanted> {
  const part = (schema: JsonSchema | undefined) =>
    schema === undefined ? fc.constant({}) : valuesOf(schema).filter(isRecord);
  return fc.record({ params: part(request.params), query: part(request.query), body: part(request.body) });
}

async function ask(
  served: ServedFake,
  { method, path, accepts = "json" }: Route,
  wanted: Wanted,
): Promise<Response> {
  const query = new URLSearchParams(
    Object.entries(wanted.query).map(([name, value]) => [name, String(value)]),
  );
  const at = path.replaceAll(
    /\{(\w+)\+?\}/g,
    (_whole, name: string) => encodeURIComponent(String(wanted.params[name] ?? "x")),
  );
  const url = `${at}${query.size > 0 ? `?${query}` : ""}`;
  if (method === "GET") return await served.ask(url);
  const { body, type } = BODIES[accepts](wanted.body);
  return await fetch(served.origin + url, {
    method,
    redirect: "manual",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": type },
    body,
    signal: AbortSignal.timeout(20_000),
  });
}

const BODIES: Readonly<
  Record<Accepts, (fields: Fields) => { readonly body: string; readonly type: string }>
> = {
  json: (fields) => ({ body: JSON.stringify(fields), type: "application/json" }),
  form: (fields) => ({
    body: new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
      .toString(),
    type: "application/x-www-form-urlencoded",
  }),
  calls: () => ({ body: "@call{Echo}\n", type: "text/plain" }),
};

/** Routes that go on, and those whose paths cannot be made up. */
const LONG: ReadonlySet<string> = new Set(["/v1/conversations/{id}/events", "/mcp"]);

Deno.test("every route understands requests that are made of its schemas, and answers as it says", async () => {
  await using served = serveFake();
  await (await served.ask("/v1/runs", { body: { file: "a.calls" } })).body?.cancel();
  await (await served.ask("/v1/conversations", { body: { agent: "a.agent.yml" } })).body?.cancel();
  for (const route of ROUTES) {
    if (LONG.has(route.path)) continue;
    const known = route.path.startsWith("/v1/runs/") ? "run-1" : "talk-1";
    await fc.assert(
      fc.asyncProperty(requestsOf(route), fc.boolean(), async (wanted, isKnown) => {
        const { id: _id, ...rest } = wanted.params;
        const params = isKnown && "id" in wanted.params ? { ...rest, id: known } : wanted.params;
        const response = await ask(served, route, { ...wanted, params });
        const place = `${route.method} ${route.path} ${JSON.stringify(wanted)}: ${response.status}`;
        try {
          await assertAsTold(route, response, place);
        } finally {
          await response.body?.cancel().catch(() => undefined);
        }
      }),
      { numRuns: 15 },
    );
  }
});

/** Every answer is one of those that the route has told, by its status, its type and its schema. */
async function assertAsTold(route: Route, response: Response, place: string): Promise<void> {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  assert.notEqual(response.headers.get("x-content-type-options"), null, place);
  const told = route.responses[status];
  if (told === undefined) {
    const codes = [...route.problems?.[status] ?? [], ...COMMON[status] ?? []];
    const hasOwnForm = route.tellProblem !== undefined || type.startsWith("text/html");
    if (hasOwnForm) return assert.ok(status >= 400 && status < 500, place);
    assert.equal(type, "application/problem+json", place);
    const json: unknown = await response.json();
    assert.ok(isRecord(json) && typeof json.code === "string", place);
    assert.ok(codes.includes(json.code), `${place} ${JSON.stringify(json)}, expected ${codes.join(", ")}`);
    return;
  }
  if (type.startsWith("text/event-stream")) {
    assert.ok(told.type === "text/event-stream" || told.orEvents === true, place);
    return;
  }
  if (told.schema === undefined || (told.type ?? "application/json") !== "application/json") return;
  const checked = await validateInput(told.schema, await response.json());
  assert.ok(checked.ok, `${place} ${checked.ok ? "" : issuesText(checked.issues)}`);
}

/** What every route may say. */
const COMMON: Readonly<Record<number, readonly string[]>> = {
  400: ["invalid", "path", "json"],
  403: ["outside"],
};

Deno.test("what does not fit the schemas is refused by every route, with a code", async () => {
  await using served = serveFake();
  for (const route of ROUTES) {
    if (route.method === "GET" || route.request?.body?.additionalProperties !== false) continue;
    const path = route.path.replaceAll(/\{\w+\+?\}/g, "x");
    const isForm = route.accepts === "form";
    const response = isForm
      ? await fetch(served.origin + path, { method: "POST", body: new URLSearchParams({ unknown: "1" }) })
      : await askServer(served.origin, path, { method: route.method, body: { "no such field": 1 } });
    assert.equal(response.status, 400, `${route.method} ${path}`);
    assert.match(await response.text(), /no such field|unknown/);
  }
});
