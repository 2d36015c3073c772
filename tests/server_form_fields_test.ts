// Forms made from JSON Schema, and the values that their texts stand for.

import assert from "node:assert/strict";
import { filledForm, filledJson, formFields } from "../lib/server/pages/form_fields.ts";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string", maxLength: 100, description: "Where." },
    text: { type: "string" },
    count: { type: "integer", minimum: 1, default: 3 },
    deep: { type: "boolean" },
    mode: { enum: ["fast", "slow"], default: "fast" },
    tags: { type: "array", items: { type: "string" } },
    "a/b": { type: "object", properties: { size: { type: "number" } }, required: ["size"] },
    any: {},
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    nothing: { type: ["string", "null"] },
  },
  required: ["path", "count"],
  additionalProperties: false,
};

const SIZED = {
  type: "object",
  properties: { size: { type: "number" }, unit: { type: "string" } },
  required: ["size"],
};

Deno.test("form: each kind of value has its kind of field", () => {
  const fields = formFields(SCHEMA) ?? [];
  const shown = fields.map(({ pointer, kind, isRequired, type, default: value }) =>
    `${pointer} ${kind} ${isRequired ? "needed" : "optional"} ${type}${value === "" ? "" : ` = ${value}`}`
  );
  assert.deepEqual(shown, [
    "/path text needed text",
    "/text text optional text",
    "/count number optional integer = 3",
    "/deep choice optional true or false",
    "/mode choice optional one of these = fast",
    "/tags lines optional one a line",
    "/a~1b group optional object",
    "/any json optional JSON",
    "/either json optional JSON",
    "/nothing text optional text",
  ]);
  const group = fields.find(({ kind }) => kind === "group");
  assert.deepEqual(group?.kind === "group" && group.fields.map(({ pointer }) => pointer), ["/a~1b/size"]);
});

Deno.test("form: what is no plain object is written as JSON", () => {
  assert.equal(formFields({}), undefined);
  assert.equal(formFields({ type: "string" }), undefined);
  assert.equal(
    formFields({ type: "object", properties: { a: {} }, oneOf: [{ required: ["a"] }] }),
    undefined,
  );
});

Deno.test("form: texts become values of the schema", async () => {
  const filled = await filledForm(SCHEMA, {
    "/path": "5",
    "/text": "a\r\nb",
    "/count": "7",
    "/deep": "true",
    "/mode": "slow",
    "/tags": "x\n\n1\n",
    "/a~1b/size": "1.5",
    "/any": "[1, null]",
    "/either": '"7"',
    "/nothing": "",
    "/unknown": "is not looked at",
  });
  assert.deepEqual(filled, {
    value: {
      path: "5", // stays a text
      text: "a\nb",
      count: 7,
      deep: true,
      mode: "slow",
      tags: ["x", "1"],
      "a/b": { size: 1.5 },
      any: [1, null],
      either: "7",
    },
  });
});

Deno.test("form: each problem has its field", async () => {
  const problems = async (texts: Readonly<Record<string, string>>) => {
    const filled = await filledForm(SCHEMA, texts);
    return "problems" in filled
      ? filled.problems.map(({ pointer, message }) => `${pointer}: ${message}`)
      : [];
  };
  assert.deepEqual(await problems({}), ["/path: needs a value"]);
  assert.deepEqual(
    await problems({ "/path": "x", "/count": "many" }).then((all) => all.map((each) => each.slice(0, 8))),
    [
      "/count: ",
    ],
  );
  assert.match((await problems({ "/path": "x", "/any": "{" })).join(), /^\/any: expected JSON: /);
  assert.match((await problems({ "/path": "x", "/count": "0" })).join(), /^\/count: .*1/);
  const group = { type: "object", properties: { g: SIZED }, required: ["g"] };
  assert.deepEqual(await filledForm(group, {}), {
    problems: [{ pointer: "/g/size", message: "needs a value" }],
  });
  const half = await filledForm({ ...group, required: [] }, { "/g/unit": "m" });
  assert.match("problems" in half ? half.problems[0]?.pointer ?? "" : "", /^\/g/);
});

Deno.test("form: JSON is checked by the schema as well", async () => {
  assert.deepEqual(await filledJson(SCHEMA, '{"path":"a","count":2}'), {
    value: { path: "a", count: 2, mode: "fast" },
  });
  const of = async (text: string) => {
    const filled = await filledJson(SCHEMA, text);
    return "problems" in filled ? filled.problems[0]?.message ?? "" : "";
  };
  assert.match(await of("{"), /^expected a JSON object: /);
  assert.equal(await of("[1]"), "expected a JSON object");
  assert.notEqual(await of("{}"), "");
});
