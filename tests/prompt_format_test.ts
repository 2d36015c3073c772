import fc from "fast-check";
import assert from "node:assert/strict";
import { z } from "zod";
import {
  type ConversationModelFunction,
  definePrompt,
  fakeModel,
  type JsonSchema,
  loadAgent,
  memoryFiles,
  openConversation,
  ParseError,
  type ParseIssue,
  runDocument,
  type Schema,
  schemaContract,
  type StandardSchema,
} from "../mod.ts";
import { agentTalk } from "./_agent_talk.ts";

interface FormatCase {
  readonly name: string;
  readonly input: { readonly format: JsonSchema; readonly text: string };
  readonly expected?: { readonly parsed: unknown };
  readonly error?: string;
}

const CASES: readonly FormatCase[] = JSON.parse(
  await Deno.readTextFile(new URL("spec/prompts/format.json", import.meta.url)),
);

const report = z.object({
  title: z.string(),
  confidence: z.number().min(0).max(1),
  sources: z.array(z.string()).default([]),
});

Deno.test("format: the cases", async () => {
  assert.ok(CASES.length >= 17);
  for (const { name, input: { format, text }, expected, error } of CASES) {
    const parse = formatContract(format.$zod === "report" ? report : format).parse(text);
    if (error === undefined) assert.deepEqual(await parse, expected?.parsed, name);
    else {
      await assert.rejects(parse, (thrown) => {
        assert.ok(thrown instanceof ParseError, name);
        const isWhole = error.startsWith("Output does not match");
        assert.equal(isWhole ? thrown.message : thrown.message.slice(0, error.length), error, name);
        return true;
      });
    }
  }
});

/** What an answer means to a prompt of this format. */
function formatContract(format: Schema): { parse(text: string): Promise<unknown> } {
  return definePrompt({ template: "x", format });
}

type Checked = { readonly value: unknown } | { readonly error: ParseError };

/** A value as the answer to a prompt of this format. */
async function checkValue(format: Schema, value: unknown): Promise<Checked> {
  try {
    return { value: await formatContract(format).parse(JSON.stringify(value)) };
  } catch (error) {
    return error instanceof ParseError ? { error } : assert.fail(String(error));
  }
}

/** The lines of a refusal; empty when the value fits. */
async function lines(schema: Schema, value: unknown): Promise<string> {
  const checked = await checkValue(schema, value);
  if ("value" in checked) return "";
  const [head, ...rest] = checked.error.message.split("\n");
  assert.equal(head, "Output does not match the schema:");
  return rest.join("\n");
}

const CASES_OF_WORDS: readonly (readonly [JsonSchema, unknown, string])[] = [
  [{ type: ["string", "null"] }, 1, "- (root): must be string,null"],
  [{ type: "array", items: { type: "array" } }, [1], "- [0]: must be array"],
  [{ enum: ["a", 1, null] }, "b", '- (root): must be one of "a", 1, null'],
  [{ type: "string", enum: ["a", "b"] }, 5, '- (root): must be one of "a", "b"'],
  [{ const: { a: 1 } }, 5, '- (root): must be {"a":1}'],
  [{ minimum: 1 }, 0, "- (root): must be >= 1"],
  [{ exclusiveMinimum: 1 }, 1, "- (root): must be > 1"],
  [{ exclusiveMaximum: 1 }, 1, "- (root): must be < 1"],
  [{ multipleOf: 0.5 }, 0.7, "- (root): must be a multiple of 0.5"],
  [{ minLength: 1 }, "", "- (root): must have at least 1 character"],
  [{ maxLength: 2 }, "äöü", "- (root): must have at most 2 characters"],
  [{ minItems: 2 }, [1], "- (root): must have at least 2 items"],
  [{ maxProperties: 1 }, { a: 1, b: 2 }, "- (root): must have at most 1 property"],
  [{ pattern: "^a+$" }, "b", "- (root): must match the pattern ^a+$"],
  [{ format: "date" }, "x", "- (root): must be text in the format date"],
  [{ uniqueItems: true }, [1, 2, 1], "- (root): must not have the same item twice (0 and 2)"],
  [{ not: { type: "string" } }, "x", "- (root): must not be string"],
  [{ contains: { type: "integer" } }, ["x", "y"], "- (root): must have an item that is integer"],
  [
    { contains: { type: "integer" }, minContains: 2 },
    [1, "y"],
    "- (root): must have at least 2 items that are integer",
  ],
  [
    { items: { type: "integer" }, maxItems: 1, prefixItems: [true] },
    [1, "x"],
    [
      "- (root): must have at most 1 item",
      "- [1]: must be integer",
    ].join("\n"),
  ],
  [{ prefixItems: [true], items: false }, [1, 2], "- [1]: is not allowed"],
  [{ properties: { a: false } }, { a: 1 }, "- a: is not allowed"],
  [{ properties: { a: true }, unevaluatedProperties: false }, { a: 1, b: 1 }, "- b: is not allowed"],
  [
    { propertyNames: { maxLength: 1 } },
    { ab: 1 },
    "- ab: is not allowed as a name: must have at most 1 character",
  ],
  [{ dependentRequired: { a: ["b", "c"] } }, { a: 1, c: 1 }, "- b: is required"],
  [{ if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 }, "- b: is required"],
  [{ allOf: [{ required: ["a"] }, { required: ["a"] }] }, {}, "- a: is required"],
  [{ $ref: "#/$defs/n", $defs: { n: { type: "number" } } }, "x", "- (root): must be number"],
  [{ type: "integer" }, 1e300, "- (root): must be <= 9007199254740991"],
  // Unions
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1, "- (root): must be string,null"],
  [{ anyOf: [{ const: "a" }, { enum: ["b", "a"] }] }, 1, '- (root): must be one of "a", "b"'],
  [{ oneOf: [{ type: "string" }, { const: 1 }] }, 2, "- (root): must be string or one of 1"],
  [
    { oneOf: [{ minimum: 1 }, { maximum: 5 }] },
    3,
    "- (root): must match exactly one of the alternatives, not 2",
  ],
  [
    { anyOf: [{ type: "array", items: { type: "string" } }, { type: "string" }] },
    [1],
    "- [0]: must be string",
  ],
];

const TAGGED: JsonSchema = {
  type: "array",
  items: {
    oneOf: [
      {
        type: "object",
        properties: { kind: { const: "a" }, x: { type: "string" } },
        required: ["kind", "x"],
      },
      {
        type: "object",
        properties: { kind: { const: "b" }, y: { type: "string" }, z: { type: "string" } },
        required: ["kind", "y", "z"],
      },
    ],
  },
};

Deno.test("format: the words for every keyword", async () => {
  for (const [schema, value, expected] of CASES_OF_WORDS) {
    assert.equal(await lines(schema, value), expected, JSON.stringify(schema));
  }
});

Deno.test("format: of a union, what is wrong with the alternative that was meant", async () => {
  assert.equal(await lines(TAGGED, [{ kind: "b", y: 1 }]), "- [0].z: is required\n- [0].y: must be string");
  assert.equal(await lines(TAGGED, [{ kind: "c", y: "" }]), '- [0].kind: must be one of "a", "b"');
  assert.equal(await lines(TAGGED, [{ x: "" }]), "- [0].kind: is required");
  const untagged = { anyOf: [{ required: ["a", "b", "c"] }, { required: ["a", "d"] }] };
  assert.equal(await lines(untagged, { a: 1 }), "- d: is required");
  assert.equal(await lines(TAGGED, [{ kind: "a" }, 3]), "- [0].x: is required\n- [1]: must be object");
});

Deno.test("format: of an object, first what is missing, then what is not allowed, then what is wrong inside", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "object", required: ["q"], properties: { p: { type: "string" } } }, b: true },
    required: ["b", "c"],
    additionalProperties: false,
  };
  assert.equal(
    await lines(schema, { z: 1, a: { p: 1 }, y: 2 }),
    [
      "- b: is required",
      "- c: is required",
      "- z: is not allowed",
      "- y: is not allowed",
      "- a.q: is required",
      "- a.p: must be string",
    ].join("\n"),
  );
});

Deno.test("format: lines and paths", async () => {
  const issueLines = (issues: readonly ParseIssue[]) => lines(standard(() => ({ issues })), null);
  const line = (path: readonly (string | number)[]) => issueLines([{ path, message: "m" }]);
  assert.equal(await line([]), "- (root): m");
  assert.equal(await line(["a", "b", 0, "odd key", "c"]), '- a.b[0]["odd key"].c: m');
  assert.equal(await line([0, 1, "a"]), "- [0][1].a: m");
  assert.equal(await line(["odd-key"]), '- ["odd-key"]: m');
  assert.equal(await line(["0", ""]), '- ["0"][""]: m');
  assert.equal(await line(["größe", "$a_1", 'a"b\nc']), '- größe.$a_1["a\\"b\\nc"]: m');
  assert.equal(await issueLines([{ path: [], message: "two\r\n  lines" }]), "- (root): two lines");
  const many = (count: number) => Array.from({ length: count }, () => ({ path: ["a"], message: "m" }));
  assert.equal(await issueLines(many(20)), Array(20).fill("- a: m").join("\n"));
  assert.equal(await issueLines(many(23)), [...Array(20).fill("- a: m"), "- and 3 more"].join("\n"));
});

Deno.test("format: a list with many wrong items is told in 20 lines; the error has them all", async () => {
  const parse = formatContract({ type: "array", items: { type: "string" } }).parse(
    JSON.stringify(Array(3000).fill(1)),
  );
  await assert.rejects(parse, (error) => {
    assert.ok(error instanceof ParseError);
    assert.equal(error.issues.length, 3000);
    assert.deepEqual(error.issues[2999], { path: [2999], message: "must be string" });
    assert.equal(error.message.split("\n").length, 22);
    assert.ok(error.message.endsWith("\n- [19]: must be string\n- and 2980 more"));
    return true;
  });
});

Deno.test("format: without a type every JSON value is taken", async () => {
  for (const value of [3, "x", null, true, [1], { a: 1 }]) {
    assert.deepEqual(await formatContract({}).parse(JSON.stringify(value)), value);
    assert.deepEqual(await formatContract({ anyOf: [true] }).parse(JSON.stringify(value)), value);
  }
  const tree = { properties: { sub: { $ref: "#" }, n: { type: "integer" } } };
  assert.deepEqual(await formatContract(tree).parse('{"sub": 7}'), { sub: 7 });
  assert.equal(await lines(tree, { sub: { sub: { n: "x" } } }), "- sub.sub.n: must be integer");
});

Deno.test("format: a fence around everything is taken off", async () => {
  const contract = formatContract({});
  const good: readonly (readonly [string, unknown])[] = [
    ["```json\n[1]\n```", [1]],
    ["\n ```JSON5 title=x\r\n[1]\r\n``` \n", [1]],
    ["```json [1]```", [1]],
    ["```[1]```", [1]],
    ['```\n{"a": 1}```', { a: 1 }],
    ["````json\n[1]\n````", [1]],
    ['```json\n{"code": "```ts\\nx\\n```"}\n```', { code: "```ts\nx\n```" }],
    ['"```"', "```"],
  ];
  for (const [text, value] of good) assert.deepEqual(await contract.parse(text), value, text);
  const bad = [
    "```json\n[1]",
    "[1]\n```",
    "```",
    "``````",
    "```json\n```",
    "``[1]``",
    "````\n[1]\n```",
    "a ```[1]```",
  ];
  for (const text of [...bad, "```json\n[1]\n```\nand\n```json\n[2]\n```"]) {
    await assert.rejects(contract.parse(text), /^ParseError: Output is not valid JSON: /, text);
  }
});

/** What a document makes of an answer to an @llm with a schema: the answer, or why it is none. */
async function inDocument(text: string): Promise<unknown> {
  const files = memoryFiles({ "a.md": "@llm\nprompt: Go\nretries: 0\nschema: {}\nuse-header: none\n" });
  const world = { root: "/project", files };
  const end = (await Array.fromAsync(runDocument("a.md", { world, model: fakeModel([text]) }))).at(-1);
  assert.ok(end?.type === "run-end");
  return end.status === "done" ? end.value : { why: end.error };
}

const AGENT = `version: "0.1"
structure:
  id: a
  action:
    id: main
    chain:
      - { id: ask, llm: { prompts: [{ system: Go. }], schema: {}, store: { slot: { name: got } } } }
`;

/** What a conversation makes of an answer to a step with a schema. */
async function inConversation(text: string): Promise<unknown> {
  const agent = await loadAgent({ file: "a.agent.yml", text: AGENT });
  let told = ""; // what the model is told of its answer, when it is asked again
  const model: ConversationModelFunction = ({ messages }) => {
    told = String(messages.at(-1)?.content);
    return Promise.resolve(text);
  };
  const conversation = await openConversation(agent, { model });
  const end = (await Array.fromAsync(conversation.start())).at(-1);
  assert.ok(end?.type === "run-end");
  return end.status === "completed" ? conversation.slots() : { why: told };
}

Deno.test("answers that are JSON are taken alike by prompts, documents, conversations and ask", async () => {
  const prompt = formatContract({});
  const ask = schemaContract({ type: "array" });
  const good = [
    "[1]",
    "\ufeff[1]",
    "\u00a0[1]\u2028",
    '```json title="a.json"\n[1]\n```',
    "``` json\n[1]\n```",
    "```json [1]```",
    "```\n\ufeff[1]\u00a0\n```",
    "~~~\n[1]\n~~~",
    "~~~json5 x=1\r\n[1]\r\n~~~~\n",
  ];
  for (const text of good) {
    assert.deepEqual(await prompt.parse(text), [1], text);
    assert.deepEqual(await inDocument(text), "[1]", text);
    assert.deepEqual(await inConversation(text), { "conversation.got": [1] }, text);
    assert.deepEqual(await ask.check(text), { ok: true, value: [1] }, text);
  }
  const bad = ["~~~\n[1]\n```", "[1]\n```", "```json\n[1]", "x [1]"];
  for (const text of [...bad, "[1234567890123456789]", "[1e999]"]) {
    const named = bad.includes(text) ? "" : text.slice(1, -1); // a number is named, so that the model knows which
    const whys = [
      await prompt.parse(text).then(() => "taken", (error: unknown) => String(error)),
      JSON.stringify(await inDocument(text)),
      JSON.stringify(await inConversation(text)),
      JSON.stringify(await ask.check(text)),
    ];
    for (const why of whys) {
      assert.match(why, new RegExp(`not (valid )?JSON|the number ${named} is beyond`), text);
    }
    if (named !== "") {
      for (const why of whys) assert.ok(why.includes(`the number ${named} is beyond`), why);
    }
  }
});

Deno.test("format: what JSON cannot say, and what nobody can read, is refused", async () => {
  const contract = formatContract({});
  await assert.rejects(contract.parse('{"a": [1e999]}'), {
    name: "ParseError",
    message:
      "Output is not valid JSON: the number 1e999 is beyond what can be kept exactly (2^53 - 1); write it as a text, in quotes",
  });
  await assert.rejects(contract.parse("[".repeat(100_000) + "]".repeat(100_000)), {
    name: "ParseError",
    message: "Output does not match the schema:\n- (root): cannot be read: more than 500 levels",
  });
  await assert.rejects(contract.parse('{"__proto__": 1}'), {
    message: 'Output does not match the schema:\n- (root): cannot be read: "__proto__" cannot be a name',
  });
});

Deno.test("format: a schema that is none is a mistake in the definition", () => {
  const broken: readonly (readonly [unknown, string])[] = [
    [{ type: "strnig" }, 'the JSON Schema of format is broken at "type": found "strnig", '],
    [
      { $ref: "#/$defs/x" },
      'the JSON Schema of format is broken at "$ref": "#/$defs/x" leads nowhere in the schema.',
    ],
    ["object", 'format must be a JSON Schema or a Standard Schema, found "object"'],
    [[], "format must be a JSON Schema or a Standard Schema, found an empty array"],
  ];
  for (const [format, message] of broken) {
    assert.throws(() => formatContract(format as Schema), (error) => {
      assert.ok(error instanceof Error && error.name === "PromptError" && "code" in error);
      assert.equal(error.code, "define");
      assert.equal(error.message.slice(0, message.length), message);
      return true;
    });
  }
});

Deno.test("format: what a provider is told", async () => {
  const told = async (format: Schema) => {
    const talk = agentTalk(["1"]);
    await talk.run(talk.dialog.ask(definePrompt({ template: "x", format })).catch(() => undefined));
    return talk.requests[0]?.format;
  };
  const json = Object.freeze({ properties: { a: {} } });
  assert.deepEqual(await told(json), { schema: json });
  // What is written, not what is made of it: sources may be left out.
  const schema = (await told(report))?.schema;
  assert.deepEqual(schema?.required, ["title", "confidence"]);
  assert.deepEqual((await told(z.union([z.string(), z.number()])))?.schema?.type, ["string", "number"]);
  assert.deepEqual(await told(z.date()), {});
  assert.deepEqual(await told(standard(() => ({ value: 1 }))), {});
});

function standard(validate: StandardSchema["~standard"]["validate"]): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

Deno.test("format: a Standard Schema speaks for itself", async () => {
  await assert.rejects(formatContract(report).parse('{"title": 3}'), {
    name: "ParseError",
    message: "Output does not match the schema:\n- title: Invalid input: expected string, received number\n" +
      "- confidence: Invalid input: expected number, received undefined",
  });
  const list = z.array(z.object({ "a b": z.string() }));
  await assert.rejects(formatContract(list).parse('[{"a b": 1}]'), {
    message:
      'Output does not match the schema:\n- [0]["a b"]: Invalid input: expected string, received number',
  });
  assert.deepEqual(await formatContract(z.string().transform((text) => text.length)).parse('"abc"'), 3);
  const late = z.string().refine((text) => Promise.resolve(text === "a"), "must be a");
  assert.equal(await formatContract(late).parse('"a"'), "a");
  await assert.rejects(formatContract(late).parse('"b"'), {
    message: "Output does not match the schema:\n- (root): must be a",
  });
  const keys = standard(() => ({
    issues: [{ message: "m", path: [{ key: "a" }, 0, Symbol("s")] }, { message: "n" }],
  }));
  assert.equal(await lines(keys, {}), '- a[0]["Symbol(s)"]: m\n- (root): n');
});

Deno.test("format: a schema that throws is a defect, not an answer that breaks its contract", async () => {
  const broken = standard(() => {
    throw new TypeError("schema bug");
  });
  await assert.rejects(formatContract(broken).parse("1"), { name: "TypeError", message: "schema bug" });
});

Deno.test("format: defaults are filled in", async () => {
  const schema = {
    type: "object",
    properties: {
      n: { type: "integer", default: 7 },
      sub: { type: "object", properties: { list: { type: "array", default: [] } } },
    },
  };
  assert.deepEqual(await checkValue(schema, { sub: {} }), { value: { sub: { list: [] }, n: 7 } });
});

Deno.test("format: any JSON value comes back as it was written, fenced or not", async () => {
  const contract = formatContract({});
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue({ maxDepth: 4 }),
      fc.constantFrom("", "json", "js title"),
      fc.nat(2),
      async (value, word, extra) => {
        const json = JSON.stringify(value, null, extra);
        if (json.includes("__proto__") || !json.isWellFormed() || json.includes("\\ud")) return;
        const ticks = "`".repeat(3 + extra);
        const expected = JSON.parse(json);
        assert.deepEqual(await contract.parse(` ${json}\n`), expected);
        assert.deepEqual(await contract.parse(`${ticks}${word}\n${json}\n${ticks}`), expected);
      },
    ),
    { numRuns: 500 },
  );
});

const anySchema: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonSchema>(
      { type: "string" },
      { type: ["integer", "null"] },
      { enum: ["a", 1] },
      { const: "a" },
      { minimum: 1 },
      { minLength: 2 },
      { required: ["a"] },
      { propertyNames: { const: "a" } },
      { maxItems: 1, maxProperties: 1 },
    ),
    fc.record({ properties: fc.record({ a: tie("schema"), b: tie("schema") }) }),
    fc.record({ additionalProperties: fc.oneof(tie("schema"), fc.constant(false)) }),
    fc.record({ items: tie("schema") }),
    fc.record({ not: tie("schema") }),
    fc.record({ contains: tie("schema"), minContains: fc.constantFrom(1, 2) }),
    fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }),
    ...(["anyOf", "oneOf", "allOf"] as const).map((keyword) =>
      fc.record({ [keyword]: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) })
    ),
  ),
})).schema;

const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>("a", "b", "", 0, 1, null, true),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
})).value;

Deno.test("format: a value that is refused is told why, at a place that it has or lacks", async () => {
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(anySchema, anyValue, async (schema, value) => {
      const checked = await checkValue(schema, value);
      seen["value" in checked ? "taken" : "refused"]++;
      if ("value" in checked) return assert.deepEqual(checked.value, value);
      const { issues } = checked.error;
      assert.ok(issues.length > 0);
      for (const { path, message } of issues) {
        assert.match(message, /^(?:is required|is not allowed|must )/);
        let inside: unknown = value;
        for (const [index, key] of path.entries()) {
          assert.equal(typeof key, Array.isArray(inside) ? "number" : "string");
          const has = Object.hasOwn(Object(inside), key);
          assert.ok(has || (message === "is required" && index === path.length - 1), `${path}: ${message}`);
          inside = Object(inside)[key];
        }
      }
    }),
    { numRuns: 3000 },
  );
  assert.ok(seen.taken > 300 && seen.refused > 300, JSON.stringify(seen));
});
