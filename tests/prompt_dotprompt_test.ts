import assert from "node:assert/strict";
import fc from "fast-check";
import { type AnyPrompt, PromptError } from "../mod.ts";
import { discoverIn } from "./_prompt_files.ts";
import { tries } from "./_thorough.ts";

async function read(text: string, name = "g.prompt") {
  const { registry, problems } = await discoverIn({ files: { [`prompts/${name}`]: text } }, {
    strict: false,
  });
  const [key] = registry.keys();
  const prompt: AnyPrompt | undefined = key === undefined ? undefined : registry.get(key);
  return { prompt, lines: problems.map(({ line, message }) => `${line}: ${message}`) };
}

async function promptOf(text: string, name?: string): Promise<AnyPrompt> {
  const { prompt, lines } = await read(text, name);
  assert.deepEqual(lines, []);
  return prompt ?? assert.fail("no prompt");
}

const problemsOf = async (text: string) => (await read(text)).lines;

Deno.test("dotprompt: what has no place of its own goes to metadata.dotprompt", async () => {
  const prompt = await promptOf(`---
name: greet/formal
description: Greets.
model: google/gemini
config: { temperature: 0.2, stop: [a] }
version: 2
variant: formal
tools: [Now, Calculate]
metadata: { owner: me }
acme.ui.color: red
acme.ui.size: 3
other.x: [1]
---

  Hello {{name}}

`);
  assert.equal(prompt.path, "greet/formal");
  assert.equal(prompt(), "Hello {{name}}");
  assert.deepEqual(prompt.tools, ["Now", "Calculate"]);
  assert.deepEqual(prompt.metadata, {
    owner: "me",
    description: "Greets.",
    dotprompt: {
      model: "google/gemini",
      config: { temperature: 0.2, stop: ["a"] },
      version: 2,
      variant: "formal",
      ext: { "acme.ui": { color: "red", size: 3 }, "other": { x: [1] } },
    },
  });
});

Deno.test("dotprompt: a file without a front matter, and with an empty one", async () => {
  assert.equal((await promptOf("Hi {x} {{y}}"))({ y: 1 }), "Hi {x} 1");
  assert.equal((await promptOf("---\n---\nHi {{y}}\n"))({ y: 1 }), "Hi 1");
  assert.equal((await promptOf("---\nmodel: m\n---"))(), "");
  assert.equal((await promptOf("\uFEFF---\r\nmodel: m\r\n---\r\na\r\nb\r\n"))(), "a\nb");
  assert.equal((await promptOf("x", "a.b.prompt")).path, "a.b");
});

Deno.test("dotprompt: output is JSON of a schema, any JSON, or text", async () => {
  const formatOf = async (output: string) => (await promptOf(`---\noutput: ${output}\n---\nx`)).format;
  const title = {
    type: "object",
    properties: { t: { type: "string" } },
    required: ["t"],
    additionalProperties: false,
  };
  assert.deepEqual(await formatOf("{ schema: { t: string } }"), title);
  assert.deepEqual(await formatOf("{ format: json, schema: { t: string } }"), title);
  assert.equal(await formatOf("{ format: text, schema: { t: string } }"), null);
  assert.equal(await formatOf("{ format: text }"), null);
  assert.deepEqual(await formatOf("{ schema: { type: object, properties: { n: { type: integer } } } }"), {
    type: "object",
    properties: { n: { type: "integer" } },
  });
  assert.deepEqual(await formatOf("{ schema: 'any, whatever' }"), { description: "whatever" });
  const any = await promptOf("---\noutput: { format: json }\n---\nx");
  assert.deepEqual([await any.parse("[1]"), await any.parse('"a"'), await any.parse("null")], [
    [1],
    "a",
    null,
  ]);
  await assert.rejects(any.parse("nothing"), /Output is not valid JSON/);
});

Deno.test("dotprompt: defaults lie under the arguments, which are then checked", async () => {
  const prompt = await promptOf(`---
input:
  schema:
    name: string
    kind(enum, which one): [a, b]
    tags?(array): string
    deep?(object):
      n: integer
  default: { name: Bob, kind: a }
---
{{name}} {{kind}}{{#each tags}} {{this}}{{/each}}{{#with deep}} {{n}}{{/with}}`);
  assert.equal(prompt({}), "Bob a");
  assert.equal(prompt.render(), "Bob a");
  assert.equal(prompt({ name: undefined, tags: ["x", "y"], deep: { n: 3 } }), "Bob a x y 3");
  assert.throws(
    () => prompt({ name: 5, kind: "c", deep: { n: "x" }, more: 1 }),
    new PromptError(
      'prompt "g": bad arguments:\n- more: is not allowed\n- name: must be string\n- kind: must be one of "a", "b"\n- deep.n: must be integer',
      { code: "render" },
    ),
  );
  assert.throws(() => prompt.render([] as never), /prompt "g": arguments must be an object$/);
});

Deno.test("dotprompt: defaults without a schema are printed as they are written, with one they are what it says", async () => {
  const input =
    "  default: { zip: 01234, python: 3.10, card: 12345678901234567890 }\n---\n{{zip}} {{python}} {{card}}";
  assert.equal((await promptOf(`---\ninput:\n${input}`))({}), "01234 3.10 12345678901234567890");
  const typed = input.replace(
    "  default",
    "  schema: { zip: string, python: number, card: string }\n  default",
  );
  assert.equal((await promptOf(`---\ninput:\n${typed}`))({}), "01234 3.1 12345678901234567890");
});

Deno.test("dotprompt: helpers and what Handlebars has besides", async () => {
  const render = async (body: string, args: Readonly<Record<string, unknown>>) =>
    (await promptOf(body))(args);
  assert.equal(
    await render("{{#each xs}}{{@index}}{{#unless @last}},{{/unless}}{{else}}none{{/each}}", { xs: [1, 2] }),
    "0,1",
  );
  assert.equal(await render("{{#each xs}}x{{else}}none{{/each}}", { xs: [] }), "none");
  assert.equal(await render("{{#each o as |v k|}}{{k}}={{v}};{{/each}}", { o: { a: 1, b: 2 } }), "a=1;b=2;");
  assert.equal(
    await render("{{lookup o k}} {{o.a}} {{o.[b c]}} {{this.k}}", { o: { a: 1, "b c": 2 }, k: "a" }),
    "1 1 2 a",
  );
  assert.equal(
    await render("{{#if (lookup o k)}}y{{else if z}}z{{/if}}", { o: { a: 0 }, k: "a", z: 1 }),
    "z",
  );
  assert.equal(
    await render("{{#unlessEquals a b}}{{../a}}{{a}}{{else}}same{{/unlessEquals}}", { a: 1, b: 1 }),
    "same",
  );
  assert.equal(
    await render("{{json o indent=2}}|{{json nothing}}", { o: { a: [1] } }),
    '{\n  "a": [\n    1\n  ]\n}|',
  );
  assert.equal(await render("a {{! note }}{{b~}} c", { b: 1 }), "a 1c");
  assert.equal(await render("{{a}} {{{a}}} {{&a}}", { a: "<b> & 'c'" }), "<b> & 'c' <b> & 'c' <b> & 'c'");
});

Deno.test("dotprompt: values are data, and nothing inherited is read", async () => {
  const prompt = await promptOf("{{a}}|{{o.constructor}}|{{lookup o k}}|{{o.__proto__}}|{{toString}}");
  assert.equal(prompt({ a: "{{o}} {{{b}}} {x}", o: {}, k: "constructor" }), "{{o}} {{{b}}} {x}||||");
  const shown = await promptOf("<{{v}}>");
  fc.assert(fc.property(fc.string(), (value) => assert.equal(shown({ v: value }), `<${value}>`)));
});

Deno.test("dotprompt: what is not supported is told in its line", async () => {
  assert.deepEqual(
    await problemsOf(
      [
        "---",
        "model: m",
        "---",
        "",
        '{{role "system"}} {{history}}',
        '{{media url="x"}}',
        "{{#section 'a'}}x{{/section}}",
        "{{> part}} {{#> block}}x{{/block}}",
        "{{uppr name}} {{#iff a}}x{{/iff}} {{#name}}x{{/name}}",
        "{{#if a}}{{lookup a b}}{{else}}{{nope a=1}}{{/if}}",
        "{{#*inline 'x'}}y{{/inline}}",
        "{{json}} {{#lookup a b}}x{{/lookup}} {{if a}} {{#each}}x{{/each}}",
      ].join("\n"),
    ),
    [
      "5: a role, history, media or section helper is not supported",
      "5: a role, history, media or section helper is not supported",
      "6: a role, history, media or section helper is not supported",
      "7: a role, history, media or section helper is not supported",
      "8: a partial is not supported",
      "8: a partial is not supported",
      '9: unknown helper "uppr"',
      '9: unknown helper "iff". Did you mean "if"?',
      '9: unknown helper "name"',
      '10: unknown helper "nope"',
      "11: a decorator is not supported",
      '12: the helper "json" takes 1 argument, found 0',
      '12: the helper "lookup" has no inside: {{lookup …}}',
      '12: the helper "if" needs an inside: {{#if …}}…{{/if}}',
      '12: the helper "each" takes 1 argument, found 0',
    ],
  );
});

Deno.test("dotprompt: a body or a front matter that cannot be read is told in its line", async () => {
  assert.deepEqual(await problemsOf("---\nmodel: m\n---\na\n{{#if a}}x{{/each}}"), [
    "5: cannot read the Handlebars of the body: if doesn't match each",
  ]);
  assert.deepEqual(await problemsOf("a\n{{#if a}}\nx"), [
    "3: cannot read the Handlebars of the body: a block is not closed",
  ]);
  assert.deepEqual(await problemsOf("a\n{{}}"), [
    '2: cannot read the Handlebars of the body: "}}" is not expected here',
  ]);
  assert.deepEqual(await problemsOf("---\nmodel: m\nx"), ['1: front matter is not closed with "---"']);
  assert.deepEqual(await problemsOf("---\n- a\n---\nx"), [
    "2: front matter must be a mapping of keys to values",
  ]);
  assert.deepEqual(
    await problemsOf(
      "---\nmodel: 5\ntools: [{ name: x }]\ninput: { schema: { a: strin }, defaults: 1 }\nmodle: x\noutput:\n  format: yaml\n---\nx",
    ),
    [
      "2: model must be text, found 5",
      "3: tools must be a list of names, found a mapping",
      '4: input.schema: "a": unknown type "strin", expected any, boolean, integer, null, number or string. Did you mean "string"?',
      '4: unsupported key "input.defaults". Did you mean "input.default"?',
      '5: unsupported key "modle". Did you mean "model"?',
      '7: unsupported output.format "yaml": use json or text',
    ],
  );
  assert.deepEqual(
    await problemsOf("---\ninput:\n  schema: { a: strin }\noutput:\n  schema: { a(list): string }\n---\nx"),
    [
      '3: input.schema: "a": unknown type "strin", expected any, boolean, integer, null, number or string. Did you mean "string"?',
      '5: output.schema: "a(list)": unknown type "(list)", expected (object), (array) or (enum)',
    ],
  );
  assert.deepEqual(
    await problemsOf("---\noutput: { schema: { type: object, properties: 5 } }\n---\nx").then((l) =>
      l.length
    ),
    1,
  );
  assert.deepEqual(await problemsOf("---\nmodel: m\ntools: [a, a]\n---\nx"), [
    '3: prompt "g": duplicate tool "a"',
  ]);
  assert.deepEqual(await problemsOf("---\nname: a/../b\n---\nx"), [
    '2: bad prompt path "a/../b": "." and ".." are not allowed',
  ]);
});

Deno.test("dotprompt: a schema is a mapping, or for an answer a type; that of arguments takes an object", async () => {
  const found = async (of: string, schema: string) =>
    await problemsOf(`---\n${of}:\n  schema: ${schema}\n---\nx`);
  const input = "3: input.schema must be a mapping of names to types (Picoschema), or a JSON Schema, found ";
  for (
    const [schema, words] of [["text", '"text"'], ["[a, b]", "a list"], ["5", "5"], ["true", "true"], [
      "",
      "nothing",
    ]]
  ) assert.deepEqual(await found("input", schema ?? ""), [input + words]);
  for (const type of ["string", "array", "any", "null"]) {
    const written = await found("input", `{ type: ${type === "null" ? '"null"' : type} }`);
    assert.deepEqual(
      written,
      [
        `3: input.schema must describe an object, since arguments have names, found a JSON Schema of the type "${type}"`,
      ].filter(() => type !== "any"),
    );
  }
  const output =
    "3: output.schema must be a type or a mapping of names to types (Picoschema), or a JSON Schema, found ";
  assert.deepEqual(await found("output", "[a, b]"), [`${output}a list`]);
  assert.deepEqual(await found("output", ""), [`${output}nothing`]);
  assert.deepEqual(await found("output", "strng"), [
    '3: output.schema: unknown type "strng", expected any, boolean, integer, null, number or string. Did you mean "string"?',
  ]);
  for (const fine of ["string", "any, whatever it is", "{}", "{ type: array }"]) {
    assert.deepEqual(await found("output", fine), []);
  }
  assert.deepEqual(await found("input", "{ a: object, b(array: string, c: { d: .nan, type: string } }"), [
    '3: input.schema: "a": unknown type "object", expected any, boolean, integer, null, number or string; write "name(object)" for a mapping',
    '3: input.schema: "b(array": what begins with "(" must end with ")"',
    '3: input.schema: "c.d": unknown type "NaN", expected any, boolean, integer, null, number or string',
  ]);
});

Deno.test("dotprompt: defaults that do not fit, and properties that are there twice, are told where they stand", async () => {
  assert.deepEqual(
    await problemsOf([
      "---",
      "input:",
      "  schema:",
      "    a: string",
      "    b?: integer",
      "    c: { d: number }",
      "  default:",
      "    b: text",
      "    c: { d: x }",
      "    e: 1",
      "output:",
      "  schema: { a?: string, a: integer, b(array): string, b: string, (*): any }",
      "---",
      "x",
    ].join("\n")),
    [
      "8: input.default: b: must be integer,null",
      "9: input.default: c.d: must be number",
      "10: input.default: e: is not allowed",
      '12: output.schema: "a": "a?" is that property already',
      '12: output.schema: "b": "b(array)" is that property already',
    ],
  );
});

Deno.test("dotprompt: any body is read, or refused in a line that it has; and never told on the console", async () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "{{{",
    "}}}",
    "#if a",
    "/if",
    "else",
    "a",
    ".",
    " ",
    "\n",
    "json",
    "(",
    ")",
    "|",
    "@",
    "\\",
    "~",
    "{",
    "}",
    "!--",
    "as |x|",
  );
  const body = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 40, maxLength: 40 }), async (bodies) => {
      const files = Object.fromEntries(bodies.map((body, n) => [`prompts/${n}.prompt`, body]));
      const { registry, problems } = await discoverIn({ files }, { strict: false });
      for (const [n, body] of bodies.entries()) {
        const found = problems.filter(({ file }) => file === `prompts/${n}.prompt`);
        assert.equal(registry.has(`${n}`), found.length === 0, JSON.stringify(found));
        for (const { line } of found) assert.ok(line <= body.split("\n").length, `${line}`);
        // What was let through can be rendered, unless its values do not fit.
        if (found.length > 0) continue;
        const prompt: AnyPrompt = registry.get(`${n}`);
        assert.equal(typeof prompt.render({ a: { a: 1 }, json: 1 }), "string");
      }
    }),
    { numRuns: tries(10, 400) },
  );
});
