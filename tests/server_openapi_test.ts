// The OpenAPI document is valid by two validators that nobody here wrote, and true: requests that are made of its schemas are understood by
// every route, and what comes back fits what it says.

import assert from "node:assert/strict";
import SwaggerParser from "@apidevtools/swagger-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import fc from "fast-check";
import { Validator as SchemaValidator } from "@cfworker/json-schema";
import { type KnownRoute, openApiOf, type Operation, routesOf, type Schema, TYPES } from "./_routes.ts";
import { type Served, served } from "./_served_project.ts";
import { askServer, TOKEN } from "./_server.ts";
import { tries } from "./_thorough.ts";

type Fields = Readonly<Record<string, unknown>>;

const FILES = {
  "a.calls": "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n",
  "a.agent.yml": `version: "0.1"
structure:
  id: a
  action: { id: name?, message: { message: "Your name?", hold: true } }
`,
};

Deno.test("/openapi.json is valid OpenAPI 3.1, and every operation has an id of its own, a summary, and answers", async () => {
  await using server = await served({});
  const document = await openApiOf(server);
  assert.equal(document.openapi, "3.1.0");
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
  assert.ok(valid, JSON.stringify(errors));
  await SwaggerParser.validate(JSON.parse(JSON.stringify(document)));
  // What they check is not nothing.
  assert.ok(!(await new Validator().validate({ ...document, info: {} })).valid);
  const operations = (await routesOf(server)).map(({ operation }) => operation);
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  for (const { summary, responses } of operations) {
    assert.ok(summary !== "" && Object.keys(responses).length > 1);
  }
});

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Values of a schema; in the words that the routes of Orrery use. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const { type, enum: choices, anyOf, oneOf } = schema;
  if (Array.isArray(choices)) return fc.constantFrom(...choices);
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return fc.oneof(...branches.filter(isRecord).map(valuesOf));
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return fc.oneof(...types.map((each) => ofType(each, schema)));
}

function ofType(type: unknown, schema: Schema): fc.Arbitrary<unknown> {
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

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
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

function requestsOf({ params, query, body }: KnownRoute): fc.Arbitrary<Wanted> {
  const part = (schema: Schema | undefined) =>
    schema === undefined ? fc.constant({}) : valuesOf(schema).filter(isRecord);
  // A URL has no part of its path that is a dot or two: a client takes it out before it asks, and asks for something else.
  const isSaid = (fields: Fields): boolean =>
    !Object.values(fields).some((value) => /^\.{1,2}$/.test(String(value)));
  return fc.record({ params: part(params).filter(isSaid), query: part(query), body: part(body) });
}

async function ask(served: Served, { method, path, accepts }: KnownRoute, wanted: Wanted): Promise<Response> {
  const query = new URLSearchParams(
    Object.entries(wanted.query).map(([name, value]) => [name, String(value)]),
  );
  const at = path.replaceAll(
    /\{(\w+)\}/g,
    (_whole, name: string) => encodeURIComponent(String(wanted.params[name] ?? "x")),
  );
  const url = `${at}${query.size > 0 ? `?${query}` : ""}`;
  if (method === "GET") return await served.ask(url);
  return await fetch(served.origin + url, {
    method,
    redirect: "manual",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": TYPES[accepts] },
    body: BODIES[accepts](wanted.body),
    signal: AbortSignal.timeout(20_000),
  });
}

const BODIES: Readonly<Record<KnownRoute["accepts"], (fields: Fields) => string>> = {
  json: (fields) => JSON.stringify(fields),
  form: (fields) =>
    new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString(),
  calls: () => FILES["a.calls"],
};

/** Routes that go on. */
const LONG: ReadonlySet<string> = new Set(["/v1/conversations/{id}/events", "/v1/events", "/mcp"]);

Deno.test("every route understands requests that are made of its schemas, and answers as it says", async () => {
  await using server = await served(FILES, ["--quiet"]);
  const { components } = await openApiOf(server);
  const schemas = schemasOf(components);
  for (const route of await routesOf(server)) {
    if (LONG.has(route.path)) continue;
    // Each route has a run and a conversation of its own, since some take them away.
    const { body: run } = await server.json("/v1/runs", { body: { file: "a.calls" } });
    const { body: talk } = await server.json("/v1/conversations", { body: { agent: "a.agent.yml" } });
    const known = route.path.includes("conversations") ? talk.id : run.id;
    const isOfOne = isRecord(route.params.properties) && "id" in route.params.properties;
    await fc.assert(
      fc.asyncProperty(requestsOf(route), fc.boolean(), async (wanted, isKnown) => {
        const params = isKnown && isOfOne ? { ...wanted.params, id: known } : wanted.params;
        const response = await ask(server, route, { ...wanted, params });
        const place = `${route.method} ${route.path} ${JSON.stringify(wanted)}: ${response.status}`;
        try {
          await assertAsTold(route, { response, place, schemas });
        } finally {
          await response.body?.cancel().catch(() => undefined);
        }
      }),
      { numRuns: tries(isOfOne ? 8 : 5, 15) },
    );
  }
  assert.equal(server.told(), "");
});

type Validators = (schema: Schema) => SchemaValidator;

/** What checks a value by a schema of the document. */
function schemasOf({ schemas }: { readonly schemas: Readonly<Record<string, Schema>> }): Validators {
  const known = new Map<Schema, SchemaValidator>();
  return (schema) => {
    const found = known.get(schema) ?? new SchemaValidator({ ...schema, components: { schemas } }, "2020-12");
    known.set(schema, found);
    return found;
  };
}

/** The codes that an answer of this status may have: the document lists them behind its title. */
function codesOf({ responses }: Operation, status: number): readonly string[] {
  return responses[status]?.description.split(": ")[1]?.split(", ") ?? [];
}

/** Every answer is one of those that the route has told, by its status, its type and its schema. */
async function assertAsTold(
  { path, operation }: KnownRoute,
  { response, place, schemas }: {
    readonly response: Response;
    readonly place: string;
    readonly schemas: Validators;
  },
): Promise<void> {
  const { status } = response;
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  assert.notEqual(response.headers.get("x-content-type-options"), null, place);
  if (status >= 400) {
    const hasOwnForm = path.startsWith("/v1/chat") || path.startsWith("/v1/models") || type === "text/html";
    if (hasOwnForm) return assert.ok(status < 500, place);
    assert.equal(type, "application/problem+json", place);
    const json: unknown = await response.json();
    assert.ok(isRecord(json) && typeof json.code === "string", place);
    const codes = [...codesOf(operation, status), ...COMMON[status] ?? []];
    assert.ok(codes.includes(json.code), `${place} ${JSON.stringify(json)}, expected ${codes.join(", ")}`);
    return;
  }
  const { content } = operation.responses[status] ?? assert.fail(`${place} is not told of`);
  const told = Object.entries(content ?? {}).find(([each]) => each.split(";")[0] === type)?.[1];
  if (status === 204 || status === 303) return;
  assert.ok(told, `${place} ${type}`);
  if (type !== "application/json") return;
  const { valid, errors } = schemas(told.schema).validate(await response.json());
  assert.ok(valid, `${place} ${JSON.stringify(errors)}`);
}

/** What every route may say. */
const COMMON: Readonly<Record<number, readonly string[]>> = {
  400: ["invalid", "path", "json"],
  403: ["outside"],
};

Deno.test("what does not fit the schemas is refused by every route, with a code", async () => {
  await using server = await served({});
  for (const route of await routesOf(server)) {
    if (route.method === "GET" || route.body?.additionalProperties !== false) continue;
    const path = route.path.replaceAll(/\{\w+\}/g, "x");
    const response = route.accepts === "form"
      ? await fetch(server.origin + path, { method: "POST", body: new URLSearchParams({ unknown: "1" }) })
      : await askServer(server.origin, path, { method: route.method, body: { "no such field": 1 } });
    assert.equal(response.status, 400, `${route.method} ${path}`);
    assert.match(await response.text(), /no such field|unknown/);
  }
});
