import fc from "fast-check";
import assert from "node:assert/strict";
import askUser from "../gadgets/ask_user.ts";
import calculate from "../gadgets/calculate.ts";
import finish from "../gadgets/finish.ts";
import json from "../gadgets/json.ts";
import now from "../gadgets/now.ts";
import template from "../gadgets/template.ts";
import wait from "../gadgets/wait.ts";
import { type Gadget, type GadgetContext, systemClock, type User, virtualClock, type World } from "../mod.ts";
import { jsonProblem } from "../lib/core/json_fault.ts";
import { checkGadget, gadgetWarnings } from "../lib/schema/define_gadget.ts";
import { TextValue } from "../lib/schema/text_value.ts";
import { validateInput } from "../lib/schema/validate.ts";

const nobody: User = { canAnswer: false, ask: () => Promise.reject(new Error("nobody")) };

/** A world in which only what a test gives can be used. */
function worldWith(parts: Partial<World>): World {
  const refuse = (what: string) => () => {
    throw new Error(`the test world has no ${what}`);
  };
  return {
    root: "/project",
    files: {
      resolve: refuse("files"),
      stat: refuse("files"),
      readBytes: refuse("files"),
      readText: refuse("files"),
      writeText: refuse("files"),
      list: refuse("files"),
    },
    shell: { run: refuse("shell") },
    http: { fetch: refuse("http"), open: refuse("http") },
    user: nobody,
    clock: systemClock,
    policy: { permit: refuse("policy") },
    wallTime: () => 0,
    ...parts,
  };
}

const world = worldWith({});

async function run<Input>(
  gadget: Gadget<Input>,
  input: Input,
  context: Partial<GadgetContext> = {},
): Promise<unknown> {
  assert.ok(gadget.run);
  return await gadget.run(input, {
    signal: new AbortController().signal,
    invocationId: "x",
    dependencies: {},
    call: { gadgetName: gadget.name, invocationId: "x", parameters: {} },
    log: () => {},
    progress: () => {},
    ...context,
  });
}

async function failure(work: Promise<unknown>): Promise<string> {
  const outcome = await work.then((value) => ({ value }), (error: unknown) => ({ error }));
  assert.ok("error" in outcome, `expected an error, got ${JSON.stringify(outcome)}`);
  assert.ok(outcome.error instanceof Error);
  return outcome.error.message;
}

Deno.test("small gadgets: each tells a model what it takes", async () => {
  const gadgets = [
    askUser(world),
    calculate(world),
    finish(world),
    json(world),
    now(world),
    template(world),
    wait(world),
  ];
  assert.deepEqual(gadgets.map(({ name }) => name), [
    "AskUser",
    "Calculate",
    "Finish",
    "Json",
    "Now",
    "Template",
    "Wait",
  ]);
  for (const gadget of gadgets) {
    const schema = gadget.input as {
      readonly type: string;
      readonly properties: Record<string, { readonly description?: string }>;
      readonly additionalProperties: boolean;
      readonly required?: readonly string[];
    };
    assert.equal(schema.type, "object", gadget.name);
    assert.equal(schema.additionalProperties, false, gadget.name);
    for (const [key, { description }] of Object.entries(schema.properties)) {
      assert.ok(
        description !== undefined && description.length > 20,
        `${gadget.name}.${key} is not described`,
      );
    }
    assert.ok((gadget.description ?? "").length > 60, gadget.name);
    assert.deepEqual(gadgetWarnings(checkGadget(gadget, gadget.name)), []);
    for (const { input } of gadget.examples ?? []) {
      assert.deepEqual(await validateInput(gadget.input, input), { ok: true, value: input });
      assert.ok(Object.keys(input).every((key) => Object.hasOwn(schema.properties, key)), gadget.name);
      assert.ok((schema.required ?? []).every((key) => Object.hasOwn(input, key)), gadget.name);
    }
    assert.equal(gadget.permissions, undefined, gadget.name);
  }
});

/** The tree as a call block gives it: every text a leaf without a type. */
function asLeaves(tree: unknown): unknown {
  if (typeof tree === "string") return new TextValue(tree);
  if (Array.isArray(tree)) return tree.map(asLeaves);
  return typeof tree === "object" && tree !== null
    ? Object.fromEntries(Object.entries(tree).map(([key, child]) => [key, asLeaves(child)]))
    : tree;
}

Deno.test("small gadgets: the texts of a call block become what they take", async () => {
  const typed = async (gadget: Gadget<never>, tree: unknown) => {
    const checked = await validateInput(gadget.input, asLeaves(tree));
    return checked.ok ? checked.value : checked.issues.map(({ message }) => message).join("; ");
  };
  assert.deepEqual(await typed(wait(world), { seconds: "2.5" }), { seconds: 2.5 });
  assert.match(String(await typed(wait(world), { seconds: "4000" })), /3600/);
  assert.match(String(await typed(wait(world), {})), /seconds|missing|required/);
  assert.deepEqual(await typed(json(world), { value: '{"a": [1]}', pretty: "true" }), {
    value: '{"a": [1]}',
    pretty: true,
  });
  assert.deepEqual(await typed(now(world), { format: "unix-ms" }), { format: "unix-ms" });
  const texts = { template: "7", values: { price: "1.50", list: ["true", { deep: "2.0" }] } };
  assert.deepEqual(
    await typed(template(world), texts),
    texts,
    "a template's values stay as they were written",
  );
  const mixed = { template: "x", values: { number: 1.5, list: [null, true], text: "1.50" } };
  assert.deepEqual(await validateInput(template(world).input, mixed), { ok: true, value: mixed });
  const variables = { x: "2", list: ["1", "2"] };
  assert.deepEqual(await typed(calculate(world), { expression: "12", variables }), {
    expression: "12",
    variables: { x: 2, list: [1, 2] },
  });
  assert.match(String(await typed(calculate(world), { expression: "1", variable: {} })), /variable/);
});

Deno.test("Calculate: examples of its own description", async () => {
  assert.equal(await run(calculate(world), { expression: "2 * (3 + 4) ^ 2" }), 98);
  const prices = { expression: "round(avg(prices) * 1.19, 2)", variables: { prices: [10, 12.5, 8] } };
  assert.equal(await run(calculate(world), prices), 12.1);
  assert.equal(
    await failure(run(calculate(world), { expression: "1 / 0" })),
    "Cannot calculate: division by zero at column 3",
  );
});

Deno.test("Now: ISO text in a zone, seconds, milliseconds", async () => {
  const summer = now(worldWith({ wallTime: () => Date.UTC(2031, 6, 4, 7, 30, 1, 250) }));
  assert.equal(await run(summer, {}), "2031-07-04T07:30:01.250Z");
  assert.equal(await run(summer, { zone: "UTC" }), "2031-07-04T07:30:01.250+00:00");
  assert.equal(await run(summer, { zone: "Europe/Berlin" }), "2031-07-04T09:30:01.250+02:00");
  assert.equal(await run(summer, { zone: "America/St_Johns" }), "2031-07-04T05:00:01.250-02:30");
  assert.equal(await run(summer, { zone: "Asia/Kathmandu" }), "2031-07-04T13:15:01.250+05:45");
  assert.equal(await run(summer, { zone: "Pacific/Auckland" }), "2031-07-04T19:30:01.250+12:00");
  assert.equal(await run(summer, { format: "unix" }), Date.UTC(2031, 6, 4, 7, 30, 1) / 1000);
  assert.equal(
    await run(summer, { format: "unix-ms", zone: "Europe/Berlin" }),
    Date.UTC(2031, 6, 4, 7, 30, 1, 250),
  );
  const midnight = now(worldWith({ wallTime: () => Date.UTC(2031, 11, 31, 23, 0, 0) }));
  assert.equal(await run(midnight, { zone: "Europe/Berlin" }), "2032-01-01T00:00:00.000+01:00");
  assert.equal(
    await failure(run(summer, { zone: "Europe/Berlni", format: "unix" })),
    'Unknown time zone "Europe/Berlni": expected an IANA name such as "Europe/Berlin" or "UTC". Did you mean "Europe/Berlin"?',
  );
});

Deno.test("Wait: waits by the clock, tells its progress, can be aborted", async () => {
  const clock = virtualClock();
  const gadget = wait(worldWith({ clock }));
  const reports: (readonly [number, number | undefined])[] = [];
  const progress = (done: number, total?: number) => void reports.push([done, total]);
  assert.equal(await clock.run(run(gadget, { seconds: 3.5 }, { progress })), 3.5);
  assert.equal(clock.now(), 3500);
  assert.deepEqual(reports, [[0, 3.5], [1, 3.5], [2, 3.5], [3, 3.5], [3.5, 3.5]]);

  reports.length = 0;
  await clock.run(run(gadget, { seconds: 3600 }, { progress }));
  assert.equal(clock.now(), 3_603_500);
  assert.equal(reports.length, 61);
  assert.ok((gadget.timeoutMs ?? 0) > 3_600_000);

  const abort = new AbortController();
  const aborted = clock.run(failure(run(gadget, { seconds: 100 }, { signal: abort.signal })));
  abort.abort(new Error("stopped"));
  assert.equal(await aborted, "stopped");
  assert.equal(await failure(run(gadget, { seconds: 3601 })), "Cannot wait 3601 seconds: expected 0 to 3600");
  assert.equal(await failure(run(gadget, { seconds: NaN })), "Cannot wait NaN seconds: expected 0 to 3600");
});

Deno.test("Json: reads text, picks by pointer and by path", async () => {
  const gadget = json(world);
  const value = '{"items": [{"name": "pen", "price": 2}, {"name": "book", "price": 12}], "a/b": 1, "": 0}';
  assert.deepEqual(await run(gadget, { value: " [1, 2] " }), [1, 2]);
  assert.equal(await run(gadget, { value, pointer: "items/1/name" }), "book");
  assert.equal(await run(gadget, { value, pointer: "/a~1b" }), 1);
  assert.equal(await run(gadget, { value, pointer: "/" }), 0);
  assert.deepEqual(await run(gadget, { value: { a: [1] }, pointer: "" }), { a: [1] });
  assert.deepEqual(await run(gadget, { value, path: "$.items[?@.price < 10].name" }), ["pen"]);
  assert.deepEqual(await run(gadget, { value, path: "$..name" }), ["pen", "book"]);
  assert.deepEqual(await run(gadget, { value, path: "$.nothing" }), []);
  assert.equal(await run(gadget, { value: "[1]", pretty: true }), "[\n  1\n]");
  assert.equal(await run(gadget, { value: null }), null);
});

Deno.test("Json: errors say where", async () => {
  const gadget = json(world);
  const of = (input: Parameters<NonNullable<typeof gadget.run>>[0]) => failure(run(gadget, input));
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

Deno.test("Json: a pattern that could run without end is refused", async () => {
  const gadget = json(world);
  const value = ["2031-05-04", "x", `${"a".repeat(60)}!`];
  assert.deepEqual(await run(gadget, { value, path: "$[?match(@, '[0-9]{4}-[0-9]{2}-(04|05)')]" }), [
    "2031-05-04",
  ]);
  assert.deepEqual(await run(gadget, { value, path: '$[?search(@, "^\\\\S$")]' }), ["x"]);
  assert.deepEqual(await run(gadget, { value: ["(match("], path: "$[?@ == '(match(']" }), ["(match("]);
  const repeated = /found a pattern that repeats a group, which can run without end at column 4/;
  for (const pattern of ["^(a+)+$", "(a|a)*b", "(a*){2,9}x", "((a)+)", "(?:a?)+"]) {
    assert.match(
      await failure(run(gadget, { value, path: `$[?search(@, '${pattern}')]` })),
      repeated,
      pattern,
    );
  }
  assert.match(
    await failure(run(gadget, { value, path: "$[?match(@, 'a*a*a*a*b')]" })),
    /4 open repetitions, at most 3/,
  );
  assert.match(
    await failure(run(gadget, { value: [["x", "(a+)+"]], path: "$[?match(@[0], @[1])]" })),
    /not written out/,
  );
});

Deno.test("Json: the place of a JSON error is told for exactly the texts that JSON.parse refuses", () => {
  const agrees = (text: string) => {
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    assert.equal(jsonProblem(text) === undefined, isJson, JSON.stringify(text));
  };
  const part = fc.constantFrom(
    ..."{}[]:,\"'\\ \n\t\u0001\u00a0\ud800",
    "0",
    "-",
    "1",
    "01",
    ".5",
    "1e5",
    "1.",
    "true",
    "nul",
    '"a"',
    '\\n"',
    '\\u00e9"',
    '"\\x"',
  );
  fc.assert(fc.property(fc.array(part, { maxLength: 12 }), (parts) => agrees(parts.join(""))), {
    numRuns: 5000,
  });
  fc.assert(fc.property(fc.json(), (text) => agrees(text)));
  fc.assert(fc.property(fc.json(), fc.nat(), (text, cut) => agrees(text.slice(0, cut % (text.length + 1)))));
});

Deno.test("Template: values are inserted as they are, once", async () => {
  const gadget = template(world);
  const values = {
    user: { name: "Ada" },
    list: [1, { a: null }],
    sum: 12.5,
    tricky: "{{sum}} $& $1 \\{{",
    "a/b": "slash",
  };
  const filled = (text: string) => run(gadget, { template: text, values });
  assert.equal(await filled("Dear {{user/name}}, {{ sum }}!"), "Dear Ada, 12.5!");
  assert.equal(await filled("{{list}} {{list/0}} {{list/1/a}}"), '[1,{"a":null}] 1 null');
  assert.equal(await filled("{{tricky}}"), "{{sum}} $& $1 \\{{");
  assert.equal(await filled("{{a~1b}}"), "slash");
  assert.equal(await filled("\\{{sum}} { } }} {"), "{{sum}} { } }} {");
  assert.equal(await run(gadget, { template: "" }), "");
});

Deno.test("Template: every name without a value is told with line and column", async () => {
  const gadget = template(world);
  const of = (text: string) => failure(run(gadget, { template: text, values: { name: "x", list: [1] } }));
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

Deno.test("Template: any text without braces is itself, any value comes through", async () => {
  await fc.assert(fc.asyncProperty(fc.string(), fc.string(), async (text, value) => {
    const plain = text.replaceAll(/[{}\\]/g, "");
    assert.equal(
      await run(template(world), { template: `${plain}{{v}}${plain}`, values: { v: value } }),
      `${plain}${value}${plain}`,
    );
  }));
});

Deno.test("AskUser: asks, takes choices, and says when nobody is there", async () => {
  const asked: { readonly question: string; readonly choices?: readonly string[] | undefined }[] = [];
  const answering = (...answers: string[]) =>
    askUser(worldWith({
      user: {
        canAnswer: true,
        ask: (question, options) => {
          asked.push({ question, choices: options?.choices });
          return Promise.resolve(answers.shift() ?? "");
        },
      },
    }));
  assert.equal(await run(answering(" main "), { question: "Which branch?" }), " main ");
  assert.equal(await run(answering(""), { question: "Which branch?", default: "main" }), "main");
  assert.equal(await run(answering("Y"), { question: "Go on?", choices: ["yes", "no"] }), "yes");
  assert.equal(
    await run(answering("maybe", "2"), { question: "Go on?", choices: ["yes", "no"], default: "yes" }),
    "no",
  );
  assert.deepEqual(asked[1], { question: "Which branch? (Enter: main)", choices: undefined });
  assert.deepEqual(asked[2], { question: "Go on?", choices: ["yes", "no"] });
  assert.equal(asked[3]?.question, "Go on? [yes/no] (Enter: yes)");
  assert.equal(
    await failure(run(answering(..."aaaaaaaaaaaa"), { question: "Go on?", choices: ["yes"] })),
    'No answer to "Go on?": none of 10 answers was one of the choices',
  );
  assert.equal(
    await failure(run(answering(), { question: "Go on?", choices: ["yes", "no"], default: "maybe" })),
    'The default "maybe" is none of the choices "yes", "no"',
  );
  assert.equal(await run(askUser(world), { question: "Go on?", default: "no" }), "no");
  assert.equal(
    await failure(run(askUser(world), { question: "Go on?" })),
    'Cannot ask "Go on?": nobody is at a terminal to answer; give a "default", or run it in a terminal',
  );
});

Deno.test("Finish: hands over its result", async () => {
  assert.deepEqual(await run(finish(world), { result: { done: [1] } }), { done: [1] });
  assert.equal(await run(finish(world), {}), null);
});
