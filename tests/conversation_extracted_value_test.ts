// What counts as a value that a model has found (conversations.md 2.8).
import fc from "fast-check";
import assert from "node:assert/strict";
import type { ExtractionSchema, ExtractionValue, Json, SlotDestination } from "../mod.ts";
import { extractedValue, extractionNames } from "../lib/conversation/extraction.ts";
import { readVerdicts, verdictForm } from "../lib/conversation/verdicts.ts";

type Schema = Omit<ExtractionSchema, "description" | "examples">;

const full = ({ type, items, properties, ...rest }: Schema): ExtractionSchema => ({
  description: "",
  examples: [],
  type,
  ...rest,
  ...(items === undefined ? {} : { items: full(items) }),
  ...(properties === undefined ? {} : {
    properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, full(part)])),
  }),
});

const read = (schema: Schema, value: Json | undefined): Json | undefined => {
  const extracted = extractedValue(full(schema), value);
  return typeof extracted === "string" ? undefined : extracted.found;
};

const leaf = (type: Schema["type"]): ExtractionSchema => full({ type });

Deno.test("missing, null, blank, null and none as text are not found", () => {
  for (const type of ["string", "number", "integer", "boolean", "array", "object"] as const) {
    for (const value of [undefined, null, "", " \n", "null", "None", " none "]) {
      assert.equal(read({ type }, value), undefined, `${type} ${value}`);
    }
  }
});

Deno.test("each type takes its values, and numbers as text; all else is not found", () => {
  const found: readonly (readonly [Schema, Json, Json])[] = [
    [{ type: "string" }, " Ana ", " Ana "],
    [{ type: "string" }, "30", "30"],
    [{ type: "string", enum: ["small", "large"] }, "large", "large"],
    [{ type: "string", enum: ["small"] }, " small\n", "small"],
    [{ type: "string", enum: ["none", "some"] }, "none", "none"],
    [{ type: "number" }, -1.5, -1.5],
    [{ type: "number" }, " +.5e1 ", 5],
    [{ type: "integer" }, 30, 30],
    [{ type: "integer" }, "30", 30],
    [{ type: "integer" }, "30.0", 30],
    [{ type: "boolean" }, false, false],
    [{ type: "array" }, [], []],
    [{ type: "array" }, [1, "a", null], [1, "a", null]],
    [{ type: "object" }, { a: null }, { a: null }],
    [{ type: "array", items: leaf("integer") }, ["1", 2, null, ""], [1, 2]],
    [{ type: "object", properties: { n: leaf("integer"), t: leaf("string") } }, { n: "2", x: 1, t: null }, {
      n: 2,
    }],
  ];
  for (const [schema, value, expected] of found) assert.deepEqual(read(schema, value), expected);
  const notFound: readonly (readonly [Schema, Json])[] = [
    [{ type: "string" }, 30],
    [{ type: "string" }, ["a"]],
    [{ type: "string", enum: ["small", "large"] }, "huge"],
    [{ type: "number" }, "3,5"],
    [{ type: "number" }, "1e999"],
    [{ type: "number" }, "0x10"],
    [{ type: "number" }, true],
    [{ type: "integer" }, 1.5],
    [{ type: "integer" }, "many"],
    [{ type: "boolean" }, "true"],
    [{ type: "boolean" }, 1],
    [{ type: "array" }, { 0: "a" }],
    [{ type: "array" }, "a, b"],
    [{ type: "object" }, ["a"]],
    [{ type: "array", items: leaf("integer") }, [1, "many"]],
    [{ type: "array", items: leaf("integer") }, [null]],
    [{ type: "object", properties: { n: leaf("integer") } }, { n: "many" }],
    [{ type: "object", properties: { n: leaf("integer") } }, {}],
    [{ type: "object", properties: { toString: leaf("string") } }, {}],
  ];
  for (const [schema, value] of notFound) {
    assert.equal(read(schema, value), undefined, JSON.stringify([schema, value]));
  }
});

const schemas: fc.Arbitrary<ExtractionSchema> = fc.letrec<{ schema: ExtractionSchema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("string", "number", "integer", "boolean").map((type) => leaf(type)),
    fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }).map((list) =>
      full({ type: "string", enum: list })
    ),
    fc.option(tie("schema")).map((items) =>
      full(items === null ? { type: "array" } : { type: "array", items })
    ),
    fc.dictionary(fc.string(), tie("schema"), { minKeys: 1, maxKeys: 3 }).map((properties) =>
      full({ type: "object", properties })
    ),
  ),
})).schema;

const WORDS = fc.stringMatching(/^[b-mo-z][a-z ]{0,8}$/); // neither blank, nor null, nor none

/** A value as the schema declares it. */
function valueOf({ type, items, properties, ...rest }: ExtractionSchema): fc.Arbitrary<Json> {
  switch (type) {
    case "string":
      return rest.enum === undefined ? WORDS : fc.constantFrom(...rest.enum);
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "integer":
      return fc.maxSafeInteger();
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(items === undefined ? fc.jsonValue().map(asJson) : valueOf(items), { maxLength: 3 });
    case "object":
      return fc.tuple(
        ...Object.entries(properties ?? {}).map(([name, part]) =>
          valueOf(part).map((value) => [name, value] as const)
        ),
      ).map((entries) => Object.fromEntries(entries));
  }
}

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value));

Deno.test("a value of the declared type is found as it is, at any depth", () => {
  fc.assert(
    fc.property(
      schemas.chain((schema) => fc.tuple(fc.constant(schema), valueOf(schema))),
      ([schema, value]) => {
        assert.deepEqual(extractedValue(schema, value), { found: value });
      },
    ),
  );
});

/** Whether a found value is of its type. */
function fits({ type, items, properties, ...rest }: ExtractionSchema, value: Json): boolean {
  if (type === "array") {
    return Array.isArray(value) && value.every((item) => items === undefined || fits(items, item));
  }
  if (type === "object") {
    return typeof value === "object" && value !== null && !Array.isArray(value) &&
      Object.entries(value).every(([name, part]) => {
        const schema = Object.hasOwn(properties ?? {}, name) ? properties?.[name] : undefined;
        return properties === undefined || (schema !== undefined && fits(schema, part));
      });
  }
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type && (rest.enum === undefined || rest.enum.some((choice) => choice === value));
}

Deno.test("any JSON is read without an error, and what is found is of its type", () => {
  fc.assert(fc.property(schemas, fc.jsonValue().map(asJson), (schema, value) => {
    const extracted = extractedValue(schema, value);
    if (typeof extracted !== "string") assert.ok(fits(schema, extracted.found));
  }));
});

Deno.test("numbers as text are the numbers", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
    assert.deepEqual(read({ type: "number" }, ` ${number} `), number === 0 ? Number(` ${number} `) : number);
  }));
});

const target = (destination: SlotDestination, name: string): ExtractionValue => ({
  ...leaf("string"),
  target: { destination, name },
});

Deno.test("values are named by their slots, and no two alike", () => {
  assert.deepEqual(
    extractionNames([target("session", "a"), target("conversation", "b"), target("module", "b")]),
    ["a", "conversation.b", "module.b"],
  );
  assert.deepEqual(
    extractionNames([target("session", "x"), target("module", "x"), target("conversation", "session.x")]),
    ["session.x", "module.x", "conversation.session.x"],
  );
  const targets = fc.record({
    destination: fc.constantFrom<SlotDestination>("conversation", "session", "module", "global"),
    name: fc.constantFrom("x", "y", "session.x", "global.session.x", "__proto__"),
  });
  const different = fc.uniqueArray(targets, {
    selector: ({ destination, name }) => `${destination}.${name}`,
  });
  fc.assert(fc.property(different, (list) => {
    const names = extractionNames(list.map(({ destination, name }) => target(destination, name)));
    assert.equal(new Set(names).size, list.length);
  }));
});

Deno.test("verdicts: any JSON object is read without an error, and every name is a name", () => {
  const goals = [{ name: "__proto__" }, { name: "constructor" }, { name: "polite" }];
  assert.deepEqual(Object.keys(Object(verdictForm(goals).properties)), goals.map(({ name }) => name));
  assert.deepEqual(readVerdicts(goals, {}), { value: new Map() });
  const answer: { readonly [key: string]: Json } = JSON.parse(
    `{"__proto__": true, "polite": {"decision": false, "explanation": " "}}`,
  );
  assert.deepEqual(readVerdicts(goals, answer), {
    value: new Map([["__proto__", { decision: true }], ["polite", { decision: false }]]),
  });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("polite", "a"), fc.jsonValue().map(asJson)), (given) => {
      const read = readVerdicts(goals, given);
      if ("value" in read) {
        for (const { decision } of read.value.values()) assert.equal(typeof decision, "boolean");
      }
    }),
  );
});
