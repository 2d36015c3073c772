// What counts as a value that a model has found (conversations.md 2.8).
import fc from "fast-check";
import assert from "node:assert/strict";
import type { ConversationModelRequest, ExtractionSchema, Json, SlotDestination } from "../mod.ts";
import { agentOf, endOf, type StepJson, talk } from "./_conversation_turns.ts";

type Schema = Omit<ExtractionSchema, "description" | "examples">;

/** A schema as a file writes it. */
const written = ({ type, items, properties, ...rest }: Schema): Readonly<Record<string, unknown>> => ({
  description: "d",
  type,
  ...rest,
  ...(items === undefined ? {} : { items: written(items) }),
  ...(properties === undefined ? {} : {
    properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, written(part)])),
  }),
});

const FLOWS = { success: { action: "continue" }, fail: { action: "continue" } };

function extractor(values: readonly Readonly<Record<string, unknown>>[]): StepJson {
  return { id: "e", extractor: { values, ...FLOWS } };
}

/** What becomes of a value that a model gives; undefined: it is not found. */
async function read(schema: Schema, value: Json | undefined): Promise<Json | undefined> {
  const step = extractor([{ ...written(schema), target: { slot: { name: "x" } } }]);
  const one = await talk(step, { model: () => Promise.resolve(value === undefined ? {} : { x: value }) });
  assert.equal(endOf(await one.start()).error, undefined);
  return one.conversation.slots()["conversation.x"];
}

const leaf = (type: Schema["type"]): ExtractionSchema => ({ description: "d", examples: [], type });
const full = (schema: Schema): ExtractionSchema => ({ description: "d", examples: [], ...schema });

Deno.test("missing, null, blank, null and none as text are not found", async () => {
  for (const type of ["string", "number", "integer", "boolean", "array", "object"] as const) {
    for (const value of [undefined, null, "", " \n", "null", "None", " none "]) {
      assert.equal(await read({ type }, value), undefined, `${type} ${value}`);
    }
  }
});

Deno.test("each type takes its values, and numbers as text; all else is not found", async () => {
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
  for (const [schema, value, expected] of found) assert.deepEqual(await read(schema, value), expected);
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
    assert.equal(await read(schema, value), undefined, JSON.stringify([schema, value]));
  }
});

const NAMES = fc.string({ minLength: 1 });

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
    fc.dictionary(NAMES, tie("schema"), { minKeys: 1, maxKeys: 3 }).map((properties) =>
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

Deno.test("a value of the declared type is found as it is, at any depth", async () => {
  await fc.assert(
    fc.asyncProperty(
      schemas.chain((schema) => fc.tuple(fc.constant(schema), valueOf(schema))),
      async ([schema, value]) => {
        const json = asJson(value);
        assert.deepEqual(await read(schema, json), json);
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

Deno.test("any JSON is read without an error, and what is found is of its type", async () => {
  await fc.assert(fc.asyncProperty(schemas, fc.jsonValue().map(asJson), async (schema, value) => {
    const found = await read(schema, value);
    if (found !== undefined) assert.ok(fits(schema, found));
  }));
});

Deno.test("numbers as text are the numbers", async () => {
  await fc.assert(fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async (number) => {
    assert.deepEqual(await read({ type: "number" }, ` ${number} `), asJson(Number(` ${number} `)));
  }));
});

interface Target {
  readonly destination: SlotDestination;
  readonly name: string;
}

/** By which names a model is asked for the values of these slots. */
async function namesOf(targets: readonly Target[]): Promise<readonly string[]> {
  const values = targets.map(({ destination, name }) => ({
    description: "d",
    target: { slot: destination === "conversation" ? { name } : { name, destination } },
  }));
  const asked: ConversationModelRequest[] = [];
  const one = await talk(await agentOf(extractor(values)), {
    model(request) {
      asked.push(request);
      return Promise.resolve({});
    },
  });
  await one.start();
  return Object.keys(Object(asked[0]?.schema?.properties));
}

Deno.test("values are named by their slots, and no two alike", async () => {
  const target = (destination: SlotDestination, name: string): Target => ({ destination, name });
  assert.deepEqual(
    await namesOf([target("session", "a"), target("conversation", "b"), target("module", "b")]),
    ["a", "conversation.b", "module.b"],
  );
  assert.deepEqual(
    await namesOf([target("session", "x"), target("module", "x"), target("conversation", "session.x")]),
    ["session.x", "module.x", "conversation.session.x"],
  );
  const targets = fc.record({
    destination: fc.constantFrom<SlotDestination>("conversation", "session", "module", "global"),
    name: fc.constantFrom("x", "y", "session.x", "global.session.x", "__proto__"),
  });
  const different = fc.uniqueArray(targets, {
    minLength: 1,
    selector: ({ destination, name }) => `${destination}.${name}`,
  });
  await fc.assert(fc.asyncProperty(different, async (list) => {
    const names = await namesOf(list);
    assert.equal(new Set(names).size, list.length);
  }));
});

Deno.test("verdicts: any JSON object is read without an error, and every name is a name", async () => {
  const goals = ["__proto__", "constructor", "polite"].map((name) => ({ name, goal: "g" }));
  const agent = await agentOf({ id: "v", validator: { goals, ...FLOWS } });
  const judged = async (answer: object) => {
    let form: unknown;
    const one = await talk(agent, {
      model({ schema }) {
        form = schema?.properties;
        return Promise.resolve(answer);
      },
    });
    const { error } = endOf(await one.start());
    assert.deepEqual(Object.keys(Object(form)), goals.map(({ name }) => name));
    return { error, slots: one.conversation.slots() };
  };
  const said = JSON.parse(
    `{"__proto__": true, "constructor": true, "polite": {"decision": false, "explanation": " "}}`,
  );
  assert.deepEqual(await judged(said), {
    error: undefined,
    slots: { "conversation.__proto__": true, "conversation.constructor": true, "conversation.polite": false },
  });
  assert.equal((await judged({})).error, 'step "v": the model gave no verdict for goal "__proto__"');
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom("polite", "a"), fc.jsonValue().map(asJson)),
      async (given) => {
        const { error, slots } = await judged({ ...said, ...given });
        if (error !== undefined) {
          assert.match(
            error,
            /^step "v": the model (?:gave no verdict for goal|did not answer)/,
          );
        } else assert.equal(typeof slots["conversation.polite"], "boolean");
      },
    ),
  );
});
