// Schemas and values that are made to be costly: refused, or told of, within seconds.

import assert from "node:assert/strict";
import type { JsonSchema, Schema, StandardSchema } from "../../mod.ts";
import { TextValue } from "../../lib/schema/text_value.ts";
import { type Checked, issuesText, validateInput } from "../../lib/schema/validate.ts";

const text = (value: string): TextValue => new TextValue(value);

/** What a schema says of a tree, or of an answer of its own; nothing where it fits. */
async function issuesOf(schema: Schema, tree: unknown): Promise<string> {
  const checked: Checked = await validateInput(schema, tree);
  return checked.ok ? "" : issuesText(checked.issues);
}

Deno.test("schema: a value made to be costly is refused in time", async () => {
  const branch = (more: JsonSchema) => ({
    type: "object",
    properties: { c: { $ref: "#/$defs/E" }, ...more },
    additionalProperties: false,
  });
  const schema = {
    type: "object",
    properties: { v: { $ref: "#/$defs/E" } },
    required: ["v"],
    $defs: { E: { anyOf: [branch({}), branch({ a: {} }), branch({ b: {} })] } },
  };
  let tree: unknown = { x: text("5") };
  for (let i = 0; i < 60; i++) tree = { c: tree };
  const start = performance.now();
  const told = await issuesOf(schema, { v: tree });
  assert.equal(told, "cannot be checked: too deep for a schema with so many alternatives");
  assert.ok(performance.now() - start < 5000);
});

Deno.test("schema: what is wrong in very many places is told by its first hundred, in time", async () => {
  const known = {
    type: "object",
    properties: { token: {} },
    required: ["token"],
    additionalProperties: false,
  };
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, text("1")]));
  const start = performance.now();
  const message = await issuesOf(known, many);
  assert.match(message, /^k0: unknown, expected only token\nk1: /);
  assert.ok(message.endsWith("\nand at least 80 more problems like these"));
  assert.match(await issuesOf({ ...known, additionalProperties: true }, many), /^token: missing/);
  const numbers: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "by hand",
      validate: (value) => ({
        issues: Object.keys(Object(value)).map((key) => ({ message: "odd", path: [key] })),
      }),
    },
  };
  const words = Object.fromEntries(
    Object.entries(many).slice(0, 20_000).map(([key]) => [key, text("odd 1")]),
  );
  assert.match(await issuesOf(numbers, words), /^k0: odd \(found "odd 1"\)\n/);
  assert.ok(performance.now() - start < 10_000);
});
