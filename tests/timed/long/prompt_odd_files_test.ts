// Files that somebody made by mistake, or to do harm: each is read or refused, in a moment, and the others are not touched.

import assert from "node:assert/strict";
import { Dotprompt } from "dotprompt";
import fc from "fast-check";
import { discoverIn } from "../../_prompt_files.ts";
import { tries } from "../../_thorough.ts";

async function discover(texts: Readonly<Record<string, string | Uint8Array>>) {
  const files = Object.entries(texts).map(([name, text]) => [`prompts/${name}`, text] as const);
  const { registry, problems } = await discoverIn({ files: Object.fromEntries(files) }, { strict: false });
  const lines = problems.map(({ file, line, message }) =>
    `${file.replace("prompts/", "")}:${line}: ${message}`
  );
  return { registry, keys: registry.keys(), lines };
}

Deno.test("odd files: keys such as __proto__ change nothing but the prompt", async () => {
  const keysBefore = Object.keys;
  const { registry, lines } = await discover({
    "a.prompt": "---\n__proto__.polluted: yes\nconstructor.keys: 5\ntoString.x: 1\n---\nx",
    "b.prompt.md": "---\nmetadata: { __proto__: { a: 1 } }\n---\n{__proto__} {constructor}",
  });
  assert.deepEqual(lines, []);
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Object.keys, keysBefore);
  const ext = JSON.stringify(registry.get("a").metadata.dotprompt);
  assert.equal(ext, '{"ext":{"__proto__":{"polluted":"yes"},"constructor":{"keys":5},"toString":{"x":1}}}');
  assert.deepEqual(registry.get("b").vars, ["__proto__", "constructor"]);
  assert.equal(JSON.stringify(registry.get("b").metadata), '{"__proto__":{"a":1}}');
  const property = await discover({ "c.prompt": "---\ninput: { schema: { __proto__: string } }\n---\nx" });
  assert.deepEqual(property.lines, [
    'c.prompt:2: input.schema: "__proto__" cannot be the name of a property',
  ]);
});

Deno.test("odd files: what Picoschema takes for no type is refused, and lists are nobody else's", async () => {
  const { registry, lines } = await discover({
    "a.prompt":
      "---\ninput:\n  schema:\n    a: [string]\n    b:\n    c(enum): x\n    d(array): [string]\n    e: 5\n---\nx",
    "b.prompt":
      "---\ninput:\n  schema:\n    a(enum): &e [x, y]\n    b?(enum): *e\nmetadata: { e: *e }\n---\n{{a}}{{b}}",
  });
  assert.deepEqual(lines, [
    'a.prompt:4: input.schema: "a" must be a type or a mapping, found a list',
    'a.prompt:5: input.schema: "b" must be a type or a mapping, found nothing',
    'a.prompt:6: input.schema: "c(enum)" must be a list of values',
    'a.prompt:7: input.schema: "d(array)" must be a type or a mapping, found a list',
    'a.prompt:8: input.schema: "e" must be a type or a mapping, found 5',
  ]);
  assert.deepEqual(registry.get("b").metadata, { e: ["x", "y"] });
  assert.throws(() => registry.get("b")({ a: null }), /- a: must be one of "x", "y"$/);
});

Deno.test("odd files: files of one name and several kinds, and names with strange characters", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows has no such names of files");
  const { keys, lines } = await discover({
    "same.prompt": "1",
    "same.prompt.md": "2",
    "a%20b {c}.prompt.md": "x",
    "constructor.prompt.md": "x",
    "new\nline.prompt.md": "x",
    "__proto__.prompt.md": "left out",
    "..prompt.md": "left out",
    "UPPER.PROMPT.MD": "no prompt",
    "é.prompt.md": "x",
  });
  assert.deepEqual(keys, ["a%20b {c}", "constructor", "new\nline", "same", "é"]);
  assert.deepEqual(lines, ['same.prompt.md:1: prompt "same" is already defined in prompts/same.prompt']);
});

Deno.test("odd files: tabs, carriage returns, marks, anchors and bytes that are no text", async () => {
  const { keys, lines } = await discover({
    "a.prompt.md": "\uFEFF---\r\nname: crlf\r\n---\r\na\r\nb\r\n",
    "b.prompt.md": "---\nmetadata:\n\ta: 1\n---\nx {",
    "c.prompt.md": "---\nmetadata: &m { a: 1 }\naddons: *m\n---\nx",
    "d.prompt.md": "---\nmetadata: &m { a: *m }\n---\nx",
    "e.prompt.md": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255]),
    "f.prompt": new Uint8Array([0xff, 0xfe, 0x61, 0]),
    "g.prompt.md": "",
    "h.prompt": "",
    "i.prompt.md": "a\0b",
  });
  assert.deepEqual(keys, ["c", "crlf", "g", "h", "i"]);
  assert.deepEqual(lines.map((line) => line.slice(0, 60)), [
    "b.prompt.md:3: Found a tab in the indentation, expected blanks. YAML all".slice(0, 60),
    'b.prompt.md:5: prompt "b": template 1:3: unclosed "{": write "{{" for'.slice(0, 60),
    'd.prompt.md:2: Cannot read the alias "*m": it would hold itself. Write'.slice(0, 60),
    'e.prompt.md:1: Cannot read "prompts/e.prompt.md": it is not UTF-8 text'.slice(0, 60),
    'f.prompt:1: Cannot read "prompts/f.prompt": it is not UTF-8 text: the f'.slice(0, 60),
  ]);
});

Deno.test("odd files: what is taken for something else than it was meant as is told", async () => {
  const { registry, keys, lines } = await discover({
    "a.prompt.md": "\n\n---\nname: x\n---\nbody",
    "b.prompt.md": " ---\nname: x\n---\nbody",
    "c.prompt.md": "---yaml\nname: x\n---\nbody",
    "d.prompt.md": "---\n---\n\n---\nname: x\n---\nbody",
    "e.prompt.md": "\n---\nNote: a rule\n---\nbody",
    "e2.prompt.md": "\n---\na rule\n---\nbody",
    "e3.prompt": "----\nmodel: m\n---\nx",
    "e4.prompt": "\u200B---\nmodel: m\n---\nx",
    "e5.prompt.md": "<!-- ours -->\n---\nname: x\n---\nx",
    "e6.prompt.md": "---\rname: x\r---\rx",
    "e7.prompt.md": "--- # yes\nname: x\n---\nx",
    "e8.prompt": "%YAML 1.2\n---\nmodel: m\n---\nx",
    "f.prompt.md": "---\nmetadata: &m { a: 1 }\nhandler: { <<: *m }\naddons: { '<<': 1 }\n---\nx",
    "g.prompt": "---\nconfig: &c { a: 1 }\nmetadata:\n  <<: *c\n---\nx",
    "h.prompt.md": "---\nmodel: m\ninput: {}\nmodle: m\n---\nx",
    "i.prompt.md": "---\ntools: [./x, ./y.ts, ../z, fine, server/tool]\n---\nx",
  });
  assert.deepEqual(keys, ["d", "e2"]);
  assert.equal(registry.get("d").template, "---\nname: x\n---\nbody");
  const late = (found: string) =>
    `front matter must begin with a line that is "---", the first one of the file, found ${found}; ` +
    'where this is text, put two lines of "---" before it';
  const merge = 'Found the merge key "<<", which YAML 1.2 does not have. ' +
    "Write the keys out; a key of that name needs quotes.";
  assert.deepEqual(lines, [
    `a.prompt.md:3: ${late('"\\n\\n---\\n"')}`,
    `b.prompt.md:1: ${late('" ---\\n"')}`,
    `c.prompt.md:1: ${late('"---yaml\\n"')}`,
    `e.prompt.md:2: ${late('"\\n---\\n"')}`,
    `e3.prompt:1: ${late('"----\\n"')}`,
    `e4.prompt:1: ${late('"\\u200b---\\n"')}`,
    `e5.prompt.md:2: ${late('"<!-- ours -->\\n---\\n"')}`,
    `e6.prompt.md:1: ${late('"---\\r"')}`,
    `e7.prompt.md:1: ${late('"--- # yes\\n"')}`,
    `e8.prompt:2: ${late('"%YAML 1.2\\n---\\n"')}`,
    `f.prompt.md:3: ${merge}`,
    `g.prompt:4: ${merge}`,
    'h.prompt.md:2: unknown key "model": files that end in .prompt have it, not .prompt.md',
    'h.prompt.md:3: unknown key "input": files that end in .prompt have it, not .prompt.md',
    'h.prompt.md:4: unknown key "modle"',
    ...["./x", "./y.ts", "../z"].map((found) =>
      `i.prompt.md:2: tools must be a list of names or ./file.ts#export, found "${found}"`
    ),
  ]);
});

Deno.test("odd files: huge and deep ones take a moment, and no more problems are told than can be read", async () => {
  const deep = (open: string, close: string) => `${open.repeat(20_000)}x${close.repeat(20_000)}`;
  const list = (count: number, of: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => of(n)).join("");
  const start = performance.now();
  const { keys, lines } = await discover({
    "blocks.prompt": deep("{{#if a}}", "{{/if}}"),
    "branches.prompt": `{{#if a}}${"{{else if b}}x".repeat(20_000)}{{/if}}`,
    "few.prompt": `{{#if a}}${"{{else if b}}x".repeat(1_000)}{{else}}y{{/if}}`,
    "brackets.prompt": `{{json ${deep("(lookup a ", ")")}}}`,
    "deep.prompt.md": `---\nmetadata: ${deep("[", "]")}\n---\nx`,
    "keys.prompt.md": `---\n${list(5000, (n) => `k${n}: 1\n`)}---\nx`,
    "lines.prompt.md": `x${"\n".repeat(3_000_000)}y${"\n".repeat(3_000_000)}`,
    "long.prompt.md": `---\nname: long\n---\n${"x".repeat(10_000_000)}`,
    "quotes.prompt": '{{json "'.repeat(20_000),
    "tags.prompt": "{{uppr x}}".repeat(5000),
    "wrong.prompt.md": "{x y} ".repeat(500_000),
  });
  assert.deepEqual(keys, ["few", "lines", "long"]);
  const count = (file: string) => lines.filter((line) => line.startsWith(file)).length;
  assert.deepEqual(
    ["blocks", "branches", "brackets", "deep", "keys", "quotes", "tags", "wrong"].map((name) =>
      count(`${name}.`)
    ),
    [
      1,
      1,
      1,
      1,
      100,
      1,
      100,
      1,
    ],
  );
  assert.equal(lines[0], "blocks.prompt:1: there are more than 200 levels of Handlebars inside each other");
  assert.match(
    lines[2] ?? "",
    /^branches\.prompt:1: a block has more than 1000 branches with \{\{else …\}\}$/,
  );
  assert.ok(performance.now() - start < 8000);
});

Deno.test("odd files: a .prompt file says what the dotprompt package reads in it", async () => {
  const key = fc.constantFrom(
    "model",
    "version",
    "variant",
    "description",
    "a.b",
    "a.b.c",
    "x.",
    ".y",
    "a.d",
  );
  const body = fc.string({ unit: fc.constantFrom("a", " ", "\n", "\t", "{", "}", "é", "-", "\u00a0") });
  const file = fc.tuple(fc.dictionary(key, fc.constantFrom("v", "w x")), body);
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 25, maxLength: 25 }), async (drawn) => {
      const texts = drawn.map(([fields, body]) => `---\n${JSON.stringify(fields)}\n---\n${body}`);
      const { registry } = await discover(
        Object.fromEntries(texts.map((text, n) => [`p${n}.prompt`, text])),
      );
      for (const [n, text] of texts.entries()) {
        if (!registry.has(`p${n}`)) continue;
        const { ext = {}, template, raw: _raw, metadata: _none, config: _config, description, ...read } =
          new Dotprompt().parse(text);
        const prompt = registry.get(`p${n}`);
        assert.equal(prompt.template, template);
        const dotprompt = { ...read, ...(Object.keys(ext).length > 0 && { ext }) };
        assert.deepEqual(JSON.parse(JSON.stringify(prompt.metadata)), {
          ...(description !== undefined && { description }),
          ...(Object.keys(dotprompt).length > 0 && { dotprompt }),
        });
      }
    }),
    { numRuns: tries(5, 300) },
  );
});
