// The JSON Schema of agent files that is printed, held against the one of the cases and against the cases themselves.

import assert from "node:assert/strict";
import { isRecord } from "../lib/core/json.ts";
import { agentSchema } from "../lib/parse/agent/schema.ts";
import { parseYaml } from "../lib/parse/yaml/yaml.ts";
import { JsonValidator } from "../lib/schema/json_validator.ts";
import { prepareSchema } from "../lib/schema/prepare_schema.ts";
import { agentCases, agentText, caseFile } from "./_agent_file.ts";

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
  "61-unquoted-template",
];

function failures(schema: unknown, value: unknown): number {
  assert.ok(isRecord(schema));
  const prepared = prepareSchema(schema);
  assert.ok("root" in prepared, JSON.stringify(prepared));
  return new JsonValidator(prepared, { size: 1000 }).failuresOf(value).length;
}

Deno.test("agent schema: every valid case fits both schemas", async () => {
  const schemas = [agentSchema(), JSON.parse(await caseFile("agent.schema.json"))];
  for (const { name, text } of await agentCases("valid")) {
    const { value } = await parseYaml(text);
    for (const schema of schemas) assert.equal(failures(schema, value), 0, name);
  }
});

Deno.test("agent schema: every invalid case that a schema can see fits neither", async () => {
  const schemas = [agentSchema(), JSON.parse(await caseFile("agent.schema.json"))];
  for (const { name, text } of await agentCases("invalid")) {
    const yaml = await parseYaml(text).catch(() => undefined);
    if (yaml === undefined) assert.ok(UNSEEN.includes(name), name);
    else {for (const schema of schemas) {
        assert.equal(failures(schema, yaml.value) === 0, UNSEEN.includes(name), name);
      }}
  }
});

Deno.test("agent schema: what only Orrery has fits, and is marked", async () => {
  const own = [
    "id: m\nllm: { prompt: a/b, args: { x: 1 }, tools: [ T ], schema: { type: object } }",
    "id: g\ngadget: { name: G, input: { a: 1 }, success: { action: end } }",
    "id: r\nrun: { file: plan.md }",
    "id: f\nflow: { action: end }",
  ];
  for (const step of own) {
    const { value } = await parseYaml(agentText(step));
    assert.equal(failures(agentSchema(), value), 0, step);
    assert.ok(failures(JSON.parse(await caseFile("agent.schema.json")), value) > 0, step);
  }
});

Deno.test("agent schema: without its extensions it is that of the cases", async () => {
  const [mine, theirs] = [agentSchema(), JSON.parse(await caseFile("agent.schema.json"))].map(plain);
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
  const schema = agentSchema();
  assert.ok(isRecord(schema.$defs));
  const names = new Set(
    [...JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name = ""]) => name),
  );
  assert.deepEqual(
    [...names].sort(),
    Object.keys(schema.$defs).sort(),
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
