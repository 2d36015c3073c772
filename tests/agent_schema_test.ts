// The JSON Schema of agent files that is printed, held against the one of the cases and against the cases themselves.

import assert from "node:assert/strict";
import { Validator } from "@cfworker/json-schema";
import { parseAllDocuments } from "yaml";
import { agentCases, agentText, caseFile } from "./_agent_file.ts";
import { orrery } from "./_run.ts";

/** What a JSON Schema cannot see: YAML itself, and what one part says of another. */
const UNSEEN: readonly string[] = [
  "02-yaml-syntax",
  "04-two-documents",
  "14-duplicate-step-id",
  "20-llm-nothing-to-send",
  "31-goto-unknown",
  "32-goto-chain",
  "34-goto-other-branch",
  "35-repeat-without-chain",
  "47-response-path-broken",
  "50-validator-goal-twice",
  "55-extractor-same-slot",
];

type Schema = Readonly<Record<string, unknown>>;

const MINE: Schema = JSON.parse((await orrery(["schema", "agent"])).stdout);
const THEIRS: Schema = JSON.parse(await caseFile("agent.schema.json"));

function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const fits = (schema: Schema, value: unknown): boolean =>
  new Validator({ ...schema }, "2020-12").validate(value).valid;

/** Undefined: it is not one document of YAML. */
function yamlOf(text: string): unknown {
  const documents = parseAllDocuments(text, { version: "1.2", logLevel: "error" });
  if (documents.length === 0) return null;
  const [document, ...more] = documents;
  return document?.errors.length === 0 && more.length === 0 ? document.toJS() : undefined;
}

Deno.test("agent schema: every valid case fits both schemas", async () => {
  for (const { name, text } of await agentCases("valid")) {
    for (const schema of [MINE, THEIRS]) assert.ok(fits(schema, yamlOf(text)), name);
  }
});

Deno.test("agent schema: every invalid case that a schema can see fits neither", async () => {
  for (const { name, text } of await agentCases("invalid")) {
    const value = yamlOf(text);
    if (value === undefined) assert.ok(UNSEEN.includes(name), name);
    else for (const schema of [MINE, THEIRS]) assert.equal(fits(schema, value), UNSEEN.includes(name), name);
  }
});

Deno.test("agent schema: what only Orrery has fits, and is marked", () => {
  const own = [
    "id: m\nllm: { prompt: a/b, args: { x: 1 }, tools: [ T ], schema: { type: object } }",
    "id: g\ngadget: { name: G, input: { a: 1 }, success: { action: end } }",
    "id: r\nrun: { file: plan.md }",
    "id: f\nflow: { action: end }",
  ];
  for (const step of own) {
    const value = yamlOf(agentText(step));
    assert.ok(fits(MINE, value), step);
    assert.ok(!fits(THEIRS, value), step);
  }
});

Deno.test("agent schema: without its extensions it is that of the cases", () => {
  const [mine, theirs] = [MINE, THEIRS].map(plain);
  assert.ok(isRecord(mine) && isRecord(theirs) && isRecord(mine.$defs) && isRecord(theirs.$defs));
  const { GadgetBody, RunBody, ...definitions } = mine.$defs;
  assert.ok(
    GadgetBody !== undefined && RunBody !== undefined,
    "they are there, and nothing but extensions refers to them",
  );
  assert.ok(!/GadgetBody|RunBody/.test(JSON.stringify(definitions)));
  assert.deepEqual(definitions, theirs.$defs);
  assert.deepEqual({ ...mine, $defs: 0 }, { ...theirs, $defs: 0 });
});

Deno.test("agent schema: each reference leads somewhere, and each definition is used", () => {
  assert.ok(isRecord(MINE.$defs));
  const names = new Set(
    [...JSON.stringify(MINE).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name = ""]) => name),
  );
  assert.deepEqual(
    [...names].sort(),
    Object.keys(MINE.$defs).sort(),
  );
});

/** What says nothing of which values fit. */
const NOTES = ["$id", "$schema", "$comment", "title", "description", "default", "deprecated"];

/** A schema without extensions and notes, each thing said in one way only. */
function plain(schema: unknown): unknown {
  if (schema === true) return {};
  if (Array.isArray(schema)) return schema.filter((each) => !isExtension(each)).map(plain);
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema)
    .filter(([key, value]) => !NOTES.includes(key) || isRecord(value))
    .map(([key, value]) => [key, key === "properties" ? plainEach(value) : plain(value)]);
  return oneWay(Object.fromEntries(entries));
}

function plainEach(properties: unknown): unknown {
  assert.ok(isRecord(properties));
  const kept = Object.entries(properties).filter(([, value]) => !isExtension(value));
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]));
}

function isExtension(schema: unknown): boolean {
  return isRecord(schema) && schema["x-extension"] === true;
}

function oneWay(schema: Record<string, unknown>): unknown {
  const { anyOf, allOf, oneOf, required, ...rest } = schema;
  const only = [anyOf, allOf].flatMap((list) => Array.isArray(list) && list.length === 1 ? list : []);
  if (only.length > 0 && isRecord(only[0])) {
    const other = Array.isArray(anyOf) && anyOf.length === 1 ? { allOf } : { anyOf };
    return oneWay({ ...given({ ...other, oneOf, required }), ...rest, ...only[0] });
  }
  const keys = isRecord(rest.properties) ? Object.keys(rest.properties) : [];
  const isOneKey = Array.isArray(oneOf) && keys.length > 0 &&
    JSON.stringify(oneOf) === JSON.stringify(keys.map((key) => ({ required: [key] })));
  if (isOneKey) return { ...rest, minProperties: 1, maxProperties: 1 };
  if (Array.isArray(oneOf) && oneOf.every(hasOneKey) && Object.keys(rest).length === 0) {
    const properties = Object.assign({}, ...oneOf.map(({ properties }) => properties));
    return { type: "object", properties, additionalProperties: false, minProperties: 1, maxProperties: 1 };
  }
  const needed = Array.isArray(required) && required.length > 0 ? [...required].sort() : undefined;
  return { ...rest, ...given({ anyOf, allOf, oneOf, required: needed }) };
}

function hasOneKey(schema: unknown): boolean {
  return isRecord(schema) && isRecord(schema.properties) && Object.keys(schema.properties).length === 1 &&
    JSON.stringify(schema.required) === JSON.stringify(Object.keys(schema.properties));
}

function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
