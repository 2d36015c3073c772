import fc from "fast-check";
import assert from "node:assert/strict";
import type { User } from "../mod.ts";
import { type GadgetFolder, gadgetFolder, inputOf } from "./_gadgets.ts";

/** Runs a test with the gadgets of an empty folder. */
function gadgetTest(name: string, work: (world: GadgetFolder) => Promise<void>): void {
  Deno.test(name, async () => {
    await using world = await gadgetFolder();
    await work(world);
  });
}

interface InputSchema {
  readonly type: string;
  readonly additionalProperties: boolean;
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
}

const ASK_FOR_NOTHING = ["AskUser", "Calculate", "Finish", "Json", "Now", "Template", "Wait"];

gadgetTest("built-in gadgets: each tells a model what it takes", async (world) => {
  assert.equal(world.catalog.entries.length, 17);
  for (const { name } of world.catalog.entries) {
    const gadget = await world.gadget(name);
    assert.equal(gadget.name, name);
    assert.match(name, /^[A-Z][A-Za-z]+$/);
    assert.ok((gadget.description ?? "").length > 80, `${name} has no good description`);
    const isSmall = ASK_FOR_NOTHING.includes(name);
    if (isSmall) assert.equal(gadget.permissions, undefined, name);
    const { type, additionalProperties, properties } = gadget.input as unknown as InputSchema;
    assert.deepEqual({ type, additionalProperties }, { type: "object", additionalProperties: false }, name);
    for (const [key, { description }] of Object.entries(properties)) {
      assert.ok((description ?? "").length > (isSmall ? 20 : 10), `${name}.${key} is not described`);
    }
    assert.ok((gadget.examples ?? []).length > 0, name);
    for (const { input } of gadget.examples ?? []) {
      assert.deepEqual(await inputOf(gadget, `${JSON.stringify(input)}\n`), input);
    }
  }
});

gadgetTest("small gadgets: the texts of a call block become what they take", async (world) => {
  const typed = async (name: string, args: Readonly<Record<string, string>>) => {
    const lines = Object.entries(args).map(([pointer, text]) => `!!!ARG:${pointer}\n${text}\n`);
    return await inputOf(await world.gadget(name), lines.join(""));
  };
  assert.deepEqual(await typed("Wait", { seconds: "2.5" }), { seconds: 2.5 });
  assert.match(String(await typed("Wait", { seconds: "4000" })), /3600/);
  assert.match(String(await typed("Wait", {})), /seconds|missing|required/);
  assert.deepEqual(await typed("Json", { value: '{"a": [1]}', pretty: "true" }), {
    value: '{"a": [1]}',
    pretty: true,
  });
  assert.deepEqual(await typed("Now", { format: "unix-ms" }), { format: "unix-ms" });
  assert.deepEqual(
    await typed("Template", {
      template: "7",
      "values/price": "1.50",
      "values/list/0": "true",
      "values/list/1/deep": "2.0",
    }),
    { template: "7", values: { price: "1.50", list: ["true", { deep: "2.0" }] } },
    "a template's values stay as they were written",
  );
  const mixed = { template: "x", values: { number: 1.5, list: [null, true], text: "1.50" } };
  assert.deepEqual(await inputOf(await world.gadget("Template"), `${JSON.stringify(mixed)}\n`), mixed);
  assert.deepEqual(
    await typed("Calculate", {
      expression: "12",
      "variables/x": "2",
      "variables/list/0": "1",
      "variables/list/1": "2",
    }),
    { expression: "12", variables: { x: 2, list: [1, 2] } },
  );
  assert.match(String(await typed("Calculate", { expression: "1", "variable/x": "1" })), /variable/);
});

gadgetTest("Calculate: examples of its own description", async (world) => {
  assert.equal(await world.call("Calculate", { expression: "2 * (3 + 4) ^ 2" }), 98);
  const prices = { expression: "round(avg(prices) * 1.19, 2)", variables: { prices: [10, 12.5, 8] } };
  assert.equal(await world.call("Calculate", prices), 12.1);
  assert.equal(
    await world.error("Calculate", { expression: "1 / 0" }),
    "Cannot calculate: division by zero at column 3",
  );
});

gadgetTest("Json: reads text, picks by pointer and by path", async (world) => {
  const value = '{"items": [{"name": "pen", "price": 2}, {"name": "book", "price": 12}], "a/b": 1, "": 0}';
  assert.deepEqual(await world.call("Json", { value: " [1, 2] " }), [1, 2]);
  assert.equal(await world.call("Json", { value, pointer: "items/1/name" }), "book");
  assert.equal(await world.call("Json", { value, pointer: "/a~1b" }), 1);
  assert.equal(await world.call("Json", { value, pointer: "/" }), 0);
  assert.deepEqual(await world.call("Json", { value: { a: [1] }, pointer: "" }), { a: [1] });
  assert.deepEqual(await world.call("Json", { value, path: "$.items[?@.price < 10].name" }), ["pen"]);
  assert.deepEqual(await world.call("Json", { value, path: "$..name" }), ["pen", "book"]);
  assert.deepEqual(await world.call("Json", { value, path: "$.nothing" }), []);
  assert.equal(await world.call("Json", { value: "[1]", pretty: true }), "[\n  1\n]");
  assert.equal(await world.call("Json", { value: null }), null);
});

gadgetTest("Json: errors say where", async (world) => {
  const of = (input: Record<string, unknown>) => world.error("Json", input);
  assert.match(
    await of({ value: '{"id": 12345678901234567890}', pointer: "id" }),
    /^Cannot read value as JSON: the number 12345678901234567890 is beyond/,
  );
  assert.equal(
    await of({ value: '{"a": 1,}' }),
    'Cannot read value as JSON: found "}" at column 9, expected a key in double quotes',
  );
  assert.equal(
    await of({ value: '{\n "a": tru\n}' }),
    'Cannot read value as JSON: found "tru" at line 2, column 7, expected a JSON value',
  );
  assert.equal(
    await of({ value: "" }),
    "Cannot read value as JSON: found the end at column 1, expected a JSON value",
  );
  assert.equal(
    await of({ value: { items: [1] }, pointer: "itmes/0" }),
    'Nothing at pointer "itmes/0": no key "itmes"; did you mean "items"?',
  );
  assert.equal(await of({ value: [1], pointer: "1" }), 'Nothing at pointer "1": no item 1 in an array of 1');
  assert.equal(
    await of({ value: [1], pointer: "length" }),
    'Nothing at pointer "length": an array has no "length", expected an index from 0',
  );
  assert.equal(await of({ value: "1", pointer: "a" }), 'Nothing at pointer "a": no "a" in a number');
  assert.match(await of({ value: {}, pointer: "__proto__/x" }), /no key "__proto__"/);
  assert.match(await of({ value: {}, pointer: "constructor" }), /no key "constructor"/);
  assert.equal(
    await of({ value: {}, pointer: "a~2" }),
    'Nothing at pointer "a~2": "~" must be followed by 0 or 1 in "a~2"',
  );
  assert.equal(
    await of({ value: {}, path: "items" }),
    'Cannot read path "items": found "i" at column 1. A JSONPath begins with "$", such as $.items[0].name.',
  );
  assert.equal(
    await of({ value: {}, path: "$.a[" }),
    'Cannot read path "$.a[": found the end at column 5, expected a selector such as 0, 1:3, "name", * or ?@.price < 10.',
  );
  assert.equal(
    await of({ value: {}, path: "$[?lenght(@.a) > 1]" }),
    'Cannot read path "$[?lenght(@.a) > 1]": found the function "lenght", which JSONPath does not have at column 4. Did you mean "length"?',
  );
  assert.equal(
    await of({ value: 1, path: "$", pointer: "" }),
    'Found both "pointer" and "path", expected at most one of them',
  );
});

gadgetTest("Json: a pattern that could run without end is refused", async (world) => {
  const value = ["2031-05-04", "x", `${"a".repeat(60)}!`];
  assert.deepEqual(await world.call("Json", { value, path: "$[?match(@, '[0-9]{4}-[0-9]{2}-(04|05)')]" }), [
    "2031-05-04",
  ]);
  assert.deepEqual(await world.call("Json", { value, path: '$[?search(@, "^\\\\S$")]' }), ["x"]);
  assert.deepEqual(await world.call("Json", { value: ["(match("], path: "$[?@ == '(match(']" }), ["(match("]);
  const repeated = /found a pattern that repeats a group, which can run without end at column 4/;
  for (const pattern of ["^(a+)+$", "(a|a)*b", "(a*){2,9}x", "((a)+)", "(?:a?)+"]) {
    assert.match(
      await world.error("Json", { value, path: `$[?search(@, '${pattern}')]` }),
      repeated,
      pattern,
    );
  }
  assert.match(
    await world.error("Json", { value, path: "$[?match(@, 'a*a*a*a*b')]" }),
    /4 open repetitions, at most 3/,
  );
  assert.match(
    await world.error("Json", { value: [["x", "(a+)+"]], path: "$[?match(@[0], @[1])]" }),
    /not written out/,
  );
});

gadgetTest("Template: values are inserted as they are, once", async (world) => {
  const values = {
    user: { name: "Ada" },
    list: [1, { a: null }],
    sum: 12.5,
    tricky: "{{sum}} $& $1 \\{{",
    "a/b": "slash",
  };
  const filled = (text: string) => world.call("Template", { template: text, values });
  assert.equal(await filled("Dear {{user/name}}, {{ sum }}!"), "Dear Ada, 12.5!");
  assert.equal(await filled("{{list}} {{list/0}} {{list/1/a}}"), '[1,{"a":null}] 1 null');
  assert.equal(await filled("{{tricky}}"), "{{sum}} $& $1 \\{{");
  assert.equal(await filled("{{a~1b}}"), "slash");
  assert.equal(await filled("\\{{sum}} { } }} {"), "{{sum}} { } }} {");
  assert.equal(await world.call("Template", { template: "" }), "");
});

gadgetTest("Template: every name without a value is told with line and column", async (world) => {
  const of = (text: string) => world.error("Template", { template: text, values: { name: "x", list: [1] } });
  assert.equal(
    await of("Dear {{nmae}}"),
    'Cannot fill template: no value for {{nmae}} at column 6 (no key "nmae"; did you mean "name"?)',
  );
  assert.equal(
    await of("a\nb {{list/3}}\n {{__proto__}}"),
    "2:3: Cannot fill template: no value for {{list/3}} at line 2, column 3 (no item 3 in an array of 1)\n" +
      '3:2: Cannot fill template: no value for {{__proto__}} at line 3, column 2 (no key "__proto__")',
  );
  assert.equal(
    await of("a {{name"),
    "Cannot fill template: {{ at column 3 is never closed; close it with }} on the same line, or write \\{{ for literal braces",
  );
  assert.equal(await of("{{ }}"), "Cannot fill template: {{ }} at column 1 has no name");
});

gadgetTest("Template: any text without braces is itself, any value comes through", async (world) => {
  await fc.assert(fc.asyncProperty(fc.string(), fc.string(), async (text, value) => {
    const plain = text.replaceAll(/[{}\\]/g, "");
    assert.equal(
      await world.call("Template", { template: `${plain}{{v}}${plain}`, values: { v: value } }),
      `${plain}${value}${plain}`,
    );
  }));
});

Deno.test("AskUser: asks, takes choices, and says when nobody is there", async () => {
  const asked: { readonly question: string; readonly choices?: readonly string[] | undefined }[] = [];
  let answers: string[] = [];
  const user: User = {
    canAnswer: true,
    ask: (question, options) => {
      asked.push({ question, choices: options?.choices });
      return Promise.resolve(answers.shift() ?? "");
    },
  };
  await using world = await gadgetFolder({ user });
  const answer = (given: readonly string[], input: Record<string, unknown>) => {
    answers = [...given];
    return world.call("AskUser", input);
  };
  const failure = (given: readonly string[], input: Record<string, unknown>) => {
    answers = [...given];
    return world.error("AskUser", input);
  };
  assert.equal(await answer([" main "], { question: "Which branch?" }), " main ");
  assert.equal(await answer([""], { question: "Which branch?", default: "main" }), "main");
  assert.equal(await answer(["Y"], { question: "Go on?", choices: ["yes", "no"] }), "yes");
  assert.equal(
    await answer(["maybe", "2"], { question: "Go on?", choices: ["yes", "no"], default: "yes" }),
    "no",
  );
  assert.deepEqual(asked[1], { question: "Which branch? (Enter: main)", choices: undefined });
  assert.deepEqual(asked[2], { question: "Go on?", choices: ["yes", "no"] });
  assert.equal(asked[3]?.question, "Go on? [yes/no] (Enter: yes)");
  assert.equal(
    await failure([..."aaaaaaaaaaaa"], { question: "Go on?", choices: ["yes"] }),
    'No answer to "Go on?": none of 10 answers was one of the choices',
  );
  assert.equal(
    await failure([], { question: "Go on?", choices: ["yes", "no"], default: "maybe" }),
    'The default "maybe" is none of the choices "yes", "no"',
  );
  await using alone = await gadgetFolder();
  assert.equal(await alone.call("AskUser", { question: "Go on?", default: "no" }), "no");
  assert.equal(
    await alone.error("AskUser", { question: "Go on?" }),
    'Cannot ask "Go on?": nobody is at a terminal to answer; give a "default", or run it in a terminal',
  );
});

gadgetTest("Finish: hands over its result", async (world) => {
  assert.deepEqual(await world.call("Finish", { result: { done: [1] } }), { done: [1] });
  assert.equal(await world.call("Finish", {}), null);
});
