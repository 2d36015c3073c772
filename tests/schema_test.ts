import fc from "fast-check";
import assert from "node:assert/strict";
import { z } from "zod";
import { CallParser, type JsonSchema, type Schema, type StandardSchema } from "../mod.ts";
import { jsonSchemaOf } from "../lib/core/gadget.ts";
import { coerce } from "../lib/schema/coerce.ts";
import { describeSchema } from "../lib/schema/describe.ts";
import { TextValue, undecided, untypedTree, untypedValue } from "../lib/schema/text_value.ts";
import { type Checked, issuesText, validateInput } from "../lib/schema/validate.ts";
import { anyText } from "./_any_text.ts";

interface TypedCase {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly input: string;
  readonly parameters?: unknown;
  readonly error?: readonly string[];
}

const CASES: readonly TypedCase[] = JSON.parse(
  await Deno.readTextFile(new URL("spec/calls/typed.json", import.meta.url)),
);

const text = (value: string): TextValue => new TextValue(value);

/** What a schema without promises makes of a tree: the value, or the issues as text. */
function check(
  schema: Schema | undefined,
  tree: unknown,
): { readonly value: unknown } | { readonly issues: string } {
  const checked = validateInput(schema, tree);
  if (checked instanceof Promise) throw new Error("expected an answer, not a promise");
  return told(checked);
}

function told(checked: Checked): { readonly value: unknown } | { readonly issues: string } {
  return checked.ok ? { value: checked.value } : { issues: issuesText(checked.issues) };
}

function property(schema: unknown): JsonSchema {
  return { type: "object", properties: { v: schema }, required: ["v"] };
}

Deno.test("schema: the corpus of typed calls", () => {
  assert.ok(CASES.length > 300);
  for (const { name, schema, input, parameters, error = [] } of CASES) {
    const parser = new CallParser({ leaf: undecided });
    const end = [...parser.push(input), ...parser.end()].find((event) => event.type === "call-end");
    assert.ok(end !== undefined, name);
    const { call } = end;
    const result = call.parseError === undefined
      ? check(schema, call.parameters)
      : { issues: call.parseError };
    if (parameters !== undefined) assert.deepEqual(result, { value: parameters }, name);
    else {for (const part of error) {
        assert.ok("issues" in result && result.issues.includes(part), `${name}: ${JSON.stringify(result)}`);
      }}
  }
});

Deno.test("schema: texts without a schema", () => {
  const same = [
    "",
    " ",
    "a",
    "007",
    "1e3",
    "null",
    "[1]",
    "-",
    "--1",
    "1.",
    ".5",
    "+1",
    "True",
    "true\n",
    "1\n2",
    "0x10",
  ];
  for (
    const value of [
      ...same,
      "12345678901234567890",
      "9007199254740992",
      "9007199254740992.5",
      "\u00a01",
      "\ufeff1",
    ]
  ) {
    assert.equal(untypedValue(value), value);
  }
  const typed = [["1", 1], ["-0", 0], [" 42\t", 42], ["true\r", true], [" false ", false], [
    "-1.50",
    -1.5,
  ]] as const;
  for (const [value, expected] of typed) assert.ok(Object.is(untypedValue(value), expected), value);
  assert.equal(untypedValue("1".repeat(2_000_000)), "1".repeat(2_000_000));
  assert.equal(untypedValue(`1.${"0".repeat(1000)}`), 1);
});

Deno.test("schema: a tree without a schema", () => {
  const inserted = { id: "7", constructor: ["1"] };
  const tree = {
    a: text("1"),
    toString: { constructor: [text("true"), text("x")] },
    given: inserted,
    none: null,
  };
  const expected = { a: 1, toString: { constructor: [true, "x"] }, given: inserted, none: null };
  assert.deepEqual(untypedTree(tree), expected);
  assert.deepEqual(check(undefined, tree), { value: expected });
});

const MESSAGES: readonly (readonly [schema: JsonSchema, tree: unknown, issues: string])[] = [
  [property({ type: "number" }), { v: text("abc") }, `v: expected number, found "abc"`],
  [property({ type: "number" }), {}, `v: missing, expected number`],
  [property({ type: "integer" }), { v: text("3.5") }, `v: expected integer, found 3.5`],
  [
    property({ type: "integer" }),
    { v: text("9007199254740993") },
    `v: expected integer, found 9007199254740993, which is beyond ±(2^53 - 1)`,
  ],
  [
    property({ type: "integer" }),
    { v: 2 ** 53 },
    `v: expected at most 9007199254740991, found 9007199254740992`,
  ],
  [property({ type: "boolean" }), { v: text("TRUE") }, `v: expected boolean (true or false), found "TRUE"`],
  [property({ type: "string" }), { v: 1 }, `v: expected string, found 1`],
  [property({ type: "string" }), { v: { a: 1 } }, `v: expected string, found an object`],
  [property({ type: ["number", "null"] }), { v: text("") }, `v: expected number or null, found empty text`],
  [
    property({ type: "array", items: { type: "string" } }),
    { v: text("a, b") },
    `v: expected array of string (as JSON, or its items as v/0, v/1), found "a, b"`,
  ],
  [
    property({ type: "object" }),
    { v: text("{a: 1}") },
    `v: expected object (as JSON, or its parts as v/NAME), found "{a: 1}" (broken JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2))`,
  ],
  [property({ type: "object" }), { v: text("[1]") }, `v: expected object, found an array as JSON`],
  [
    property({ type: "object" }),
    { v: text(`{"__proto__": 1}`) },
    `v: expected object (as JSON, or its parts as v/NAME), found "{\\"__proto__\\": 1}" ("__proto__" cannot be a name)`,
  ],
  [
    property({ enum: ["fast", "slow"] }),
    { v: text("Fast ") },
    `v: expected one of "fast", "slow", found "Fast ". Did you mean "fast"?`,
  ],
  [property({ type: "string", enum: ["a", "b"] }), { v: 5 }, `v: expected one of "a", "b", found 5`],
  [property({ const: "n" }), { v: text("m") }, `v: expected "n", found "m"`],
  [property({ type: "integer", minimum: 1 }), { v: text("0") }, `v: expected at least 1, found 0`],
  [property({ exclusiveMaximum: 5 }), { v: text("5") }, `v: expected less than 5, found 5`],
  [property({ type: "number", multipleOf: 5 }), { v: text("7") }, `v: expected a multiple of 5, found 7`],
  [
    property({ type: "string", maxLength: 2 }),
    { v: text("a😀b") },
    `v: expected at most 2 characters, found 3 in "a😀b"`,
  ],
  [
    property({ type: "string", minLength: 1 }),
    { v: text("") },
    `v: expected at least 1 character, found empty text`,
  ],
  [property({ pattern: "^[a-z]+$" }), { v: text("42") }, `v: expected text matching ^[a-z]+$, found "42"`],
  [
    property({ type: "string", format: "email" }),
    { v: text("me") },
    `v: expected text in the format email, found "me"`,
  ],
  [property({ type: "array", minItems: 2 }), { v: [text("1")] }, `v: expected at least 2 items, found 1`],
  [
    property({ prefixItems: [{}], items: false }),
    { v: [1, 2] },
    `v/1: one item too many, expected at most 1`,
  ],
  [
    property({ uniqueItems: true }),
    { v: ["a", "b", "a"] },
    `v: expected every item once, found the same in items 0 and 2`,
  ],
  [
    property({ contains: { type: "number" } }),
    { v: ["a"] },
    `v: expected an item that is number, found none`,
  ],
  [property({ minProperties: 1 }), { v: {} }, `v: expected at least 1 property, found none`],
  [property({ not: { type: "string" } }), { v: "x" }, `v: expected anything but string, found "x"`],
  [property(false), { v: "x" }, `v: not allowed here`],
  [
    { properties: { name: {}, age: {} }, additionalProperties: false },
    { nmae: text("x"), zz: text("x") },
    `nmae: unknown, expected one of name, age. Did you mean "name"?\nzz: unknown, expected one of name, age`,
  ],
  [{ additionalProperties: false }, { zz: text("x") }, `zz: unknown, expected no properties at all`],
  [
    { properties: { timeout: { type: "number" } }, required: ["timeout"] },
    { timeuot: text("5") },
    `timeout: missing, expected number. Is "timeuot" meant as "timeout"?`,
  ],
  [{ dependentRequired: { a: ["b"] } }, { a: text("1") }, `b: missing, expected since "a" is given`],
  [
    { propertyNames: { pattern: "^[a-z]+$" } },
    { FOO: text("1") },
    `FOO: cannot be a name here, expected text matching ^[a-z]+$`,
  ],
  [
    property({ anyOf: [{ type: "number" }, { type: "boolean" }, { const: "auto" }] }),
    { v: text("x") },
    `v: expected number or boolean or "auto", found "x"`,
  ],
  [
    property({ oneOf: [{ type: "number" }, { type: "integer" }] }),
    { v: text("5") },
    `v: fits 2 alternatives, expected exactly one`,
  ],
  [
    { properties: { "a/b~": { properties: { c: { type: "number" } } } } },
    { "a/b~": { c: text("x") } },
    `a~1b~0/c: expected number, found "x"`,
  ],
  [
    { properties: { z: { type: "number" }, a: { type: "number" }, m: {} }, required: ["m"] },
    { a: text("x"), z: text("y") },
    `a: expected number, found "x"\nz: expected number, found "y"\nm: missing`,
  ],
  [
    property({ type: "string", maxLength: 5 }),
    { v: text("x".repeat(100)) },
    `v: expected at most 5 characters, found 100 in "${"x".repeat(60)}"…`,
  ],
];

Deno.test("schema: an issue says where, what was expected and what was found", () => {
  for (const [schema, tree, issues] of MESSAGES) assert.deepEqual(check(schema, tree), { issues });
});

const TAGGED = property({
  oneOf: [
    { type: "object", properties: { x: { type: "number" }, kind: { const: "n" } }, required: ["kind", "x"] },
    { type: "object", properties: { x: { type: "string" }, kind: { const: "s" } }, required: ["kind", "x"] },
  ],
});

Deno.test("schema: in a union by tag only the alternative that was meant is told", () => {
  const cases = [
    [{ kind: text("n"), x: text("abc") }, `v/x: expected number, found "abc"`],
    [{ kind: text("s") }, `v/x: missing, expected string`],
    [{ kind: text("q"), x: text("1") }, `v/kind: expected "n" or "s", found "q"`],
    [{ x: text("1") }, `v/kind: missing, expected "n" or "s"`],
  ] as const;
  for (const [v, issues] of cases) assert.deepEqual(check(TAGGED, { v }), { issues });
});

Deno.test("schema: a long list of issues is cut", () => {
  const issues = check(property({ type: "array", items: { type: "string" } }), {
    v: Array.from({ length: 300 }, () => 1),
  });
  const lines = "issues" in issues ? issues.issues.split("\n") : [];
  assert.equal(lines.length, 21);
  assert.equal(lines[0], "v/0: expected string, found 1");
  assert.equal(lines[20], "and at least 80 more problems like these");
});

Deno.test("schema: values that are typed already are not read again", () => {
  const schema = property({ type: "object", properties: { n: { type: "number" } } });
  assert.deepEqual(check(schema, { v: { n: "1" } }), { issues: `v/n: expected number, found "1"` });
  const anything = { v: { n: "1", deep: ["true"] } };
  assert.deepEqual(check({ type: "object" }, anything), { value: anything });
});

Deno.test("schema: references, recursion, allOf, patterns and conditions decide types", () => {
  const node = {
    type: "object",
    properties: {
      name: { type: "string" },
      children: { type: "array", items: { $ref: "#/definitions/Node" } },
    },
  };
  const tree = {
    v: { name: text("1"), children: [{ name: text("2"), children: [{ name: text("true") }] }] },
  };
  const expected = { v: { name: "1", children: [{ name: "2", children: [{ name: "true" }] }] } };
  const recursive = { ...property({ $ref: "#/definitions/Node" }), definitions: { Node: node } };
  assert.deepEqual(check(recursive, tree), { value: expected });
  const both = property({
    allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "number" } } }],
  });
  assert.deepEqual(check(both, { v: { a: text("1"), b: text("1e1"), c: text("1") } }), {
    value: { v: { a: "1", b: 10, c: 1 } },
  });
  const patterns = property({
    patternProperties: { "^s": { type: "string" } },
    additionalProperties: { type: "number" },
  });
  assert.deepEqual(check(patterns, { v: { s1: text("1"), n: text("1e1") } }), {
    value: { v: { s1: "1", n: 10 } },
  });
  const condition = {
    properties: { kind: { type: "string" } },
    if: { properties: { kind: { const: "text" } } },
    then: { properties: { x: { type: "string" } } },
    else: { properties: { x: { type: "number" } } },
  };
  assert.deepEqual(check(condition, { kind: text("text"), x: text("1") }), {
    value: { kind: "text", x: "1" },
  });
  assert.deepEqual(check(condition, { kind: text("number"), x: text("0x10") }), {
    value: { kind: "number", x: 16 },
  });
});

Deno.test("schema: keywords without a type hint at one", () => {
  const value = (schema: unknown, written: string) => check(property(schema), { v: text(written) });
  assert.deepEqual(value({ pattern: "^[0-9]+$" }, "42"), { value: { v: "42" } });
  assert.deepEqual(value({ minimum: 1 }, "1e3"), { value: { v: 1000 } });
  assert.deepEqual(value({ properties: { a: {} } }, `{"a": 1}`), { value: { v: { a: 1 } } });
  assert.deepEqual(value({ items: {} }, "no list"), { value: { v: "no list" } });
});

Deno.test("schema: nested unions are decided from the inside", () => {
  const expression = {
    ...property({ $ref: "#/$defs/E" }),
    $defs: {
      E: {
        anyOf: [
          {
            type: "object",
            properties: { op: { const: "text" }, of: { type: "string" } },
            required: ["op", "of"],
          },
          {
            type: "object",
            properties: { op: { const: "number" }, of: { type: "number" } },
            required: ["op", "of"],
          },
          {
            type: "object",
            properties: { op: { const: "not" }, of: { $ref: "#/$defs/E" } },
            required: ["op", "of"],
          },
        ],
      },
    },
  };
  let tree: unknown = { op: text("text"), of: text("1") };
  let expected: unknown = { op: "text", of: "1" };
  for (let i = 0; i < 40; i++) {
    [tree, expected] = [{ op: text("not"), of: tree }, { op: "not", of: expected }];
  }
  assert.deepEqual(check(expression, { v: tree }), { value: { v: expected } });
  const wrong = { op: text("not"), of: { op: text("number"), of: text("x") } };
  assert.deepEqual(check(expression, { v: wrong }), { issues: `v/of/of: expected number, found "x"` });
});

Deno.test("schema: what is nested too deep, or named __proto__, is refused", () => {
  const schema = {
    ...property({ $ref: "#/$defs/N" }),
    $defs: { N: { type: "object", properties: { c: { $ref: "#/$defs/N" } } } },
  };
  const json = (levels: number) => `${`{"c":`.repeat(levels)}{}${"}".repeat(levels)}`;
  assert.deepEqual(check(schema, { v: text(json(50)) }), { value: { v: JSON.parse(json(50)) } });
  check(schema, { v: text(json(450)) }); // whether this fits on the stack is up to the machine, but it does not throw
  for (const levels of [600, 100_000]) assert.ok("issues" in check(schema, { v: text(json(levels)) }));
  let tree: unknown = 1;
  for (let i = 0; i < 502; i++) tree = [tree];
  assert.deepEqual(check(undefined, tree), { issues: "cannot read the parameters: more than 500 levels" });
  assert.deepEqual(check(undefined, JSON.parse(`{"a": {"__proto__": 1}}`)), {
    issues: `cannot read the parameters: "__proto__" cannot be a name`,
  });
});

Deno.test("schema: names of Object.prototype are plain names", () => {
  const schema = {
    properties: { constructor: { type: "string" }, toString: { default: "filled in" } },
    required: ["constructor", "valueOf"],
  };
  assert.deepEqual(check(schema, { constructor: text("1"), valueOf: text("1") }), {
    value: { constructor: "1", valueOf: 1, toString: "filled in" },
  });
  assert.deepEqual(check(schema, {}), { issues: "constructor: missing, expected string\nvalueOf: missing" });
});

Deno.test("schema: defaults are filled in, in objects that are there", () => {
  const shared = { list: [1] };
  const schema = {
    properties: {
      a: { type: "number", default: 1 },
      o: { type: "object", properties: { b: { default: shared }, c: { $ref: "#/$defs/C" } } },
      p: { type: "object", default: {}, properties: { d: { default: true } } },
      u: {
        oneOf: [{ properties: { k: { const: 1 }, e: { default: 1 } } }, {
          properties: { k: { const: 2 }, e: { default: 2 } },
        }],
      },
      l: { type: "array", items: { type: "object", properties: { f: { default: null } } } },
    },
    required: ["a"],
    $defs: { C: { type: "string", default: "c" } },
  };
  assert.deepEqual(check(schema, {}), { value: { p: { d: true }, a: 1 } });
  const given = { a: text("5"), o: {}, u: { k: text("2") }, l: [{}, { f: text("x") }] };
  const result = check(schema, given);
  assert.deepEqual(result, {
    value: {
      a: 5,
      o: { b: { list: [1] }, c: "c" },
      p: { d: true },
      u: { k: 2, e: 2 },
      l: [{ f: null }, { f: "x" }],
    },
  });
  assert.ok("value" in result);
  Object(result.value).o.b.list.push(2);
  assert.deepEqual(shared, { list: [1] });
  const endless = {
    properties: { n: { $ref: "#/$defs/N" } },
    $defs: { N: { default: {}, properties: { n: { $ref: "#/$defs/N" } } } },
  };
  assert.deepEqual(check(endless, {}), { value: { n: {} } });
});

const BROKEN: readonly (readonly [schema: JsonSchema, message: string])[] = [
  [
    property({ type: "strng" }),
    `The gadget's schema is broken at "properties/v/type": found "strng", expected string, number, integer, boolean, null, array, object, or a list of these. Did you mean "string"?`,
  ],
  [
    property({ $ref: "#/$defs/No" }),
    `The gadget's schema is broken at "properties/v/$ref": "#/$defs/No" leads nowhere in the schema.`,
  ],
  [
    property({ $ref: "https://example.com/x" }),
    `The gadget's schema is broken at "properties/v/$ref": "https://example.com/x" points outside of the schema, expected a reference such as #/$defs/Name`,
  ],
  [
    property(5),
    `The gadget's schema is broken at "properties/v": found 5, expected a schema: an object, true or false`,
  ],
  [{ required: "a" }, `The gadget's schema is broken at "required": found "a", expected a list of names.`],
  [{ anyOf: {} }, `The gadget's schema is broken at "anyOf": found {}, expected a list of schemas`],
  [
    property({ pattern: "(" }),
    `The gadget's schema is broken at "properties/v/pattern": found "(", expected a regular expression (Invalid regular expression: /(/u: Unterminated group).`,
  ],
  [{ allOf: [{ $ref: "#" }] }, `The gadget's schema is broken at "allOf/0": refers to itself without end`],
];

Deno.test("schema: a broken schema is told, not crashed on", () => {
  for (const [schema, issues] of BROKEN) {
    assert.deepEqual(check(schema, { v: text("1") }), { issues });
    assert.deepEqual(coerce({ v: text("1") }, schema), { v: 1 });
  }
  const self: Record<string, unknown> = {};
  self.properties = { a: self, b: self };
  const result = check(self, {});
  assert.ok(
    "issues" in result && result.issues.includes("an object that holds itself"),
    JSON.stringify(result),
  );
});

Deno.test("schema: frozen schemas, older drafts and loose patterns work", () => {
  const frozen = Object.freeze(property(Object.freeze({ type: "number" })));
  assert.deepEqual(check(frozen, { v: text("1") }), { value: { v: 1 } });
  assert.deepEqual(frozen, property({ type: "number" }));
  const tuple = property({
    type: "array",
    items: [{ type: "string" }, { type: "number" }],
    additionalItems: false,
  });
  assert.deepEqual(check(tuple, { v: [text("1"), text("1")] }), { value: { v: ["1", 1] } });
  assert.deepEqual(check(tuple, { v: [text("1"), text("1"), 1] }), {
    issues: "v/2: one item too many, expected at most 2",
  });
  assert.deepEqual(check(property({ pattern: "^a\\-b\\_[\\w\\-]$" }), { v: text("a-b_-") }), {
    value: { v: "a-b_-" },
  });
  const anchored = { ...property({ $ref: "#here" }), $defs: { x: { $anchor: "here", type: "string" } } };
  assert.deepEqual(check(anchored, { v: text("1") }), { value: { v: "1" } });
});

const zodInput = z.object({
  n: z.number(),
  s: z.string(),
  flag: z.boolean().default(true),
  list: z.array(z.number()).optional(),
  u: z.discriminatedUnion("k", [
    z.object({ k: z.literal("n"), x: z.number() }),
    z.object({ k: z.literal("s"), x: z.string() }),
  ]).optional(),
});

Deno.test("schema: Zod types the leaves by its JSON Schema and checks them itself", () => {
  const tree = { n: text("007"), s: text("42"), list: text("[1, 2]"), u: { k: text("s"), x: text("5") } };
  assert.deepEqual(check(zodInput, tree), {
    value: { n: 7, s: "42", flag: true, list: [1, 2], u: { k: "s", x: "5" } },
  });
  assert.deepEqual(check(zodInput, { n: text("abc") }), {
    issues: `n: Invalid input: expected number, received string (found "abc")\n` +
      `s: missing (Invalid input: expected string, received undefined)`,
  });
  assert.deepEqual(jsonSchemaOf(zodInput)?.type, "object");
});

Deno.test("schema: Zod without a JSON Schema is found out by trying", () => {
  const schema = z.object({
    when: z.coerce.date(),
    day: z.date().optional(), // no JSON Schema can say this
    n: z.number(),
    s: z.string(),
    list: z.array(z.number()),
    none: z.number().nullable(),
    u: z.union([
      z.object({ k: z.literal("n"), x: z.number() }),
      z.object({ k: z.literal("s"), x: z.string() }),
    ]),
  });
  assert.equal(jsonSchemaOf(schema), undefined);
  const tree = {
    when: text("2020-01-01"),
    n: text("1e3"),
    s: text("42"),
    list: text("[1, 2]"),
    none: text("null"),
    u: { k: text("s"), x: text("5") },
  };
  assert.deepEqual(check(schema, tree), {
    value: {
      when: new Date("2020-01-01"),
      n: 1000,
      s: "42",
      list: [1, 2],
      none: null,
      u: { k: "s", x: "5" },
    },
  });
  assert.deepEqual(check(schema, { ...tree, n: text("150 apples"), list: text(`[1, "2"]`) }), {
    issues: `n: Invalid input: expected number, received string (found "150 apples")\n` +
      `list/1: Invalid input: expected number, received string (found "2")`,
  });
});

Deno.test("schema: a Standard Schema made by hand", async () => {
  const calls: unknown[] = [];
  const schema: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate(value) {
        calls.push(value);
        const { id } = Object(value);
        return typeof id === "string"
          ? { value: { id, seen: true } }
          : { issues: [{ message: "wants text", path: [{ key: "id" }] }] };
      },
    },
  };
  assert.deepEqual(check(schema, { id: text("42") }), { value: { id: "42", seen: true } });
  assert.deepEqual(calls, [{ id: 42 }, { id: "42" }]);
  assert.deepEqual(check(schema, { id: { a: text("1") } }), { issues: "id: wants text" });
  assert.deepEqual(describeSchema(schema), []);

  const waiting: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => Promise.resolve(schema["~standard"].validate(value)),
    },
  };
  const answer = validateInput(waiting, { id: text("42") });
  assert.ok(answer instanceof Promise);
  assert.deepEqual(told(await answer), { value: { id: "42", seen: true } });

  const throwing: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate() {
        throw new Error("no database");
      },
    },
  };
  assert.deepEqual(check(throwing, {}), { issues: `The gadget's schema is broken: it threw "no database"` });
});

Deno.test("schema: described for help", () => {
  const schema = {
    properties: {
      url: { type: "string", description: "Where." },
      opts: {
        type: "object",
        properties: { retries: { type: "integer", default: 3 } },
        required: ["retries"],
      },
      items: { type: "array", items: { type: "object", properties: { name: { $ref: "#/$defs/Name" } } } },
      headers: { additionalProperties: { type: ["string", "null"] } },
      mode: { enum: ["a", "b"] },
    },
    required: ["url"],
    $defs: { Name: { type: "string", description: "A name." } },
  };
  assert.deepEqual(describeSchema(schema), [
    { pointer: "url", type: "string", required: true, description: "Where." },
    { pointer: "opts", type: "object", required: false },
    { pointer: "opts/retries", type: "integer", required: true, default: 3 },
    { pointer: "items", type: "array of object", required: false },
    { pointer: "items/0/name", type: "string", required: false, description: "A name." },
    { pointer: "headers", type: "object", required: false },
    { pointer: "headers/NAME", type: "string or null", required: false },
    { pointer: "mode", type: `one of "a", "b"`, required: false },
  ]);
  assert.deepEqual(describeSchema(zodInput).map(({ pointer }) => pointer), [
    "n",
    "s",
    "flag",
    "list",
    "u",
    "u/k",
    "u/x",
  ]);
  assert.equal(jsonSchemaOf(schema)?.type, "object");
  assert.equal(jsonSchemaOf(schema), jsonSchemaOf(schema));
});

// Property tests ------------------------------------------------------------------------------------------------------

/** JSON as it can be in a tree: no name `__proto__`, no -0, names and texts well formed. */
const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 })
  .map((value): unknown => JSON.parse(JSON.stringify(value).replaceAll("__proto__", "proto")));

Deno.test("schema: JSON text of an array or object comes back as it was", () => {
  fc.assert(fc.property(json, fc.nat({ max: 4 }), (value, indent) => {
    const schema = property({ type: ["array", "object"] });
    const v = typeof value === "object" && value !== null ? value : [value];
    assert.deepEqual(check(schema, { v: text(`\n ${JSON.stringify(v, null, indent)}\n`) }), { value: { v } });
  }));
});

Deno.test("schema: under a string schema a text is taken verbatim", () => {
  fc.assert(fc.property(anyText(), (value) => {
    for (
      const schema of [{ type: "string" }, { minLength: 0 }, { const: value }, { enum: [value, "x"] }, {
        anyOf: [{ type: "string" }],
      }]
    ) {
      assert.deepEqual(check(property(schema), { v: text(value) }), { value: { v: value } });
    }
  }));
});

/** The exact schema of a value, and the value as pointers would write it: leaves as text, containers as containers. */
function exact(value: unknown): { readonly schema: JsonSchema; readonly tree: unknown } {
  if (value === null) return { schema: { type: "null" }, tree: text("null") };
  if (Array.isArray(value)) {
    const items = value.map(exact);
    return {
      schema: { type: "array", prefixItems: items.map(({ schema }) => schema) },
      tree: items.map(({ tree }) => tree),
    };
  }
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([key, part]) => [key, exact(part)] as const);
    const properties = Object.fromEntries(parts.map(([key, { schema }]) => [key, schema]));
    const schema = { type: "object", properties, required: Object.keys(value), additionalProperties: false };
    return { schema, tree: Object.fromEntries(parts.map(([key, { tree }]) => [key, tree])) };
  }
  return { schema: { type: typeof value }, tree: text(String(value)) };
}

Deno.test("schema: a value written by pointers comes back typed by its exact schema", () => {
  fc.assert(fc.property(json, (value) => {
    // A literal beyond ±(2^53 - 1) is an error by rule, and is not what is looked at here.
    fc.pre(!/(?<![.\d])\d{16,}(?![.\d])/.test(JSON.stringify(value)));
    const { schema, tree } = exact(value);
    assert.deepEqual(check(property(schema), { v: tree }), { value: { v: value } });
  }));
});

const { schemaOfAnything } = fc.letrec((tie) => ({
  schemaOfAnything: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(
      true,
      false,
      {},
      { $ref: "#" },
      { $ref: "#/$defs/a" },
      { $ref: "#/$defs/none" },
      { type: "nope" },
      5,
    ),
    fc.record({
      type: fc.oneof(
        fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object"),
        fc.constant(["null", "integer", "string"]),
      ),
      minimum: fc.integer(),
      maxLength: fc.nat(),
      pattern: fc.constantFrom("^a", "\\-", "["),
      default: json,
    }, { requiredKeys: [] }),
    fc.record({ const: json }),
    fc.record({ enum: fc.array(json, { minLength: 1 }) }),
    fc.record({ [`anyOf`]: fc.array(tie("schemaOfAnything"), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      [`oneOf`]: fc.array(tie("schemaOfAnything"), { minLength: 1, maxLength: 3 }),
      type: fc.constant("object"),
    }),
    fc.record({ [`allOf`]: fc.array(tie("schemaOfAnything"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ if: tie("schemaOfAnything"), then: tie("schemaOfAnything"), else: tie("schemaOfAnything") }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom("a", "b", "constructor"), tie("schemaOfAnything")),
      required: fc.subarray(["a", "b"]),
      additionalProperties: tie("schemaOfAnything"),
    }, { requiredKeys: ["properties"] }),
    fc.record({
      items: tie("schemaOfAnything"),
      prefixItems: fc.array(tie("schemaOfAnything"), { maxLength: 2 }),
    }),
  ),
}));

const { treeOfAnything } = fc.letrec((tie) => ({
  treeOfAnything: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.constantFrom("", "1", "-0", "true", "null", "[1]", `{"a": "1"}`, "[", "1e9"), fc.string())
      .map(text),
    json,
    fc.array(tie("treeOfAnything"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "constructor", "toString"), tie("treeOfAnything")),
  ),
}));

Deno.test("schema: no tree and no schema, sound or broken, makes it throw", () => {
  const root = fc.record({ v: schemaOfAnything, a: schemaOfAnything });
  fc.assert(
    fc.property(root, treeOfAnything, ({ v, a }, tree) => {
      const schema = { ...property(v), $defs: { a } };
      const typed = coerce({ v: tree }, schema);
      assert.deepEqual(coerce(typed, schema), typed, "what is typed stays");
      assert.deepEqual(untypedTree(typed), typed, "no leaf is left untyped");
      const checked = validateInput(schema, { v: tree });
      assert.ok(!(checked instanceof Promise));
      if (!checked.ok) {
        assert.ok(checked.issues.length > 0 && checked.issues.every(({ message }) => message !== ""));
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("schema: the inputs of most calls are texts, numbers and flags", () => {
  const schema = {
    type: "object",
    properties: {
      expression: { type: "string", description: "What." },
      zone: { enum: ["a", "b"] },
      lines: { type: "integer", minimum: 1 },
      share: { type: "number", maximum: 1 },
      all: { type: "boolean" },
      more: { type: "object", additionalProperties: { anyOf: [{ type: "number" }, { type: "string" }] } },
    },
    required: ["expression"],
    additionalProperties: false,
  };
  const tree = {
    expression: text("6*7"),
    zone: text("a"),
    lines: text("12"),
    share: text("0.25"),
    all: text("true"),
  };
  assert.deepEqual(check(schema, tree), {
    value: { expression: "6*7", zone: "a", lines: 12, share: 0.25, all: true },
  });
  assert.deepEqual(check(schema, { zone: text("a") }), { issues: "expression: missing, expected string" });
  assert.deepEqual(check(undefined, { a: text("1") }), { value: { a: 1 } });
});
