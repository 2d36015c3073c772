import fc from "fast-check";
import assert from "node:assert/strict";
import type { DocumentProblem, OperationName } from "../mod.ts";
import { readDocumentSettings } from "../lib/parse/document/settings.ts";
import {
  type DocumentSettings,
  type FieldsOf,
  OPERATION_NAMES,
  type OperationFields,
  PARAMETERS,
  takes,
} from "../lib/parse/document/operation.ts";
import { readOperation } from "../lib/parse/document/read_operation.ts";

/** The line of `@name` in all tests. */
const LINE = 10;

function read(name: OperationName, body: string): ReturnType<typeof readOperation> {
  return readOperation({ kind: "operation", name, body, line: LINE, source: `@${name}\n${body}` });
}

async function fieldsOf<Name extends OperationName>(name: Name, body: string): Promise<FieldsOf<Name>> {
  const { fields, problems } = await read(name, body);
  assert.deepEqual(problems, [], body);
  assert.equal(fields?.name, name);
  return said(fields as OperationFields as FieldsOf<Name>);
}

function told(problems: readonly DocumentProblem[]): readonly string[] {
  return problems.map(({ line, column, severity, message }) => `${line}:${column}: ${severity}: ${message}`);
}

async function problemsOf(name: OperationName, body: string): Promise<readonly string[]> {
  const { fields, problems } = await read(name, body);
  assert.equal(fields, undefined, body);
  return told(problems);
}

async function settingsOf(
  yaml: string,
): Promise<{ settings: DocumentSettings; problems: readonly string[] }> {
  const source = `---\n${yaml}---\n`;
  const { settings, problems } = await readDocumentSettings({ kind: "front-matter", yaml, source, line: 1 });
  return { settings: said(settings), problems: told(problems) };
}

/** Without keys that have no value. */
function said<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Map) return value;
  if (Array.isArray(value)) return value.map(said) as T;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, said(part)])) as T;
}

Deno.test("document operation: the defaults", async () => {
  const any = { conditions: [], isRunOnce: false };
  const { lines, ...llm } = await fieldsOf("llm", 'prompt: "x"');
  assert.deepEqual([...lines], [["prompt", 11]]);
  assert.deepEqual(llm, {
    name: "llm",
    ...any,
    prompt: "x",
    isGeneratedRun: false,
    isAmbient: true,
    media: [],
    isHeaderAligned: false,
    stopSequences: [],
    retries: 2,
  });
  const { lines: _shell, ...shell } = await fieldsOf("shell", "prompt: |\n  a\n\n  b");
  assert.deepEqual(shell, { name: "shell", ...any, prompt: "a\n\nb\n", isGeneratedRun: false, env: {} });
  const { lines: _run, ...run } = await fieldsOf("run", "file: a.md");
  assert.deepEqual(run, { name: "run", ...any, file: "a.md", isGeneratedRun: false, inputs: {} });
  const { lines: _import, ...imported } = await fieldsOf("import", "file: a.md");
  assert.deepEqual(imported, { name: "import", ...any, file: "a.md" });
  const { lines: _return, ...returned } = await fieldsOf("return", "block: a/*");
  assert.deepEqual(returned, { name: "return", conditions: [], blocks: ["a/*"] });
  const { lines: _goto, ...jump } = await fieldsOf("goto", "block: ' a/b '");
  assert.deepEqual(jump, { name: "goto", ...any, block: "a/b" });
});

Deno.test("document operation: every parameter of @llm at once", async () => {
  const { lines, ...fields } = await fieldsOf(
    "llm",
    `prompt: "x"
block: [a, " b/* "]
to: t/*
mode: replace
use-header: "## H {id=h}"
run-once: true
if:
  - {block: v, exists: true}
  - {block: [v, w], matches: "^\\\\d+$"}
on-error: continue
run-generated: true
context: none
media:
- a.png
- b.pdf

save-to-file: out/a.txt
header-auto-align: true
provider: openai
model: fast
temperature: 0.5
stop-sequences: "END"
tools: look, doc,look
tools-turns-max: 3
retries: 0
schema: {type: object, __proto__: {}}`,
  );
  assert.equal(lines.get("media"), 23);
  assert.equal(lines.get("schema"), 36);
  const { schema, ...rest } = fields;
  assert.equal(JSON.stringify(schema), '{"type":"object","__proto__":{}}');
  assert.deepEqual(rest, {
    name: "llm",
    prompt: "x",
    blocks: ["a", "b/*"],
    to: "t/*",
    mode: "replace",
    useHeader: "## H {id=h}",
    isRunOnce: true,
    conditions: [
      { blocks: ["v"], test: { kind: "exists", value: true } },
      { blocks: ["v", "w"], test: { kind: "matches", value: "^\\d+$" } },
    ],
    onError: "continue",
    isGeneratedRun: true,
    isAmbient: false,
    media: ["a.png", "b.pdf"],
    saveToFile: "out/a.txt",
    isHeaderAligned: true,
    provider: "openai",
    model: "fast",
    temperature: 0.5,
    stopSequences: ["END"],
    tools: ["look", "doc"],
    toolsTurnsMax: 3,
    retries: 0,
  });
});

Deno.test("document operation: the forms of single values", async () => {
  const blocks = async (text: string) => (await fieldsOf("return", `block: ${text}`)).blocks;
  assert.deepEqual(await blocks("{block_uri: a}"), ["a"]);
  assert.deepEqual(await blocks("{block_uri: [a, b/c/*]}"), ["a", "b/c/*"]);
  assert.deepEqual(await blocks("\n  block_uri:\n    - a\n    - b"), ["a", "b"]);
  assert.deepEqual(await blocks("draft  # note"), ["draft"]);
  assert.equal((await fieldsOf("goto", "block: [a]")).block, "a");

  const header = async (text: string) =>
    (await fieldsOf("return", `block: a\nuse-header: ${text}`)).useHeader;
  assert.equal(await header("None"), "none");
  assert.equal(await header('" NONE "'), "none");
  assert.equal(await header("|\n  ####### T"), "####### T");

  const tools = async (text: string) => (await fieldsOf("llm", `block: a\ntools: ${text}`)).tools;
  assert.equal(await tools("none"), "none");
  assert.equal(await tools("[all]"), "all");
  assert.equal(await tools("[]"), "none");
  assert.deepEqual(await tools("[a, b]"), ["a", "b"]);
  assert.deepEqual(await tools("\n- a\n- a"), ["a"]);

  const env = async (text: string) => (await fieldsOf("shell", `prompt: x\nenv: ${text}`)).env;
  assert.deepEqual(
    await env(
      "{A: 007, B: 1.50, C: True, D: ~, E: 0x1F, F: 12345678901234567890, G: '', H: x, I: {block: [b]}}",
    ),
    {
      A: "007",
      B: "1.50",
      C: "True",
      D: "",
      E: "0x1F",
      F: "12345678901234567890",
      G: "",
      H: "x",
      I: { blocks: ["b"] },
    },
  );
  assert.deepEqual(await env("\n  A: &n 1e3\n  B: *n\n  C:\n  D: |\n    t"), {
    A: "1e3",
    B: "1000",
    C: "",
    D: "t\n",
  });
  assert.deepEqual(Object.keys(await env("{__proto__: x, constructor: y}")), ["__proto__", "constructor"]);
  assert.equal((await fieldsOf("shell", "prompt: x\ntimeout: 0.5")).timeoutS, 0.5);
  assert.equal((await fieldsOf("llm", "block: a\nschema: s.json")).schema, "s.json");
  assert.deepEqual((await fieldsOf("llm", 'block: a\nstop-sequences: ["\\n", " "]')).stopSequences, [
    "\n",
    " ",
  ]);

  const condition = async (text: string) => (await fieldsOf("goto", `block: a\nif: ${text}`)).conditions;
  assert.deepEqual(await condition("{block: {block_uri: v}, equals: 1.0}"), [
    { blocks: ["v"], test: { kind: "equals", value: "1.0" } },
  ]);
  assert.deepEqual(await condition('[{not-equals: "", block: v}, {block: v, contains: " x"}]'), [
    { blocks: ["v"], test: { kind: "not-equals", value: "" } },
    { blocks: ["v"], test: { kind: "contains", value: " x" } },
  ]);
});

/** What is told of `block: b` (or what the operation needs) and one bad parameter in the second line. */
const BAD: readonly (readonly [OperationName, string, string])[] = [
  ["return", "prompt: 5", "prompt must be text (put it in quotes)"],
  ["return", "prompt: true", "prompt must be text (put it in quotes)"],
  ["return", "prompt: [a]", "prompt must be text"],
  ["return", "prompt:", "prompt is empty"],
  ["return", 'prompt: ""', "prompt is empty"],
  ["return", 'prompt: " \\n"', "prompt is empty"],
  ["return", "prompt: # note", "prompt is empty"],
  ["llm", "to: 5", "to must be text (put it in quotes)"],
  ["llm", "to: [a]", "to must be text"],
  ["llm", "to:", "to is empty"],
  ["llm", "to: a*", '* may stand only at the end of a reference, as in "a/*"'],
  ["llm", 'to: "*"', '* may stand only at the end of a reference, as in "a/*"'],
  ["llm", "to: a/*/b", '* may stand only at the end of a reference, as in "a/*"'],
  ["llm", "to: /*", '* may stand only at the end of a reference, as in "a/*"'],
  ["llm", "to: a/**", '* may stand only at the end of a reference, as in "a/*"'],
  ["llm", "mode: insert", 'mode must be append, prepend or replace, not "insert"'],
  ["llm", "mode: Append", 'mode must be append, prepend or replace, not "Append"'],
  ["llm", "mode: 007", 'mode must be append, prepend or replace, not "007"'],
  ["llm", "mode: [append]", "mode must be append, prepend or replace, not a list"],
  ["llm", "mode: {a: b}", "mode must be append, prepend or replace, not a mapping"],
  ["llm", 'mode: "a\\nb"', 'mode must be append, prepend or replace, not "a\\nb"'],
  [
    "llm",
    "use-header: # X",
    'use-header is empty: a value that begins with # must be quoted, as in use-header: "# Title"',
  ],
  ["llm", "use-header: Title", 'use-header must be one heading line such as "# Title", or none'],
  ["llm", 'use-header: ""', 'use-header must be one heading line such as "# Title", or none'],
  ["llm", 'use-header: "#tag"', 'use-header must be one heading line such as "# Title", or none'],
  ["llm", 'use-header: "# "', 'use-header must be one heading line such as "# Title", or none'],
  ["llm", 'use-header: "# A\\n# B"', 'use-header must be one heading line such as "# Title", or none'],
  ["llm", "use-header: false", 'use-header must be one heading line such as "# Title", or none'],
  ["llm", "run-once: yes", "run-once must be true or false"],
  ["llm", "run-once: 1", "run-once must be true or false"],
  ["llm", 'run-generated: "true"', "run-generated must be true or false"],
  ["llm", "header-auto-align: on", "header-auto-align must be true or false"],
  ["llm", "on-error: skip", 'on-error must be stop or continue, not "skip"'],
  ["llm", "context: full", 'context must be auto or none, not "full"'],
  ["llm", "media: a.png", "media must be a list of paths"],
  ["llm", "media: [a.png, 5]", "media must be a list of paths"],
  ["llm", "save-to-file: 5", "save-to-file must be text (put it in quotes)"],
  ["llm", "provider: []", "provider must be text"],
  ["llm", "model: 4", "model must be text (put it in quotes)"],
  ["llm", "temperature: 2.1", "temperature must be a number from 0 to 2"],
  ["llm", "temperature: -0.1", "temperature must be a number from 0 to 2"],
  ["llm", "temperature: .nan", "temperature must be a number from 0 to 2"],
  ["llm", 'temperature: "1"', "temperature must be a number from 0 to 2"],
  ["llm", "stop-sequences: 5", "stop-sequences must be text (put it in quotes)"],
  ["llm", "stop-sequences: [a, 5]", "stop-sequences must be text (put it in quotes)"],
  ["llm", 'stop-sequences: [""]', "stop-sequences is empty"],
  ["llm", "stop-sequences: {a: b}", "stop-sequences must be text or a list of texts"],
  ["llm", "tools: true", "tools must be text (put it in quotes)"],
  ["llm", "tools: [[a]]", "tools must be text"],
  ["llm", "tools:", "tools is empty"],
  ["llm", 'tools: ","', "tools is empty"],
  ["llm", "tools: all, look", 'tools: "all" cannot stand beside other names'],
  ["llm", "tools-turns-max: 0", "tools-turns-max must be a whole number from 1"],
  ["llm", "tools-turns-max: 1.5", "tools-turns-max must be a whole number from 1"],
  ["llm", "retries: 11", "retries must be a whole number from 0 to 10"],
  ["llm", "retries: -1", "retries must be a whole number from 0 to 10"],
  ["llm", "schema: [a]", "schema must be a JSON Schema as a mapping, or the path of a .json file"],
  ["llm", "schema: s.yaml", "schema must be a JSON Schema as a mapping, or the path of a .json file"],
  ["llm", "schema: {minimum: .inf}", "schema is not JSON: found the number Infinity at minimum"],
  ["llm", "if: true", "if needs block and exactly one of equals, not-equals, contains, matches, exists"],
  ["llm", "if: []", "if needs block and exactly one of equals, not-equals, contains, matches, exists"],
  [
    "llm",
    "if: {block: a}",
    "if needs block and exactly one of equals, not-equals, contains, matches, exists",
  ],
  [
    "llm",
    "if: {equals: a}",
    "if needs block and exactly one of equals, not-equals, contains, matches, exists",
  ],
  [
    "llm",
    "if: {block: a, equal: a}",
    "if needs block and exactly one of equals, not-equals, contains, matches, exists",
  ],
  [
    "llm",
    "if: {block: a, equals: a, exists: true}",
    "if needs block and exactly one of equals, not-equals, contains, matches, exists",
  ],
  [
    "llm",
    "if: [{block: a, exists: true}, a]",
    "if needs block and exactly one of equals, not-equals, contains, matches, exists",
  ],
  ["llm", "if: {block: 5, exists: true}", "block in if must be a reference or a list of references"],
  ["llm", "if: {block: , exists: true}", "block in if is empty"],
  ["llm", "if: {block: a, exists: yes}", "exists in if must be true or false"],
  ["llm", "if: {block: a, equals: [b]}", "equals in if must be text"],
  [
    "llm",
    'if: {block: a, matches: "(/u: "}',
    "matches in if is not a regular expression: unterminated group",
  ],
  ["llm", 'if: {block: a, matches: "\\\\-"}', "matches in if is not a regular expression: invalid escape"],
  ["shell", "env: A=1", "env must be a mapping of names to values"],
  ["shell", "env: {A: [1]}", '"A" in env must be text, a number, true, false or {block: REFERENCE}'],
  ["shell", "env: {A: {block: }}", 'block of "A" in env is empty'],
  ["shell", "env: {A: {block: 1}}", 'block of "A" in env must be a reference or a list of references'],
  ["shell", "env: {A: {block: a*}}", '* may stand only at the end of a reference, as in "a/*"'],
  ["shell", 'env: {"A=B": 1}', '"A=B" in env cannot be the name of a variable'],
  ["shell", 'env: {A: "\\0"}', '"A" in env holds a NUL character, which no variable can'],
  ["shell", "timeout: 0", "timeout must be a number of seconds above 0"],
  ["shell", "timeout: 5s", "timeout must be a number of seconds above 0"],
  ["shell", "timeout: .inf", "timeout must be a number of seconds above 0"],
  ["run", "inputs: [a]", "inputs must be a mapping of names to values"],
  [
    "run",
    "inputs: {a: {blocks: x}}",
    '"a" in inputs must be text, a number, true, false or {block: REFERENCE}',
  ],
  ["run", "block: 5", "block must be a reference or a list of references"],
  ["run", "block: [a, [b]]", "block must be a reference or a list of references"],
  ["run", "block: {block_uri: a, x: b}", "block must be a reference or a list of references"],
  ["run", "block: []", "block is empty"],
  ["run", 'block: [a, " "]', "block is empty"],
  ["run", "block: a/*b", '* may stand only at the end of a reference, as in "a/*"'],
];

const GOOD: Readonly<Record<OperationName, string>> = {
  import: "file: f.md",
  llm: "block: b",
  shell: "prompt: x",
  run: "file: f.md",
  return: "block: b",
  goto: "block: b",
};

Deno.test("document operation: a bad parameter is told at the line of its key", async () => {
  for (const [name, line, message] of BAD) {
    assert.deepEqual(await problemsOf(name, `${GOOD[name]}\n${line}`), [`12:1: error: ${message}`], line);
  }
  assert.deepEqual(await problemsOf("goto", "block: a/*"), ["11:1: error: @goto takes one block without /*"]);
  assert.deepEqual(await problemsOf("goto", "block: [a, b]"), [
    "11:1: error: @goto takes one block without /*",
  ]);
  assert.deepEqual(await problemsOf("goto", "block:"), ["11:1: error: block is empty"]);
  assert.deepEqual(await problemsOf("shell", 'prompt: "a\\0b"'), [
    "11:1: error: prompt holds a NUL character, which no command can",
  ]);
});

Deno.test("document operation: list items and nested keys are told at the line of the parameter, all at once", async () => {
  assert.deepEqual(
    await problemsOf(
      "llm",
      "media:\n  - a.png\n  - 5\nif:\n  - block: v\n    equals: x\n  - block: v*\n    equals: x\nblock: b*\ntemperature: 3",
    ),
    [
      "11:1: error: media must be a list of paths",
      '14:1: error: * may stand only at the end of a reference, as in "a/*"',
      '19:1: error: * may stand only at the end of a reference, as in "a/*"',
      "20:1: error: temperature must be a number from 0 to 2",
    ],
  );
});

Deno.test("document operation: what is missing is told at the line of the name", async () => {
  const missing: Readonly<Record<OperationName, string>> = {
    import: '@import needs "file"',
    llm: '@llm needs "prompt" or "block"',
    shell: '@shell needs "prompt"',
    run: '@run needs "file"',
    return: '@return needs "prompt" or "block"',
    goto: '@goto needs "block"',
  };
  for (const name of OPERATION_NAMES) {
    for (const body of ["", "\n", "# nothing", "~"]) {
      assert.deepEqual(await problemsOf(name, body), [`10:1: error: ${missing[name]}`]);
    }
    assert.deepEqual(await problemsOf(name, "on-error: no"), [
      `10:1: error: ${missing[name]}`,
      '11:1: error: on-error must be stop or continue, not "no"',
    ]);
  }
});

Deno.test("document operation: a header of @run without a prompt is a warning", async () => {
  const { fields, problems } = await read("run", 'file: s.md\nuse-header: "# U"');
  assert.deepEqual(told(problems), ["12:1: warning: use-header has no effect without prompt"]);
  assert.equal(fields?.name, "run");
  assert.deepEqual((await read("run", 'file: s.md\nprompt: x\nuse-header: "# U"')).problems, []);
});

Deno.test("document operation: repeated keys do not hide the rest", async () => {
  assert.deepEqual(await problemsOf("shell", 'prompt: "echo hi"\nprompt: "x"'), [
    '12:1: error: parameter "prompt" is given twice',
  ]);
  assert.deepEqual(
    await problemsOf(
      "shell",
      "prompt: a\n\"prompt\":\n- b\n- c\nmode: insert\n'prompt': |\n  c\n\n  d\ntimeout: 0",
    ),
    [
      '12:1: error: parameter "prompt" is given twice',
      '15:1: error: mode must be append, prepend or replace, not "insert"',
      '16:1: error: parameter "prompt" is given twice',
      "20:1: error: timeout must be a number of seconds above 0",
    ],
  );
  assert.deepEqual(await problemsOf("shell", "prompt: a\nenv:\n  A: 1\n  A: 2"), [
    '14:3: error: The key "A" is written twice (first on line 13)',
  ]);
  assert.deepEqual(await problemsOf("shell", "  prompt: a\n  prompt: b"), [
    '12:1: error: parameter "prompt" is given twice',
  ]);
});

Deno.test("document operation: YAML errors have their own line and column", async () => {
  assert.deepEqual(await problemsOf("shell", "prompt: a\nto: b: c"), [
    '12:5: error: Found a second ":" on the line, expected one value. Put a value that holds ": " in quotes, or a nested mapping on lines of its own.',
  ]);
  assert.deepEqual(await problemsOf("shell", "prompt: !cmd a\nto: !!str 5\nmode: insert! # !!x"), [
    '11:9: error: Found the YAML tag "!cmd", and tags cannot be used here. A text that begins with "!" needs quotes.',
    '12:5: error: Found the YAML tag "!!str", and tags cannot be used here. A text that begins with "!" needs quotes.',
  ]);
  assert.deepEqual(await problemsOf("shell", "prompt: |\n  !!a\n  b\nto: !!str a"), [
    '14:5: error: Found the YAML tag "!!str", and tags cannot be used here. A text that begins with "!" needs quotes.',
  ]);
  assert.equal((await fieldsOf("shell", "prompt: |\n  !!x !y")).prompt, "!!x !y\n");
  const [unclosed, ...rest] = await problemsOf("shell", 'prompt: "echo\nmode: append');
  assert.match(unclosed ?? "", /^1[12]:\d+: error: /);
  assert.deepEqual(rest, []);
  const notParameters = "Found no parameters under @shell, expected lines such as prompt: VALUE";
  assert.deepEqual(await problemsOf("shell", "- a\n- b"), [`11:1: error: ${notParameters}`]);
  assert.deepEqual(await problemsOf("shell", "\n  just text"), [`12:1: error: ${notParameters}`]);
});

Deno.test("document operation: unknown parameters of an indented body", async () => {
  assert.deepEqual(await problemsOf("llm", "  promt: x\n  zebra: 1"), [
    '11:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
    '12:1: error: @llm has no parameter "zebra"',
  ]);
  assert.deepEqual(await problemsOf("goto", "  block: x\n  prompt: a"), [
    '12:1: error: @goto has no parameter "prompt"',
  ]);
  assert.deepEqual(await read("llm", "block: a\nzebra: 1"), { problems: [] }, "the parser has told of it");
  assert.deepEqual(await read("llm", "promt: a"), { problems: [] }, "it is not missing as well");
  assert.deepEqual(await problemsOf("llm", "zebra: 1"), ['10:1: error: @llm needs "prompt" or "block"']);
});

Deno.test("document operation: hostile YAML ends soon and says why", async () => {
  const deep = await problemsOf("llm", `block: b\nschema: ${"[".repeat(5000)}`);
  assert.ok(deep.length >= 1 && deep.every((text) => /^1\d:\d+: error: /.test(text)), deep[0]);
  const levels = await problemsOf("llm", `block: b\nschema: ${"{a: ".repeat(300)}1${"}".repeat(300)}`);
  assert.match(levels[0] ?? "", /^12:\d+: error: Found more than 200 levels of YAML/);
  const bomb = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 12; i++) bomb.push(`  a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(", ")}]`);
  const aliases = await problemsOf("llm", `block: b\nschema:\n  ${bomb.join("\n")}`);
  assert.match(aliases[0] ?? "", /error: Cannot read the alias/);
  assert.match((await problemsOf("llm", "block: *x"))[0] ?? "", /^11:8: error: Cannot read the alias "\*x"/);
  const { prompt } = await fieldsOf("llm", `prompt: "${"x! ".repeat(350_000)}"`);
  assert.equal(prompt?.length, 1_050_000);
  const { env } = await fieldsOf("shell", "prompt: x\nenv:\n  __proto__: {block: a}\n  toString: b");
  assert.deepEqual(Object.entries(env), [["__proto__", { blocks: ["a"] }], ["toString", "b"]]);
  assert.equal(Reflect.get({}, "blocks"), undefined);
  assert.deepEqual(await problemsOf("llm", "__proto__: {prompt: x}\nconstructor: 1"), [
    '10:1: error: @llm needs "prompt" or "block"',
  ]);
  const many = Array.from({ length: 50_000 }, (_, i) => `  A${i}: ${i}`).join("\n");
  assert.deepEqual(await problemsOf("shell", `prompt: x\nenv:\n${many}`), [
    "12:1: error: env has more than 1000 names",
  ]);
  const wrong = Array.from({ length: 1000 }, (_, i) => `  A${i}: []`).join("\n");
  assert.equal((await problemsOf("shell", `prompt: x\nenv:\n${wrong}`)).length, 100);
});

Deno.test("document operation: every parameter of the table is read by each of its operations", async () => {
  for (const name of OPERATION_NAMES) {
    for (const parameter of Object.keys(PARAMETERS).filter((parameter) => takes(name, parameter))) {
      // Nothing takes a list of a list.
      const problems = await problemsOf(name, `${parameter}: [[]]`);
      assert.ok(
        problems.some((text) => text.startsWith("11:1: error: ")),
        `${name} ${parameter}: ${problems}`,
      );
    }
  }
});

Deno.test("document operation: what was written is what is read", async () => {
  const text = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) =>
    text.trim() !== "" &&
    !/[\p{C}\u2028\u2029]/u.test(text.replaceAll(/[\n\t]/g, ""))
  );
  const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
  const reference = fc.tuple(fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([steps, isDeep]) => [...steps, ...isDeep ? ["*"] : []].join("/"));
  const quoted = (value: string, isSingle: boolean) =>
    isSingle && !/[\n\r\t]/.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(reference, { minLength: 1, maxLength: 4 }),
      fc.array(text, { minLength: 1, maxLength: 4 }),
      fc.dictionary(word, text, { maxKeys: 4 }),
      fc.array(fc.array(fc.stringMatching(/^[a-zA-Z#"':{}!&*|>%@` -]{0,12}$/), { maxLength: 1 }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.boolean(),
      async (prompt, references, stops, env, paragraphs, isSingle) => {
        const list = references.map((item) => `- ${quoted(item, isSingle)}`);
        const llm = await fieldsOf(
          "llm",
          [
            `prompt: ${quoted(prompt, isSingle)}`,
            "block:",
            ...(isSingle ? list : list.map((item) => `  ${item}`)),
            `stop-sequences: [${stops.map((stop) => quoted(stop, isSingle)).join(", ")}]`,
          ].join("\n"),
        );
        assert.equal(llm.prompt, prompt);
        assert.deepEqual(llm.blocks, references);
        assert.deepEqual(llm.stopSequences, stops);
        const lines = ["x", ...paragraphs.map(([line]) => line ?? ""), "y"];
        const shell = await fieldsOf(
          "shell",
          [
            "prompt: |",
            ...lines.map((line) => line === "" ? "" : `  ${line}`),
            ...(Object.keys(env).length === 0 ? [] : ["env:"]),
            ...Object.entries(env).map(([name, value]) =>
              `  ${quoted(name, isSingle)}: ${quoted(value, isSingle)}`
            ),
          ].join("\n"),
        );
        assert.equal(shell.prompt, `${lines.join("\n")}\n`);
        assert.deepEqual({ ...shell.env }, { ...env });
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("document operation: any text gives fields or problems, at lines of the operation", async () => {
  const fragment = fc.oneof(
    fc.constantFrom(...Object.keys(PARAMETERS).map((key) => `${key}: `)),
    fc.constantFrom(
      "\n",
      "\n  ",
      "- ",
      "[",
      "]",
      "{",
      "}",
      '"',
      "'",
      "|",
      ">",
      "&a ",
      "*a",
      "!x ",
      "#",
      ": ",
      "? ",
      "---\n",
    ),
    fc.string({ maxLength: 5 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...OPERATION_NAMES),
      fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join("").replaceAll("\r", "")),
      async (name, body) => {
        const { fields, problems } = await read(name, body);
        assert.ok(fields === undefined || problems.every(({ severity }) => severity === "warning"), body);
        const last = LINE + body.split("\n").length;
        for (const { line, column, message } of problems) {
          assert.ok(
            line >= LINE && line <= last && column >= 1,
            `${line}:${column} of ${JSON.stringify(body)}`,
          );
          assert.ok(!message.includes("\n"), message);
        }
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("document settings: none, and all", async () => {
  const none = { limits: {}, permissions: {}, inputs: [], lines: new Map() };
  assert.deepEqual(said(await readDocumentSettings(undefined)), { settings: none, problems: [] });
  assert.deepEqual((await settingsOf("")).settings, none);
  assert.deepEqual((await settingsOf("# nothing\n")).settings, none);
  const { settings: { lines, ...settings }, problems } = await settingsOf(
    `model: fast
temperature: 0
tools: [look]
mode: prepend
limits: {goto: 2, tool-turns: 1, shell-timeout: 3}
permissions:
  read: [src, docs]
  net: false
  run: true
title: ""
description: A plan
tags: [x]
inputs:
  - name: city
  - name: zip_1
    description: where
    default: 00501
  - {name: mood, default: }
`,
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(settings, {
    model: "fast",
    temperature: 0,
    tools: ["look"],
    mode: "prepend",
    limits: { goto: 2, toolTurns: 1, shellTimeoutS: 3 },
    permissions: { read: ["src", "docs"], net: false, run: true },
    description: "A plan",
    inputs: [
      { name: "city" },
      { name: "zip_1", description: "where", default: "00501" },
      { name: "mood", default: "" },
    ],
  });
  assert.equal(lines.get("model"), 2);
  assert.equal(lines.get("permissions.run"), 7);
  assert.equal(lines.get("inputs.1.default"), 14);
  assert.equal(lines.has("tags"), false);
});

Deno.test("document settings: what is wrong, each at the line of its key", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["modle: big", 'unknown front matter key "modle" (did you mean "model"?)'],
    ["Model: big", 'unknown front matter key "Model" (did you mean "model"?)'],
    ["model: 5", "model must be text (put it in quotes)"],
    ["model:", "model is empty"],
    ["temperature: hot", "temperature must be a number from 0 to 2"],
    ["tools: 5", "tools must be text (put it in quotes)"],
    ["mode: x", 'mode must be append, prepend or replace, not "x"'],
    ["title: 2024", "title must be text (put it in quotes)"],
    ["limits: 5", "limits must be a mapping"],
    ["limits:\n  goto: 0", "limits.goto must be a whole number from 1"],
    ["limits:\n  shell-timeout: 1.5", "limits.shell-timeout must be a whole number from 1"],
    ["limits: {gotoo: 3}", 'unknown limit "gotoo" (did you mean "goto"?)'],
    ["limits: {time: 3}", 'unknown limit "time"'],
    ["permissions: all", "permissions must be a mapping"],
    ["permissions: {run: [ls]}", "permissions.run must be true or false"],
    ["permissions: {read: src}", "permissions.read must be true, false or a list of texts"],
    ["permissions: {net: [5]}", "permissions.net must be true, false or a list of texts"],
    ["permissions: {wriet: true}", 'unknown permission "wriet" (did you mean "write"?)'],
    ["inputs: city", "inputs must be a list of {name, description, default}"],
    ["inputs: [city]", "inputs must be a list of {name, description, default}"],
    ["inputs: [{default: 1}]", 'input 1 needs "name"'],
    ["inputs: [{name: 1a}]", 'input name "1a" must be a letter, then letters, digits, "_" and "-"'],
    ["inputs: [{name: 5}]", 'input name "5" must be a letter, then letters, digits, "_" and "-"'],
    ["inputs: [{name: a, defalt: 1}]", 'input "a" has no "defalt" (did you mean "default"?)'],
    ["inputs: [{name: a, default: [1]}]", 'default of input "a" must be text, a number, true or false'],
    ["inputs: [{name: a, description: 1}]", 'description of input "a" must be text (put it in quotes)'],
    ["inputs:\n  - name: a\n  - name: A", 'input "A" is given twice'],
    ["author: me\nauthor: you", 'front matter key "author" is given twice'],
  ];
  for (const [yaml, message] of cases) {
    const line = message.endsWith('key "author" is given twice') ? 4 : 3;
    assert.deepEqual((await settingsOf(`x: 1\n${yaml}\n`)).problems, [`${line}:1: error: ${message}`], yaml);
  }
  assert.deepEqual((await settingsOf("a: b: c\n")).problems.map((text) => text.slice(0, 12)), [
    "2:4: error: ",
  ]);
  assert.deepEqual((await settingsOf("# x\n- a\n")).problems, [
    "3:1: error: front matter must be a mapping of keys to values",
  ]);
});
