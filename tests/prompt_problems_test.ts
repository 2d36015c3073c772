// One look at a project tells all that is wrong with a file: nothing has to be mended before the rest is told.

import assert from "node:assert/strict";
import fc from "fast-check";
import { defineGadget, PromptError } from "../mod.ts";
import { testProject } from "./_project.ts";
import { discoverIn } from "./_prompt_files.ts";
import { tries } from "./_thorough.ts";

type Texts = Readonly<Record<string, string>>;

interface Placed {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}

const MODULES = {
  "prompts/_lib.ts": () =>
    Promise.resolve({ tool: defineGadget({ name: "look", description: "d" }), text: "no gadget" }),
};

async function discover(texts: Texts) {
  const found = await discoverIn({ files: texts, modules: MODULES }, { strict: false });
  const problems: readonly Placed[] = found.problems;
  return { registry: found.registry, problems };
}

const lineOf = ({ line, column, message }: Placed) => `${line}:${column}: ${message}`;

/** The problems of one file, as `line:column: message`. */
async function problemsIn(file: string, text: string | readonly string[], others: Texts = {}) {
  const whole = typeof text === "string" ? text : text.join("\n");
  const { problems } = await discover({ ...others, [`prompts/${file}`]: whole });
  return problems.filter((problem) => problem.file === `prompts/${file}`).map(lineOf);
}

Deno.test("problems: unknown keys, wrong values and the template's first mistake of a .prompt.md are told together", async () => {
  assert.deepEqual(
    await problemsIn("a.prompt.md", [
      "---",
      "name: b",
      "tool: [x]",
      "description: 5",
      "tags:",
      "  xmlTags: [fine, a b, /c]",
      "  xml: [a]",
      "tools:",
      "  - Now",
      "  - 5",
      "  - Now",
      "mcp:",
      "  - url: u",
      "  - { label: m, url: u, command: c, aproval: never }",
      "  - { label: m, url: 5, approval: maybe }",
      "addons: { webSearch: often, computerUse: { displayWidth: -1, environment: '' } }",
      "handler:",
      "  onException: 'a {x} and {y}'",
      "  onInterupt: x",
      "  onInterrupt: |",
      "    one {",
      "    two }",
      "---",
      "",
      "Hello {name and {x.}",
      "again {ok} } and {b!z}.",
      "",
    ]),
    [
      '3:1: unknown key "tool". Did you mean "tools"?',
      "4:1: description must be text, found 5",
      '6:19: tags: bad tag name "a b" in xmlTags',
      '6:24: tags: bad tag name "/c" in xmlTags',
      '7:3: tags: unknown key "xml"',
      "10:5: tools must be a list of names or ./file.ts#export, found 5",
      '11:5: prompt "b": duplicate tool "Now"',
      '13:5: prompt "b": mcp[0]: label is required, a text that is not empty',
      '14:5: prompt "b": mcp "m": give either url or command',
      '14:37: prompt "b": mcp "m": unknown key "aproval". Did you mean "approval"?',
      '15:5: prompt "b": duplicate mcp label "m"',
      '15:17: prompt "b": mcp "m": url and command are text',
      '15:25: prompt "b": mcp "m": approval must be never, manual or auto, found "maybe"',
      '16:11: prompt "b": addon webSearch must be true or false, found "often"',
      '16:44: prompt "b": addon computerUse: displayWidth must be whole pixels, found -1',
      '16:62: prompt "b": addon computerUse: environment must be text, found empty text',
      '18:3: prompt "b": handler onException uses unknown variables: x, y (known: error_message, retry_count, max_retries)',
      '19:3: prompt "b": handler: unknown key "onInterupt". Did you mean "onInterrupt"?',
      '20:3: prompt "b onInterrupt": template 1:5: bad placeholder "{\\ntwo }": expected {name}, {a.b} or {a[k]}; write "{{" and "}}" for literal braces',
      '25:7: prompt "b": template 1:7: bad placeholder "{name and {x.}\\nagain {ok} }": expected {name}, {a.b} or {a[k]}; write "{{" and "}}" for literal braces',
    ],
  );
});

Deno.test("problems: a key that is cut short is told whole", async () => {
  assert.deepEqual(await problemsIn("a.prompt.md", ["---", "desc: x", "---", "y"]), [
    '2:1: unknown key "desc". Did you mean "description"?',
  ]);
});

Deno.test("problems: what a .prompt.md refers to is told with the rest, and a module that cannot be loaded once", async () => {
  assert.deepEqual(
    await problemsIn("a.prompt.md", [
      "---",
      "extends: nowhere",
      "unknown: 1",
      "tools: [./_lib.ts#tool, ./_lib.ts#text, ./_gone.ts#a, ./_gone.ts#b, look, ../../out.ts#x]",
      "format: ./_gone.ts#Format",
      "tags: {}",
      "---",
      "{",
    ]),
    [
      '1:1: prompt "a": give either tags or format, not both',
      '2:1: extends: prompt "nowhere" not found. The registry is empty',
      '3:1: unknown key "unknown"',
      "4:25: tools: ./_lib.ts#text is not a gadget",
      '4:41: tools: cannot load ./_gone.ts: Module not found "prompts/_gone.ts".',
      '4:69: prompt "a": duplicate tool "look"',
      "4:75: tools: ../../out.ts#x is outside the project",
      '8:1: prompt "a": template 1:1: unclosed "{": write "{{" for a literal brace',
    ],
  );
});

Deno.test("problems: the first mistake in a schema has its place", async () => {
  assert.deepEqual(
    await problemsIn("a.prompt.md", [
      "---",
      "format:",
      "  type: object",
      "  properties:",
      "    a: { type: strin }",
      "    b:",
      "      minimum: low",
      "    c: 5",
      "  required: a",
      "---",
      "{a b}",
    ]),
    [
      '5:10: prompt "a": the JSON Schema of format is broken at "properties/a/type": found "strin", expected string, number, integer, boolean, null, array, object, or a list of these. Did you mean "string"?',
      '11:1: prompt "a": template 1:1: bad placeholder "{a b}": expected {name}, {a.b} or {a[k]}; write "{{" and "}}" for literal braces',
    ],
  );
});

Deno.test("problems: YAML that cannot be read keeps nothing of the template back", async () => {
  assert.deepEqual(await problemsIn("a.prompt.md", "---\nname: a\nname: b\n---\nx {\ny {"), [
    '3:1: The key "name" is written twice (first on line 2). Remove one of them, or join their values.',
    '5:3: prompt "a": template 1:3: unclosed "{": write "{{" for a literal brace',
  ]);
  assert.deepEqual(await problemsIn("a.prompt.md", "---\n- a\n---\nx }"), [
    "2:1: front matter must be a mapping of keys to values",
    '4:3: prompt "a": template 1:3: single "}": write "}}" for a literal brace',
  ]);
  assert.deepEqual(await problemsIn("a.prompt", "---\nname: a\nname: b\n---\nx {{uppercase z}}"), [
    '3:1: The key "name" is written twice (first on line 2). Remove one of them, or join their values.',
    '5:3: unknown helper "uppercase"',
  ]);
});

Deno.test("problems: a bad name or a bad extends keeps nothing back", async () => {
  assert.deepEqual(
    await problemsIn("a.prompt.md", "---\nname: ../b\nextends: a/./b\ntools: [x, x]\n---\n}"),
    [
      '2:1: bad prompt path "../b": "." and ".." are not allowed',
      '3:1: bad prompt path "a/./b": "." and ".." are not allowed',
      '4:12: prompt "a": duplicate tool "x"',
      '6:1: prompt "a": template 1:1: single "}": write "}}" for a literal brace',
    ],
  );
  assert.deepEqual(await problemsIn("a.prompt.md", "---\nname: [x]\nextends: none\n---\n}"), [
    "2:1: name must be text, found a list",
    '3:1: extends: prompt "none" not found. The registry is empty',
    '5:1: prompt "a": template 1:1: single "}": write "}}" for a literal brace',
  ]);
});

Deno.test("problems: unsupported keys, wrong values, schemas and the body of a .prompt are told together", async () => {
  assert.deepEqual(
    await problemsIn("g.prompt", [
      "---",
      "model: 5",
      "modle: x",
      "tools: [a, {}, a]",
      "input:",
      "  schema:",
      "    a: strin",
      "    deep?(object):",
      "      b: numbr, how many",
      "      c: string",
      "    d(list): string",
      "  default: 1",
      "  defaults: 1",
      "output:",
      "  schema: { type: object, properties: { x: { type: 5 } }, required: x }",
      "  format: yaml",
      "metadata: { n: .nan }",
      "---",
      "",
      "  {{uppr name}} and",
      '{{> part}}{{role "x"}}',
      "{{json}}",
    ]),
    [
      "2:1: model must be text, found 5",
      '3:1: unsupported key "modle". Did you mean "model"?',
      "4:12: tools must be a list of names, found a mapping",
      '4:16: prompt "g": duplicate tool "a"',
      '7:5: input.schema: "a": unknown type "strin", expected any, boolean, integer, null, number or string. Did you mean "string"?',
      '9:7: input.schema: "deep?(object).b": unknown type "numbr", expected any, boolean, integer, null, number or string. Did you mean "number"?',
      '11:5: input.schema: "d(list)": unknown type "(list)", expected (object), (array) or (enum)',
      "12:3: input.default must be a mapping, found 1",
      '13:3: unsupported key "input.defaults". Did you mean "input.default"?',
      '15:46: output.schema: the schema is broken at "properties/x/type": found 5, expected string, number, integer, boolean, null, array, object, or a list of these.',
      '16:3: unsupported output.format "yaml": use json or text',
      '17:13: prompt "g": metadata must be JSON: found the number NaN at n',
      '20:3: unknown helper "uppr"',
      "21:1: a partial is not supported",
      "21:11: a role, history, media or section helper is not supported",
      '22:1: the helper "json" takes 1 argument, found 0',
    ],
  );
});

Deno.test("problems: of a body that cannot be read the first tag that is wrong is told, with the rest of the file", async () => {
  const front = ["---", "unknown: 1", "---"];
  const unknown = '2:1: unsupported key "unknown"';
  const cannot = "cannot read the Handlebars of the body: ";
  assert.deepEqual(
    await problemsIn("g.prompt", [
      ...front,
      "{{uppr a}} {{#if a}}",
      " {{a b=}} {{#each xs ys}}{{/each}}",
      "{{}}",
    ]),
    [unknown, `5:2: ${cannot}"}}" is not expected here`],
  );
  assert.deepEqual(await problemsIn("g.prompt", [...front, "x", "a {{/if}}"]), [
    unknown,
    `5:3: ${cannot}"{{/" is not expected here`,
  ]);
  assert.deepEqual(await problemsIn("g.prompt", [...front, "{{#iff a}}x{{/iff}}{{#if b}}"]), [
    unknown,
    `4:29: ${cannot}a block is not closed`,
  ]);
  assert.deepEqual(await problemsIn("g.prompt", "x {{#if a}}x{{/each}}\n{{uppr b}}"), [
    `1:3: ${cannot}if doesn't match each`,
  ]);
});

Deno.test("problems: a broken file keeps its name, and what extends it is not told that it is not there", async () => {
  const { registry, problems } = await discover({
    "prompts/a.prompt.md": "---\nunknown: 1\n---\nx",
    "prompts/b.prompt.md": "---\nextends: a\n---\n{",
    "prompts/c.prompt.md": "---\nname: b\nname: c\n---\nx",
    "prompts/d.prompt.md": "---\nextends: c\n---\n",
    "prompts/e.prompt": "---\nname: [x]\n---\n",
    "prompts/f.prompt.md": "---\nextends: e\nq: 1\n---\n{Handlebars}, for all we know {",
    "prompts/z.prompt.md": "---\nname: a\n---\n}",
    "prompts/z/c.prompt.md": "---\nname: c\n---\nfine",
  });
  assert.deepEqual(registry.keys(), ["z/c"]);
  assert.deepEqual(problems.map((each) => `${each.file}:${lineOf(each)}`), [
    'prompts/a.prompt.md:2:1: unknown key "unknown"',
    'prompts/b.prompt.md:2:1: extends: prompt "a" cannot be used: see the problems of prompts/a.prompt.md',
    'prompts/b.prompt.md:4:1: prompt "b": template 1:1: unclosed "{": write "{{" for a literal brace',
    'prompts/c.prompt.md:3:1: The key "name" is written twice (first on line 2). Remove one of them, or join their values.',
    'prompts/d.prompt.md:2:1: extends: prompt "c" cannot be used: see the problems of prompts/c.prompt.md',
    "prompts/e.prompt:2:1: name must be text, found a list",
    'prompts/f.prompt.md:2:1: extends: prompt "e" cannot be used: see the problems of prompts/e.prompt',
    'prompts/f.prompt.md:3:1: unknown key "q"',
    'prompts/z.prompt.md:1:1: prompt "a" is already defined in prompts/a.prompt.md',
    'prompts/z.prompt.md:4:1: prompt "a": template 1:1: single "}": write "}}" for a literal brace',
  ]);
});

Deno.test("problems: of YAML that cannot be read what stands before the mistake, or beside it, is checked", async () => {
  assert.deepEqual(
    await problemsIn("a.prompt.md", [
      "---",
      "formt: 5",
      "tags: { xmlTags: [a b] }",
      "mcp: [*none]",
      "description: 5",
      "tools: [now",
      "metadat: {}",
      "---",
      "x {",
    ]),
    [
      '2:1: unknown key "formt". Did you mean "format"?',
      '3:19: tags: bad tag name "a b" in xmlTags',
      '4:7: Cannot read the alias "*none": no "&none" comes before it. Write the value out; a text that begins with "*" needs quotes.',
      "5:1: description must be text, found 5",
      "7:1: Found the end of a list or mapping in brackets too early. Close the bracket, and indent its lines more than the key it belongs to.",
      '9:3: prompt "a": template 1:3: unclosed "{": write "{{" for a literal brace',
    ],
  );
  assert.deepEqual(
    await problemsIn("a.prompt", [
      "---",
      "name: b",
      "modle: x",
      "input: { schema: { a: strin } }",
      "tools: x",
      "tools: [5]",
      "? [list]",
      ": 1",
      "output: { format: yaml }",
      'version: "a\\q"',
      "---",
      "{{uppr a}}",
    ]),
    [
      '3:1: unsupported key "modle". Did you mean "model"?',
      '4:20: input.schema: "a": unknown type "strin", expected any, boolean, integer, null, number or string. Did you mean "string"?',
      '6:1: The key "tools" is written twice (first on line 5). Remove one of them, or join their values.',
      "7:3: Found a key that is not text, expected text. Put the key in quotes.",
      '9:11: unsupported output.format "yaml": use json or text',
      '10:12: Cannot read YAML: invalid escape sequence \\q. In double quotes "\\" begins an escape: write "\\\\", or use single quotes.',
      '12:1: unknown helper "uppr"',
    ],
  );
});

Deno.test("problems: of prompts that may have been meant those are named that can be used, and of others where to look", async () => {
  const { problems } = await discover({
    "prompts/a.prompt.md": "---\nextends: sumary\nq: 1\n---\n",
    "prompts/b.prompt.md": "---\nextends: revew\n---\n",
    "prompts/c.prompt.md": "---\nextends: b2\n---\n",
    "prompts/b2x.prompt.md": "---\nextends: nowhere/at/all\n---\n",
    "prompts/review.prompt.md": "fine",
    "prompts/summary.prompt.md": "one\ntwo {\n",
  });
  assert.deepEqual(problems.map((each) => `${each.file}:${lineOf(each)}`), [
    'prompts/a.prompt.md:2:1: extends: prompt "sumary" not found. Did you mean "summary", which cannot be used (see prompts/summary.prompt.md:2)?',
    'prompts/a.prompt.md:3:1: unknown key "q"',
    'prompts/b.prompt.md:2:1: extends: prompt "revew" not found. Did you mean "review"?',
    'prompts/b2x.prompt.md:2:1: extends: prompt "nowhere/at/all" not found. Registered: review',
    'prompts/c.prompt.md:2:1: extends: prompt "b2" not found. Did you mean "b", which cannot be used (see prompts/b.prompt.md:2)?',
    'prompts/summary.prompt.md:2:5: prompt "summary": template 2:5: unclosed "{": write "{{" for a literal brace',
  ]);
});

Deno.test("problems: strict throws them all, in the order of their places, a line each", async () => {
  const files = {
    "prompts/b.prompt.md": "---\nzz: 1\nname: 5\n---\n{",
    "prompts/a.prompt": "---\nzz: 1\n---\n{{> p}}",
  };
  await assert.rejects(discoverIn({ files }), (thrown: unknown) => {
    assert.ok(thrown instanceof PromptError);
    assert.equal(
      thrown.message,
      [
        'prompts/a.prompt:2: unsupported key "zz"',
        "prompts/a.prompt:4: a partial is not supported",
        'prompts/b.prompt.md:2: unknown key "zz"',
        "prompts/b.prompt.md:3: name must be text, found 5",
        'prompts/b.prompt.md:5: prompt "b": template 1:1: unclosed "{": write "{{" for a literal brace',
      ].join("\n"),
    );
    return true;
  });
});

Deno.test("problems: any front matter and body gives each problem once, in order, within the file", async () => {
  const lines = fc.constantFrom(
    "name: [x]",
    "tools: [a, a, 5]",
    "tags: { xmlTags: [a b], z: 1 }",
    "format: { type: 5, required: 1 }",
    "handler: { onException: '{', z: '{x}' }",
    "mcp: [{}, { label: a, url: u, command: c }, 5]",
    "addons: { webSearch: 1, computerUse: [] }",
    "metadata: { a: .inf }",
    "extends: q",
    "q: 1",
    "input: { schema: { a: strin, b(x): 1 }, default: 5 }",
    "output: { schema: { type: 5 }, format: 5 }",
    "&a b: *a",
    "\tx: 1",
  );
  const body = fc.constantFrom(
    "{",
    "}",
    "{a}",
    "{{",
    "}}",
    "{a b}",
    "\n",
    "{{uppr x}}",
    "{{#if}}",
    "{{/if}}",
    "x",
  );
  const text = fc.tuple(fc.uniqueArray(lines, { maxLength: 6 }), fc.array(body, { maxLength: 8 }))
    .map(([front, parts]) => ["---", ...front, "---", parts.join("")].join("\n"));
  const file = fc.tuple(fc.constantFrom("a.prompt.md", "a.prompt"), text);
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 30, maxLength: 30 }), async (drawn) => {
      const texts = drawn.map(([name, text], n) => [`prompts/${n}/${name}`, text] as const);
      const { registry, problems: all } = await discover(Object.fromEntries(texts));
      let good = 0;
      for (const [name, text] of texts) {
        const problems = all.filter(({ file }) => file === name);
        if (problems.length === 0) good++;
        const shown = problems.map(lineOf);
        assert.equal(new Set(shown).size, shown.length, shown.join("\n"));
        const rows = text.split("\n");
        let before = [0, 0];
        for (const { line, column = NaN } of problems) {
          assert.ok(
            line > (before[0] ?? 0) || line === before[0] && column >= (before[1] ?? 0),
            shown.join("\n"),
          );
          assert.ok(
            line <= rows.length && column >= 1 && column <= (rows[line - 1]?.length ?? 0) + 1,
            shown.join("\n"),
          );
          before = [line, column];
        }
      }
      assert.equal(registry.keys().length, good);
    }),
    { numRuns: tries(10, 300) },
  );
});

/** What `orrery check` tells of a project that has these files and the prompt `bot/system`. */
async function checked(texts: Texts) {
  await using project = await testProject({ "prompts/bot/system.prompt.md": "x", ...texts });
  const { code, stderr } = await project.run(["check"]);
  const lines = stderr.trimEnd().split("\n");
  assert.equal(code, 2);
  return lines.slice(0, -1).map((line) => line.replace(": error:", ":")); // the last one counts them
}

Deno.test("problems: an agent is told all that is wrong with it, and nothing that follows from that", async () => {
  const lines = await checked({
    "orrery.yaml": [
      "agents:",
      "  - modle: m",
      "    systemPrompt: bot/systm",
      "    limits: { maxWait: -1, interruptStep: 3 }",
      "  - name: w",
      "    modelArg: {}",
      "  - name: v",
      "    model: 5",
      "    systemPromt: bot/system",
      "  - { name: w, model: m, system: x, systemPrompt: none }",
    ].join("\n"),
  });
  assert.deepEqual(lines, [
    "orrery.yaml:2:5: agents[0]: name is required",
    'orrery.yaml:2:5: agents[0]: unknown key "modle". Did you mean "model"?',
    "orrery.yaml:4:15: agents[0]: limit maxWait must be a non-negative integer",
    'orrery.yaml:4:28: agents[0]: unknown limit "interruptStep". Did you mean "interruptSteps"?',
    'orrery.yaml:5:5: agent "w": model is required',
    'orrery.yaml:5:5: agent "w": give either systemPrompt or system',
    'orrery.yaml:6:5: agent "w": unknown key "modelArg". Did you mean "modelArgs"?',
    'orrery.yaml:8:5: agent "v": model must be text',
    'orrery.yaml:9:5: agent "v": unknown key "systemPromt". Did you mean "systemPrompt"?',
    'orrery.yaml:10:26: agent "w": give either systemPrompt or system',
  ]);
});

Deno.test("problems: prompts that are not there, names that are taken and files of agents are told in their places", async () => {
  const lines = await checked({
    "orrery.yaml": [
      "agents:",
      "  - { name: u, model: script/echo, systemPrompt: bot/systm }",
      "  - { name: w, model: script/echo, system: x }",
      "  - { name: w, model: script/echo, systemPrompt: none }",
      "  - file.yaml",
    ].join("\n"),
    "file.yaml": "- name: 5\n  model: ''\n- name: u\n  model: m\n  system: y\n  limits: 5\n",
  });
  assert.deepEqual(lines, [
    'orrery.yaml:2:36: agent "u": prompt "bot/systm" not found. Did you mean "bot/system"?',
    'orrery.yaml:4:7: agent "w" is defined twice',
    'orrery.yaml:4:36: agent "w": prompt "none" not found. Registered: bot/system',
    "file.yaml:1:3: agents[3][0]: name must be text",
    "file.yaml:1:3: agents[3][0]: give either systemPrompt or system",
    "file.yaml:2:3: agents[3][0]: model must be text",
    'file.yaml:3:3: agent "u" is defined twice',
    'file.yaml:6:3: agent "u": limits must be a mapping',
  ]);
});

Deno.test("problems: what is wrong with agentDefaults is told once, and not of the agents that it is meant for", async () => {
  assert.deepEqual(
    await checked({
      "orrery.yaml": [
        "agentDefaults: { model: 5, limits: { maxWait: x } }",
        "agents: [{ name: a, system: x }, { name: b, model: m, system: x }]",
      ].join("\n"),
    }),
    [
      "orrery.yaml:1:18: agentDefaults: model must be text",
      "orrery.yaml:1:38: agentDefaults: limit maxWait must be a non-negative integer",
    ],
  );
  assert.deepEqual(
    await checked({
      "orrery.yaml": [
        "agentDefaults: { model: script/echo, systemPrompt: none }",
        "agents: [{ name: a }, { name: b, system: x }]",
      ].join("\n"),
    }),
    ['orrery.yaml:1:38: agent "a": prompt "none" not found. Registered: bot/system'],
  );
});
