// What a document's text is: its nodes, what of it is raw, and the parameters of its operations.
import { Parser } from "commonmark";
import fc from "fast-check";
import assert from "node:assert/strict";
import { join, relative } from "node:path";
import { parse, stringify } from "yaml";
import { parseResult } from "../../../lib/parse/document/document.ts";
import { DocumentLines, headingLine } from "../../../lib/parse/document/lines.ts";
import { MarkdownBlocks } from "../../../lib/parse/document/markdown_blocks.ts";
import { didYouMean, nearWord } from "../../../lib/parse/document/near.ts";
import { documentNodes } from "../../../lib/parse/document/nodes.ts";
import {
  type DocumentSettings,
  type FieldsOf,
  OPERATION_NAMES,
  type OperationFields,
  PARAMETERS,
  parametersOf,
  takes,
} from "../../../lib/parse/document/operation.ts";
import { readOperation } from "../../../lib/parse/document/read_operation.ts";
import { readDocumentSettings } from "../../../lib/parse/document/settings.ts";
import {
  type DocumentNode,
  type DocumentProblem,
  type OperationName,
  parseDocument,
  printDocument,
} from "../../../mod.ts";
import { PROJECT_ROOT } from "../../_run.ts";

/** What a node is, in a word or two: enough to see how a text was taken apart. */
function told(node: DocumentNode): string {
  switch (node.kind) {
    case "heading":
      return `${"#".repeat(node.level)} ${node.title}`;
    case "operation":
      return `@${node.name} ${JSON.stringify(node.body)}`;
    case "front-matter":
      return `--- ${JSON.stringify(node.yaml)}`;
    case "text":
      return `text ${JSON.stringify(node.source)}`;
  }
}

const split = (text: string): readonly string[] => parseDocument(text).nodes.map(told);

const problems = (text: string): readonly string[] =>
  parseDocument(text).problems.map(({ line, column, severity, message }) =>
    `${line}:${column}: ${severity}: ${message}`
  );

const UNDER = (name: string) =>
  `text directly under @${name}: put an empty line before it, or indent it if it belongs to the value above`;

/** Without keys that have no value: absent and undefined are one thing. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

Deno.test("document: nodes own the empty lines after them, and their lines are those of the file", () => {
  const tree = parseDocument('Intro\n\n\n# A {id=a1}\ntext\n \t\n@llm\nprompt: "x"\n\n\nafter\n\n## B', {
    file: "x.md",
  });
  assert.deepEqual(plain(tree), {
    file: "x.md",
    newline: "\n",
    nodes: [
      { kind: "text", source: "Intro\n\n\n", line: 1 },
      {
        kind: "heading",
        level: 1,
        title: "A {id=a1}",
        explicitId: "a1",
        source: "# A {id=a1}\ntext\n \t\n",
        line: 4,
      },
      { kind: "operation", name: "llm", body: 'prompt: "x"', source: '@llm\nprompt: "x"\n\n\n', line: 7 },
      { kind: "text", source: "after\n\n", line: 11 },
      { kind: "heading", level: 2, title: "B", source: "## B", line: 13 },
    ],
    problems: [],
  });
  assert.deepEqual(plain(parseDocument("")), { newline: "\n", nodes: [], problems: [] });
  assert.deepEqual(split("\n\n# A\n"), ['text "\\n\\n"', "# A"]);
});

Deno.test("document: line ends", () => {
  assert.equal(parseDocument("a\r\nb\n").newline, "\r\n");
  assert.equal(parseDocument("a\nb\r\n").newline, "\n");
  assert.equal(parseDocument("\n").newline, "\n");
  assert.equal(parseDocument("a\rb").newline, "\n");
  assert.deepEqual(split("# A\r\n\r\n@llm\r\nprompt: |\r\n  a\r\n\r\n  b\r\n\r\nend"), [
    "# A",
    '@llm "prompt: |\\n  a\\n\\n  b"',
    'text "end"',
  ]);
  assert.deepEqual(
    split("a\r\r# B\r\r@llm\r"),
    ['text "a\\r\\r# B\\r\\r@llm\\r"'],
    "a lone CR is no line end",
  );
  assert.deepEqual(split("a\n\r\r\n# B"), ['text "a\\n\\r\\r\\n# B"'], "a line with a CR is not empty");
  assert.deepEqual(split("@llm\r"), ['text "@llm\\r"']);
  assert.deepEqual(split("---\r\nmodel: x\r\ntitle: y\r\n---\r\n# A"), ['--- "model: x\\ntitle: y"', "# A"]);
});

Deno.test("document: a byte order mark belongs to the first node and to no line", () => {
  for (
    const [text, expected] of [["# A", "# A"], ["@run\nfile: x", '@run "file: x"'], ["---\n---\n", '--- ""']]
  ) {
    assert.deepEqual(split(`\uFEFF${text}`), [expected]);
    assert.equal(printDocument(parseDocument(`\uFEFF${text}`)), `\uFEFF${text}`);
  }
  assert.deepEqual(problems("\uFEFF@llm x\nprompt: y"), [
    '1:5: error: nothing may follow "@llm" on its line',
  ]);
  assert.deepEqual(split("\uFEFF"), ['text "\uFEFF"']);
});

Deno.test("document: front matter", () => {
  const yes: readonly (readonly [string, readonly string[]])[] = [
    ["---\nmodel: x\n---\n# A", ['--- "model: x"', "# A"]],
    ["--- \t\n\n# c\n... \n@llm", ['--- "\\n# c"', '@llm ""']],
    ["---\n---\n\n\ntext", ['--- ""', 'text "text"']],
    ["---\n \n---", ['--- " "']],
    ["---\nmodel: x\n---\ntext\n# A", ['--- "model: x"', 'text "text\\n# A"']],
    ["---\nprompt: |\n  a\n---\nb\n---\n", ['--- "prompt: |\\n  a"', 'text "b\\n---\\n"']],
  ];
  for (const [text, nodes] of yes) assert.deepEqual(split(text), nodes, text);
  const no = [
    "---\nhello\n---\n",
    "---\nmodel: x\n",
    "\n---\na: b\n---",
    " ---\na: b\n---",
    "---\n  a: b\n---",
    "---",
  ];
  for (const text of no) assert.deepEqual(split(text), [`text ${JSON.stringify(text)}`], text);
  const AS_TEXT = 'where this is text, put two lines of "---" before it';
  const begin = (found: string) =>
    `error: front matter must begin with a line that is "---", the first one of the file, found ${found}; ${AS_TEXT}`;
  const keys = (found: string) =>
    `error: front matter must be keys from its first line on, as in "title: x", found ${found}; ${AS_TEXT}`;
  const notClosed = `error: front matter is not closed with "---"; ${AS_TEXT}`;
  const near: readonly (readonly [text: string, problem: string])[] = [
    ["---\nmodel: x\n", `1:1: ${notClosed}`],
    ["---\n\n  model: x\n\n# A\n", `1:1: ${notClosed}`],
    ["---\nmodel: x\n----\n", `1:1: ${notClosed}`],
    ["\n---\na: b\n---", `2:1: ${begin('"\\n---\\n"')}`],
    [" ---\na: b\n---", `1:2: ${begin('" ---\\n"')}`],
    ["<!-- a\nb -->\n\n---\na: b\n", `4:1: ${begin('"<!-- a\\nb -->\\n\\n---\\n"')}`],
    ["%YAML 1.2\n---\na: b\n---", `2:1: ${begin('"%YAML 1.2\\n---\\n"')}`],
    ["----\na: b\n----", `1:1: ${begin('"----\\n"')}`],
    ["--- # c\na: b\n---", `1:1: ${begin('"--- # c\\n"')}`],
    ["\u200B---\na: b\n---", `1:2: ${begin('"\\u200b---\\n"')}`],
    ["---\ra: b\r---\r", `1:1: ${begin('"---\\r"')}`],
    ["---\n{ a: b }\n---", `2:1: ${keys('"{ a: b }"')}`],
    ["---\n\n  a: b\n---", `3:1: ${keys('"  a: b"')}`],
    ["---\n- a: b\n---", `2:1: ${keys('"- a: b"')}`],
    ['---\n"a": b\n...', `2:1: ${keys(String.raw`"\"a\": b"`)}`],
    ["---\na:{ b: c }\n---", `2:1: ${keys('"a:{ b: c }"')}`],
    ["---\n%YAML 1.2\na: b\n---", `2:1: ${keys('"%YAML 1.2"')}`],
    ["---\n\u200Ba: b\n---", `2:1: ${keys('"\\u200ba: b"')}`],
    ["---\nhello\na: b\n---", `2:1: ${keys('"hello"')}`],
  ];
  for (const [text, problem] of near) {
    assert.deepEqual(problems(text), [problem], text);
    assert.deepEqual(parseDocument(`---\n---\n${text}`).problems, [], "it is text behind front matter");
    assert.deepEqual(parseDocument(text, { operations: false }).problems, []);
  }
  for (
    const text of [
      "---\n\nProse.\nNote: x\n\n@llm\nprompt: y\n",
      "---\nhello\n---\nNote: x\n",
      "text\n---\na: b\n---",
      "-- \na: b\n--",
      "---\nhttps://x.example\n---",
      "<!-- open\n---\na: b",
    ]
  ) assert.deepEqual(problems(text).filter((line) => line.includes("error")), [], text);
  assert.deepEqual(parseDocument("---\na: b\n---\n\n# A\n").nodes.map(({ line }) => line), [1, 5]);
});

Deno.test("document: what a heading is", () => {
  const cases: readonly (readonly [string, ReturnType<typeof headingLine>])[] = [
    ["# A", { level: 1, title: "A" }],
    ["########## Deep ", { level: 10, title: "Deep" }],
    ["#   \tA b\t ", { level: 1, title: "A b" }],
    ["# A {id=b_1-c}", { level: 1, title: "A {id=b_1-c}", explicitId: "b_1-c" }],
    ["# {id=b}", { level: 1, title: "{id=b}", explicitId: "b" }],
    ["# A{id=b}", { level: 1, title: "A{id=b}", explicitId: "b" }],
    ["# A {id=gr\u00f6\u00dfe}", {
      level: 1,
      title: "A {id=gr\u00f6\u00dfe}",
      explicitId: "gr\u00f6\u00dfe",
    }],
    ["# A {id=b} ", { level: 1, title: "A {id=b}" }],
    ["# A {id=1b}", { level: 1, title: "A {id=1b}" }],
    ["# A {ID=b}", { level: 1, title: "A {ID=b}" }],
    ["# A {id=}", { level: 1, title: "A {id=}" }],
    ["# {{id=b}", { level: 1, title: "{{id=b}", explicitId: "b" }],
    ["# A {id=b c}", { level: 1, title: "A {id=b c}" }],
    ["# A\r", { level: 1, title: "A\r" }],
    ["# \u00a0", { level: 1, title: "\u00a0" }],
    ["#A", undefined],
    ["#\tA", undefined],
    ["# ", undefined],
    ["#", undefined],
    [" # A", undefined],
    ["", undefined],
    ["# A\nb", undefined],
    ["none", undefined],
  ];
  for (const [line, heading] of cases) {
    assert.deepEqual(plain(headingLine(line)), plain(heading), JSON.stringify(line));
  }
});

Deno.test("document: where a heading may stand", () => {
  assert.deepEqual(split("# A\n# B"), ["# A"], "below a heading line it is text");
  assert.deepEqual(split("a\n# B\n\n# C"), ['text "a\\n# B\\n\\n"', "# C"]);
  assert.deepEqual(split("a\n\t \n# B"), ['text "a\\n\\t \\n"', "# B"]);
  assert.deepEqual(split("@run\nfile: x\n# B"), ['@run "file: x"', "# B"]);
  assert.deepEqual(split("@run\n# B"), ['@run ""', "# B"]);
  assert.deepEqual(split("# A\nTitle\n=====\n\n#tag\n\n  # in\n\n    # code"), ["# A"]);
});

Deno.test("document: inert regions", () => {
  const inert = [
    "```\n\n# A\n\n@llm\nprompt: x\n```",
    "   ~~~~ `info` ~\n\n# A\n~~~\n\n```\n\n# B\n  ~~~~~ \t",
    "````md\n```\n\n# A\n```\n\n# B\n````",
    "<!-- a\n\n# A\n\n@llm\n--> rest",
    "  <!--\n\n```\n\n# A\n-->",
    "```\n<!--\n```",
    "```\n\n# A\n    ```\n\n# B\n``` x\n\n# C\n```",
  ];
  for (const text of inert) {
    assert.deepEqual(split(`${text}\n\n# Z`), [`text ${JSON.stringify(`${text}\n\n`)}`, "# Z"], text);
    assert.deepEqual(problems(`${text}\n\n# Z`), [], text);
  }
  assert.deepEqual(split("<!-- one line -->\n\n# A"), ['text "<!-- one line -->\\n\\n"', "# A"]);
  assert.deepEqual(split("<!-->\n\n# A").length, 2);
  assert.deepEqual(split("x <!--\n\n# A\n\n-->\n\n# B").length, 2, "a comment may begin within a line");
  assert.deepEqual(split("    ```\n\n# A").length, 2, "indented code is no fence");
  assert.deepEqual(split("``` a`b\n\n# A").length, 2, "a backtick fence has no backtick in its info");
  assert.deepEqual(split("``\n\n# A").length, 2);
  assert.deepEqual(split("```\n```\n# A"), ['text "```\\n```\\n# A"'], "glued to the fence");
  assert.deepEqual(split("@run\n\n```\n\n@llm\n```\n\n# A"), [
    '@run ""',
    'text "```\\n\\n@llm\\n```\\n\\n"',
    "# A",
  ]);
});

Deno.test("document: a region that is never closed goes to the end, with a warning", () => {
  assert.deepEqual(split("# A\n\n ~~~ x\n\n# B\n"), ["# A"]);
  assert.deepEqual(problems("# A\n\n ~~~ x\n\n# B\n"), [
    "3:1: warning: this fence is never closed: everything below it is plain text",
  ]);
  assert.deepEqual(problems("<!--\n\n# B\n"), [
    "1:1: warning: this comment is never closed: everything below it is plain text",
  ]);
  assert.deepEqual(problems("````\n```"), [
    "1:1: warning: this fence is never closed: everything below it is plain text",
  ]);
});

const misplaced = (line: string) =>
  `1:1: warning: "@${
    /@([a-z]+)/i.exec(line)?.[1]
  }" is text here: write "@llm" alone, at the beginning of a line, ` +
  'and its parameters below, as in "prompt: ..."';

Deno.test("document: operation lines", () => {
  for (const name of OPERATION_NAMES) assert.deepEqual(split(`# A\n\n@${name} \t\n`), ["# A", `@${name} ""`]);
  for (
    const line of [
      "@ llm",
      "@llm2",
      "@@llm",
      "\\@llm",
      "    @llm",
      "\t@llm",
      "a\n@llm x",
      "> @llm",
      "@llm, x",
    ]
  ) {
    assert.deepEqual(split(line), [`text ${JSON.stringify(line)}`]);
    assert.deepEqual(problems(line), []);
  }
  for (
    const line of [" @llm", "   @llm\nprompt: x", "@LLM", "@llm:", "@Llm: x", "@llm x", "@llm x\nnote: y"]
  ) {
    assert.deepEqual(split(line), [`text ${JSON.stringify(line)}`]);
    assert.deepEqual(problems(line), [misplaced(line)]);
    assert.deepEqual(problems(`\`\`\`\n${line}\n\n${line}\n\`\`\``), []);
  }
  assert.deepEqual(split("@llm\n\n@llm\n\n@llm"), ['@llm ""', '@llm ""', '@llm ""']);
});

Deno.test("document: what looks like an operation and is none", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["@lllm\nprompt: x", ['1:1: error: unknown operation "@lllm" (did you mean "@llm"?)']],
    ["# A\n\n@imports  \nwhat: x", ['3:1: error: unknown operation "@imports" (did you mean "@import"?)']],
    ["@Llm\nx:", ['1:1: error: unknown operation "@Llm" (did you mean "@llm"?)']],
    ["@SHLEL\nx_1-b : y", ['1:1: error: unknown operation "@SHLEL" (did you mean "@shell"?)']],
    ["@llm:\nprompt: x", ['1:1: error: unknown operation "@llm:" (did you mean "@llm"?)']],
    ["text\n@lllm\nprompt: x", ['2:1: error: unknown operation "@lllm" (did you mean "@llm"?)']],
    ["@lllm\nprompt:x", []],
    ["@lllm\n prompt: x", []],
    ["@lllm\n\nprompt: x", []],
    ["@lllm", []],
    ["@llm  # note\nprompt: x", ['1:5: error: nothing may follow "@llm" on its line']],
    ["@Return\tit\nblock: x", ['1:8: error: nothing may follow "@Return" on its line']],
    ["@llm x\nnote: y", [misplaced("@llm")]],
    ["@ben\nDeadline: x", []],
    ["@mum\nnote: x", []],
    ["@gotto\nblock: x", ['1:1: error: unknown operation "@gotto" (did you mean "@goto"?)']],
    ["@shel\nprompt: x", ['1:1: error: unknown operation "@shel" (did you mean "@shell"?)']],
    ["@llm x\nfile: y", ['1:1: warning: "@llm" is not an operation; the line is text']],
    ["@alice\nprompt: x", ['1:1: warning: "@alice" is not an operation; the line is text']],
    ["a\n@alice: hi there\nto: x", ['2:1: warning: "@alice" is not an operation; the line is text']],
    ["@alice\nnote: x", []],
    ["@\nprompt: x", []],
    ["@ llm\nprompt: x", []],
    ["text\n@shell\nprompt: x", [
      '2:1: warning: "@shell" is text here: an operation needs an empty line above it',
    ]],
    ["text\n@shell\nfile: x", []],
    ["text\n@shell\n", []],
    ["```\n@lllm\nprompt: x\n\n@llm y\nprompt: x\n```", []],
    ["<!--\n@shell\nprompt: x\n-->", []],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(problems(text), expected, JSON.stringify(text));
    assert.ok(parseDocument(text).nodes.every(({ kind }) => kind !== "operation"), text);
  }
});

Deno.test("document: without operations their lines are text, silently", () => {
  const text = "# A\n\n@llm\nprmpt: x\ntext\n\n@lllm\nprompt: x\n\n@alice\nto: x\n\n# B\n";
  const tree = parseDocument(text, { operations: false });
  assert.deepEqual(tree.nodes.map(told), ["# A", "# B"]);
  assert.deepEqual(tree.problems, []);
  assert.equal(printDocument(tree), text);
});

Deno.test("document: lines directly under an operation", () => {
  assert.deepEqual(split("@llm\npromt: x\n  y\nto: z\n"), ['@llm "promt: x\\n  y\\nto: z"']);
  assert.deepEqual(problems("# A\n\n@llm\npromt: x\nblocks: y\nPrompt: z\nsomething: else\n"), [
    '4:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
    '5:1: error: @llm has no parameter "blocks" (did you mean "block"?)',
    '6:1: error: @llm has no parameter "Prompt" (did you mean "prompt"?)',
    '7:1: error: @llm has no parameter "something"',
  ]);
  assert.deepEqual(
    problems("@goto\nprompt: x"),
    ['2:1: error: @goto has no parameter "prompt"'],
  );
  assert.deepEqual(split("@shell\nprompt: a\n@shell\nprompt: b"), [
    '@shell "prompt: a"',
    '@shell "prompt: b"',
  ]);
  assert.deepEqual(problems("@shell\nprompt: a\n@run \nfile: b"), [
    '3:1: error: an empty line is needed before "@run"',
  ]);
  assert.deepEqual(problems("@shell\n@shell"), ['2:1: error: an empty line is needed before "@shell"']);
  for (const line of ["text", "#tag", "---", '"prompt": x', "-x", "]", "# ", "prompt:x", "```"]) {
    assert.equal(problems(`@shell\nprompt: a\n${line}`)[0], `3:1: error: ${UNDER("shell")}`, line);
    assert.deepEqual(split(`@shell\nprompt: a\n${line}\n`), [
      '@shell "prompt: a"',
      `text ${JSON.stringify(`${line}\n`)}`,
    ]);
  }
  assert.deepEqual(problems("@run\nto the hills"), [`2:1: error: ${UNDER("run")}`]);
  assert.deepEqual(problems("@run\nfile: x\n@lllm\nprompt: x"), [
    `3:1: error: ${UNDER("run")}`,
    '3:1: error: unknown operation "@lllm" (did you mean "@llm"?)',
  ]);
});

/** Bodies, each with what comes right behind; `%` is where the body has to end. */
Deno.test("document: what of the lines below an empty one belongs to an operation", () => {
  const bodies = [
    "prompt: x\n\nto: a\n\n\nmode: append\n%",
    "\nprompt: x\n%",
    "%\nnote: y",
    "%\n- item",
    "%\n  code",
    "prompt: x\n%\nnote: y",
    "prompt: x\n%\nPrompt: y",
    "prompt: x\n%\n- item",
    "prompt: x\n  more\n%\n  code",
    "prompt: |\n  a\n\n\n  b\n    c\n \t\n  d\n%\nend",
    "prompt: >-  # folded\n\n  a\n\n  b\n%\n- x",
    "prompt: |\n  a\n\nto: x\n%\n    code",
    "prompt:\n\n  a\n\n  b\n%\nx",
    "prompt: # note\n\n  a\n%\nx",
    "block:\n\n- a\n\n- b\n-\n  c\n\n  d\n%\nx",
    "block: # note\n- a\n\n-\tb\n%\n-x",
    "block: a # note\n%\n- b",
    'prompt: "a\n\n  b"\n%\n  code',
    'prompt: "a \\"\n\n  b" # done\n%\n  code',
    'prompt: "a\\\n\n  b"\n%\n  code',
    "prompt: 'it''s\n\n  b\"'\n%\n  code",
    "prompt: 'a'\n%\n  code",
    "prompt: it's\n%\n  code",
    "media: [a,\n\n  b, it's]\n%\n  code",
    'media: [a, "b]",\n\n  b]\n%\n  code',
    'media: [a"b]\n%\n  code',
    "media: [a, # ]\n\n  b]\n%\n  code",
    "media: [a#]\n%\n  code",
    'schema: {"a":"}",\n\n  \'b\' :"}", c: [{}]}\n%\n  code',
    "schema: {a:'b}\n%\n  code",
    "schema: {a:b'}\n%\n  code",
    "schema: {a: &x \"}\",\n\n  b: !y '}'\n\n }\n%\n  code",
    "schema: {\n\n  a: 1,\n\n  b: {c: 2}\n\n  }\n%\n  code",
    'env:\n  A: "x"\n\n  B: y\n%\nx',
    'to: a\n\n\nprompt: "x\n\n  y"\n%\n\n\n',
  ];
  for (const marked of bodies) {
    const at = marked.indexOf("%");
    const [body, rest] = [marked.slice(0, at), marked.slice(at + 1)];
    const tree = parseDocument(`@${body.startsWith("env:") ? "shell" : "llm"}\n${body}${rest}`);
    assert.deepEqual(tree.problems, [], marked);
    const [operation] = tree.nodes;
    assert.ok(operation?.kind === "operation");
    assert.equal(operation.body, body.replace(/\n$/, ""), JSON.stringify(marked));
    assert.equal(tree.nodes.length, rest.trim() === "" ? 1 : 2, JSON.stringify(marked));
  }
});

Deno.test("document: a value in brackets or quotes belongs to its key to its very end, whatever is in it", () => {
  const value = fc.json({ maxDepth: 3 }).map((text): unknown => JSON.parse(text));
  fc.assert(
    fc.property(value, fc.constantFrom(12, 80), (value, lineWidth) => {
      const flow = stringify([value], { collectionStyle: "flow", lineWidth });
      const json = JSON.stringify([value], null, 1);
      const quoted = stringify(String(flow), { defaultStringType: "QUOTE_SINGLE", lineWidth });
      for (const written of [flow, json, quoted]) {
        // Some of what the library writes in a narrow column it cannot read itself.
        if (/^[|>]/.test(written) || !isYaml(written)) continue;
        const body = `schema: ${written.trim().split(/\n+/).join("\n\n  ")}`;
        const [operation, text] = parseDocument(`@llm\n${body}\n\n  code\n`).nodes;
        assert.ok(operation?.kind === "operation");
        assert.equal(operation.body, body);
        assert.equal(text?.source, "  code\n");
      }
    }),
    { numRuns: 500 },
  );
});

function isYaml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("document: near words", () => {
  const known = parametersOf("llm");
  assert.equal(nearWord("promt", known), "prompt");
  assert.equal(nearWord("PROMPT", known), "prompt");
  assert.equal(nearWord("porpmt", known), "prompt", "two swaps");
  assert.equal(nearWord("prmt", known), "prompt");
  assert.equal(nearWord("pmt", known), undefined);
  assert.equal(nearWord("t", known), "to");
  assert.equal(nearWord("x", known), undefined, "as many edits as the name has letters");
  assert.equal(nearWord("ti", known), "to", "the nearest, then the first of the table");
  assert.equal(nearWord("on-eror", known), "on-error");
  assert.equal(nearWord("a".repeat(1_000_000), known), undefined);
  assert.equal(didYouMean("blok", known), ' (did you mean "block"?)');
  assert.equal(didYouMean("other", known), "");
});

Deno.test("result: is trimmed and read on its own", () => {
  const options = { newline: "\n", operations: false } as const;
  const nodes = (text: string) => parseResult(text, options).nodes.map(told);
  assert.deepEqual(parseResult("", options), { nodes: [], problems: [] });
  assert.deepEqual(parseResult(" \n\t\r\n\uFEFF\u00a0\n", options), { nodes: [], problems: [] });
  assert.deepEqual(nodes("\n \n  a\n\n# B\nb \n\n"), ['text "  a\\n\\n"', "# B"]);
  assert.deepEqual(parseResult("\n\n# A\n\n# B\n", options).nodes.map(({ line }) => line), [1, 3]);
  assert.deepEqual(nodes("---\nmodel: x\n---\n\n# A"), ['text "---\\nmodel: x\\n---\\n\\n"', "# A"]);
  assert.deepEqual(nodes("\uFEFF# A"), ["# A"]);
  assert.equal(parseResult("\uFEFF# A", options).nodes[0]?.source, "# A");
  assert.deepEqual(parseResult("a\n\n@shell\nprmpt: x\n\n@lllm\nprompt: x", options), {
    nodes: [{ kind: "text", source: "a\n\n@shell\nprmpt: x\n\n@lllm\nprompt: x", line: 1 }],
    problems: [],
  });
});

Deno.test("result: takes the line end of its document", () => {
  const source = (text: string, newline: "\n" | "\r\n") =>
    printDocument(parseResult(text, { newline, operations: false }));
  assert.equal(source("a\r\nb\nc", "\n"), "a\nb\nc");
  assert.equal(source("a\r\nb\nc", "\r\n"), "a\r\nb\r\nc");
  assert.equal(source("10%\r20%\r\r\nb\r\n", "\n"), "10%\r20%\nb");
  assert.equal(source("```\na", "\r\n"), "```\r\na\r\n```");
});

Deno.test("result: a fence that is left open is closed", () => {
  const source = (text: string, operations = false) => {
    const result = parseResult(text, { newline: "\n", operations });
    assert.deepEqual(result.problems, []);
    return result.nodes.at(-1)?.source;
  };
  assert.equal(source("# A\n\n```json\n{}\n"), "# A\n\n```json\n{}\n```");
  assert.equal(source("  ~~~~~ x\na\n~~~", true), "  ~~~~~ x\na\n~~~\n  ~~~~~");
  assert.equal(source("```"), "```\n```");
  assert.equal(source("```\na\n```"), "```\na\n```");
  assert.equal(source("<!-- a"), "<!-- a\n-->");
  assert.equal(source("# A <!-- a\n\n# B"), "# A <!-- a\n\n# B\n-->");
  assert.equal(source("<pre>\n\n# B"), "<pre>\n\n# B\n</pre>");
  assert.equal(source("1. ```sh\n   make\n   ```\n\n# Next\n\nTest it."), "# Next\n\nTest it.");
  assert.equal(source("1. ```sh\n   make"), "1. ```sh\n   make\n   ```");
});

Deno.test("result: with operations it has its problems, by its own lines", () => {
  const result = parseResult("\n@shell\nprmpt: echo ran\n", { newline: "\n", operations: true });
  assert.deepEqual(result.nodes.map(told), ['@shell "prmpt: echo ran"']);
  assert.deepEqual(result.problems, [{
    severity: "error",
    line: 2,
    column: 1,
    message: '@shell has no parameter "prmpt" (did you mean "prompt"?)',
  }]);
});

/** Pieces that mean something to the reader, and what may stand between them. */
const PIECES = [
  ..."#-`~@:|>\"'[]{}, \t\\",
  ...["\n", "\r\n", "\n\n", "\r", "\uFEFF", "\n \n", "\n\n\n"],
  ...["# A", "## B {id=b}", "#tag", "@llm\n", "@shell", "@lllm", "@llm x", "@alice", "@Run\n"],
  ...[
    "prompt: x\n",
    "prompt: |\n",
    'prompt: "a\n',
    "block:\n",
    "note: y\n",
    "media: [a,\n",
    "  in\n",
    "- item\n",
  ],
  ...["---\n", "...\n", "```", "~~~~\n", "<!--", "-->", "text", "\u00e4\u0301", "\u{1F600}", "\ud800"],
];
const trickyText = fc.array(fc.constantFrom(...PIECES), { maxLength: 60, size: "max" }).map((pieces) =>
  pieces.join("")
);
const kinds = fc.record({ operations: fc.boolean() });

Deno.test("document: any text is printed as it was, with the lines of the nodes right", () => {
  fc.assert(
    fc.property(trickyText, kinds, (text, options) => {
      const tree = parseDocument(text, options);
      assert.equal(printDocument(tree), text);
      let at = 0;
      for (const { source, line } of tree.nodes) {
        assert.notEqual(source, "");
        assert.equal(line, text.slice(0, at).split("\n").length);
        assert.ok(at === 0 || text[at - 1] === "\n", "a node begins at the beginning of a line");
        at += source.length;
      }
      const lineCount = text.split("\n").length;
      let before = 1;
      for (const { line, column } of tree.problems) {
        assert.ok(line >= before && line <= lineCount && column >= 1);
        before = line;
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("document: headings are what the regular expression of a page would find outside of regions", () => {
  fc.assert(
    fc.property(trickyText, (text) => {
      for (const node of parseDocument(text, { operations: false }).nodes) {
        const [first = ""] = node.source.replace(/^\uFEFF/, "").split(/\r?\n/);
        assert.equal(node.kind === "heading", node.kind !== "front-matter" && /^#+ [ \t]*[^ \t]/.test(first));
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("document: what is appended below a heading changes nothing above", () => {
  fc.assert(
    fc.property(trickyText, trickyText, (text, more) => {
      const above = parseDocument(`${text}\n\n# End\n\n`);
      // A region, front matter (also one whose first line has more than its dashes) or operation that is still open may take the appended text in.
      fc.pre(
        above.nodes.at(-1)?.source === "# End\n\n" && !/^.*---/.test(text) && !text.startsWith("\uFEFF"),
      );
      const both = parseDocument(`${text}\n\n# End\n\n${more.replace(/^\uFEFF+/, "")}`);
      const count = above.nodes.length - 1;
      assert.deepEqual(both.nodes.slice(0, count), above.nodes.slice(0, count));
      assert.deepEqual(both.problems.slice(0, above.problems.length), above.problems);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("document: a closed region in the middle never has a node in it", () => {
  fc.assert(
    fc.property(
      trickyText,
      fc.constantFrom(["```\n", "```"], ["~~~~~ x\n", "~~~~~"], ["<!--\n", "-->"]),
      (inner, [open, close]) => {
        fc.pre(!/`{3}|~{5}|-->/.test(inner));
        const tree = parseDocument(`# A\n\n${open}${inner}\n${close}\n\n# B\n`);
        assert.deepEqual(tree.nodes.map(told), ["# A", "# B"]);
        assert.deepEqual(tree.problems, []);
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("document: printed and read again it is the same; a result reads the same when it is inserted", () => {
  fc.assert(
    fc.property(trickyText, fc.constantFrom("\n" as const, "\r\n" as const), (text, newline) => {
      const { nodes, problems } = parseResult(text, { newline, operations: false });
      assert.deepEqual(problems, []);
      const printed = printDocument({ nodes });
      assert.deepEqual(parseResult(printed, { newline, operations: false }).nodes, nodes);
      assert.equal(printed, printed.trimEnd());
      assert.ok(!(newline === "\n" ? /\r\n/ : /(?<!\r)\n/).test(printed));
      // Whatever it left open is closed.
      assert.equal(
        parseDocument(`x\n\n${printed}\n\n# End`, { operations: false }).nodes.at(-1)?.kind,
        "heading",
      );
    }),
    { numRuns: 2000 },
  );
});

Deno.test("document: every Markdown file of the project is printed as it is", async () => {
  let count = 0;
  for (const top of ["README.md", "lib", "examples", "tests"]) {
    for await (const path of markdownBelow(join(PROJECT_ROOT, top))) {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await Deno.readFile(path));
      for (const operations of [true, false]) {
        const tree = parseDocument(text, { operations });
        assert.ok(printDocument(tree) === text, relative(PROJECT_ROOT, path));
      }
      count++;
    }
  }
  assert.ok(count > 150, `${count} files`);
});

async function* markdownBelow(path: string): AsyncGenerator<string> {
  if (path.endsWith(".md")) yield path;
  if (!(await Deno.stat(path)).isDirectory) return;
  for await (const { name } of Deno.readDir(path)) yield* markdownBelow(join(path, name));
}

const HEADINGS = (count: number) => "## Heading\n\nSome text below it.\n\n".repeat(count);

Deno.test("document: 20,000 headings are parsed in 250 ms", () => {
  const text = HEADINGS(20_000);
  const start = performance.now();
  assert.equal(parseDocument(text).nodes.length, 20_000);
  const taken = performance.now() - start;
  assert.ok(taken < 250, `${taken.toFixed()} ms`);
});

/** Texts of about the given number of units that would cost a careless reader its square. */
const HARD: Readonly<Record<string, (size: number) => string>> = {
  headings: (size) => HEADINGS(size / 35),
  "mention lines": (size) => "@x\n".repeat(size / 3),
  "near misses": (size) => "@lllm\nnote: x\n".repeat(size / 14),
  "operations after one another": (size) => "@llm\nprompt: x\n\n".repeat(size / 16),
  "glued operations": (size) => "@llm\n".repeat(size / 5),
  "unknown parameters": (size) => `@llm\n${"promt: x\n".repeat(size / 9)}`,
  "one line of brackets": (size) => "(".repeat(size),
  "brackets in a body": (size) => `@llm\nschema: ${"[".repeat(size)}`,
  "quotes in a body": (size) => `@llm\nprompt: ${"'".repeat(size)}`,
  "backticks in one line": (size) => "`".repeat(size),
  "backticks and blanks": (size) => "``` ".repeat(size / 4),
  "backtick lines": (size) => "```\n".repeat(size / 4),
  "fences that do not close": (size) => `\`\`\`\`\n${"```\n".repeat(size / 4)}`,
  "fences with backticks": (size) => "``` `\n".repeat(size / 6),
  "items in items": (size) => `${"- ".repeat(size / 4)}a\n${"\n".repeat(size / 2)}`,
  "items in a quote": (size) => `>${"- ".repeat(size / 8)}a\n${">\n".repeat(size / 4)}`,
  "lines of items in items": (size) =>
    `${"- ".repeat(100)}a\n${`${" ".repeat(200)}b\n\n`.repeat(size / 200)}`,
  "deep items": (size) => `${"- ".repeat(size / 8)}a\n${`${" ".repeat(size / 4)}b\n`.repeat(3)}`,
  "quotes in quotes": (size) => `${">".repeat(size / 2)}\n`.repeat(2),
  "breaks that are none": (size) => `${"* ".repeat(size / 2)}a`,
  "tags that are none": (size) =>
    `${`<a ${"b ".repeat(20)}\n`.repeat(size / 80)}<a${" b=c".repeat(size / 4)}`,
  "blanks in a tag": (size) => `<a${" ".repeat(size)}b`,
  "tabs": (size) => "\t".repeat(size),
  "raw HTML": (size) => "<pre>\n\n</pre>\n".repeat(size / 14),
  "comments within lines": (size) => "a <!-- b --> `<!--` ".repeat(size / 20),
  "ticks before a comment": (size) =>
    `${Array.from({ length: Math.sqrt(size) }, (_, at) => "`".repeat(at)).join(" ")}<!--`,
  "comments": (size) => "<!--\n".repeat(size / 5),
  "comments in one line": (size) => "<!-- -->\n".repeat(size / 9),
  "lone CRs": (size) => "\r".repeat(size),
  "lone CRs and headings": (size) => "# A\r\r".repeat(size / 5),
  "hashes": (size) => "#".repeat(size),
  "blanks behind a hash": (size) => `# ${" ".repeat(size)}`,
  "braces in a heading": (size) => `# ${"{id=".repeat(size / 4)}}`,
  "empty lines": (size) => "\n".repeat(size),
  "empty lines in a body": (size) => `@llm\nprompt: |\n${"\n\n  a\n".repeat(size / 6)}`,
  "empty lines below operations": (size) => `@llm\n${"\n".repeat(size)}x`,
  "items": (size) => `@llm\nblock:\n${"- ".repeat(size / 4)}\n${"- a\n\n".repeat(size / 10)}`,
  "open front matter": (size) => `---\n${"a: b\n".repeat(size / 5)}`,
  "one long key": (size) => `@llm\n${"a".repeat(size)}: x\n${" ".repeat(size)}`,
  "one long mention": (size) => `@${"a".repeat(size / 2)} ${" ".repeat(size / 2)}\nprompt: x`,
};

Deno.test("document: hard texts take time in proportion to their length", async (t) => {
  for (const [name, make] of Object.entries(HARD)) {
    await t.step(name, () => {
      const texts = [make(20_000), make(20_000 * FACTOR)] as const;
      for (const text of texts) assert.equal(printDocument(parseDocument(text)), text);
      assertLinear(texts, (text) => parseDocument(text));
      assertLinear(texts, (text) => parseResult(text, { newline: "\n", operations: true }));
    });
  }
});

Deno.test("document: from 1,000 to 100,000 headings the time for each stays the same", () => {
  assertLinear([HEADINGS(6_250), HEADINGS(100_000)], (text) => parseDocument(text));
  assertLinear([HEADINGS(1_000), HEADINGS(16_000)], (text) => parseDocument(text));
});

const FACTOR = 16;

/**
 * The second text is 16 times as long as the first, which is read 16 times: a square would take 16 times as long. All that is
 * read is kept, so that both leave the same to the garbage collector. A machine that is busy is asked again.
 */
function assertLinear([small, large]: readonly [string, string], work: (text: string) => unknown): void {
  const seen: string[] = [];
  while (seen.length < 5) {
    const many = timeOf(() => Array.from({ length: FACTOR }, () => work(small)));
    const one = timeOf(() => work(large));
    if (one < Math.max(many, 2) * 4) return;
    seen.push(`${one.toFixed(2)} ms at once, ${many.toFixed(2)} ms in parts`);
  }
  assert.fail(seen.join("; "));
}

/** In ms. */
function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

// What of a text is raw, line by line, as the reference parser of CommonMark has it.

/** What is asked of a node of the reference parser, which says nothing of its types. */
interface MarkdownNode {
  readonly type: string;
  readonly sourcepos: readonly [readonly [number, number], readonly [number, number]];
  readonly parent: MarkdownNode | null;
  readonly _isFenced: boolean;
}

interface Marks {
  /** A sign for each line: `#` for one of a fence or of raw HTML. */
  readonly raw: string;
  /** The lines of the headings that a document can have: with `#` and a title, at the left edge, below an empty line. From 1. */
  readonly headings: readonly number[];
}

function theirMarks(text: string): Marks {
  const lines = text.split("\n");
  const raw = lines.map(() => ".");
  const headings: number[] = [];
  const walker = new Parser().parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const node: MarkdownNode = step.node;
    if (!step.entering || !["heading", "html_block", "code_block"].includes(node.type)) continue;
    const [[first, column], [last]] = node.sourcepos;
    if (node.type === "heading") {
      const isOurs = column === 1 && node.parent?.type === "document" &&
        /^#+ [ \t]*[^ \t]/.test(lines[first - 1] ?? "") &&
        (first === 1 || /^[ \t]*$/.test(lines[first - 2] ?? ""));
      if (isOurs) headings.push(first);
    } else if (node.type === "html_block" || node._isFenced) raw.fill("#", first - 1, last);
  }
  return { raw: raw.join(""), headings };
}

function ourMarks(text: string): Marks {
  const lines = new DocumentLines(text);
  const blocks = new MarkdownBlocks(lines);
  const raw = text.split("\n").map((_, at) => at < lines.count && blocks.read(at) ? "#" : ".");
  const { nodes } = documentNodes(lines, { frontMatter: false, operations: false });
  return {
    raw: raw.join(""),
    headings: nodes.flatMap(({ kind, line }) => kind === "heading" ? [line] : []),
  };
}

function assertAlike(text: string): void {
  assert.deepEqual(ourMarks(text), theirMarks(text), JSON.stringify(text));
}

/** By the number of the example in the specification of CommonMark (0.31.2) that it is like. */
const EXAMPLES: Readonly<Record<string, string>> = JSON.parse(
  Deno.readTextFileSync(join(PROJECT_ROOT, "tests/spec/markdown/blocks.json")),
);

Deno.test("markdown: fences, raw HTML and headings are where the reference parser has them", async (t) => {
  assert.equal(Object.keys(EXAMPLES).length, 83);
  for (const [number, text] of Object.entries(EXAMPLES)) {
    await t.step(number, () => {
      for (const before of ["", "text\n", "- item\n\n", "> quote\n"]) {
        for (const behind of ["", "\n", "\n\n# Next\n", "\n\n> x\n\n# Next"]) {
          assertAlike(before + text + behind);
        }
      }
      const lines = text.split("\n");
      for (const mark of ["- ", "12. ", "> ", "> - ", "- > ", "-\t"]) {
        const inside = mark.replaceAll(/[^>\t]/g, " ");
        const nested = lines.map((line, at) => (at === 0 ? mark : inside) + line).join("\n");
        assertAlike(`${nested}\n\n# Next\n`);
        assertAlike(`${mark}${text}\n\n# Next\n`);
      }
    });
  }
});

const MARKS = [
  ...[
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "10. ",
    "-",
    "1.",
    "> ",
    ">",
  ],
  ...[
    "```",
    "````",
    "~~~",
    "```sh",
    "``",
    "# A",
    "## B",
    "#",
    "\n# C\n",
    "\n\n# D\n\n",
    "---",
    "- - -",
    "===",
    "text",
    "a b",
    "\\",
  ],
  ...[
    "<pre>",
    "</pre>",
    "<script>",
    "</style>",
    "<div>",
    "</p>",
    "<a>",
    "<b c='d'>",
    "</b>",
    "<?",
    "?>",
    "<!X",
    ">",
    "<![CDATA[",
    "]]>",
  ],
];

Deno.test("markdown: 1,000 random texts of lists, quotes, fences, HTML and headings are read alike", () => {
  const texts = (pieces: readonly string[]) =>
    fc.array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 40, size: "max" }).map((all) =>
      all.join("")
    );
  fc.assert(fc.property(texts(MARKS), assertAlike), { numRuns: 1000 });
  // A comment that begins within a line is read otherwise, so that here each begins a block, and `<!X` ends in no line with one.
  const withComments = [
    ...MARKS.filter((piece) => piece !== "<!X"),
    "\n\n<!--",
    "\n\n- <!-- a",
    "\n\n> <!--",
    "-->",
  ];
  fc.assert(fc.property(texts(withComments), assertAlike), { numRuns: 1000 });
});

const marked = (text: string): string => ourMarks(text).raw;

Deno.test("markdown: on purpose otherwise: a comment that begins within a line hides all up to its end", () => {
  const cases: readonly (readonly [text: string, raw: string])[] = [
    ["Not now: <!-- off\n\n# A\n\n-->\n\n# B", ".####.."],
    ["# A <!-- off\n\n> # B\n```\n-->\n```", ".#####"],
    ["- item <!-- off\n\n# A\n--> text <!-- and\n# B\n-->", ".#####"],
    ["<div> <!-- off\n\n# A\n\n-->\n# B", "#####."],
    ["<!-- a --> <!-- b\n\n# A\n-->", "####"],
    ["a <!-- b --> c <!--> d <!---> e\n\n# A", "..."],
    ["Write `<!--` or ``a ` <!-- b`` or \\<!-- first.\n\n# A", "..."],
    ["One ` tick, <!-- off\n\n# A\n-->", ".###"],
    ["In `C:\\` <!-- off\n\n# A\n-->", ".###"],
    ["    <!-- code\n\n# A", "..."],
    ["```\n<!-- code\n```\n# A", "###."],
    ["text <!-- never closed\n\n# A", ".##"],
  ];
  for (const [text, raw] of cases) assert.equal(marked(text), raw, text);
});

Deno.test("markdown: on purpose otherwise: headings of any level end a paragraph, link definitions are one", () => {
  assert.equal(marked("text\n####### A\n<a>"), "..#");
  assert.equal(theirMarks("text\n####### A\n<a>").raw, "...");
  assert.equal(marked("[a]: /b\n===\n<a>"), "..#");
  assert.equal(theirMarks("[a]: /b\n===\n<a>").raw, "...");
});

Deno.test("markdown: what a text leaves open, and the line that closes it", () => {
  const cases: readonly (readonly [text: string, kind: string | undefined, closing?: string])[] = [
    ["1. ```sh\n   make", "fence", "   ```"],
    ["> - ~~~~\n>   make", "fence", ">   ~~~~"],
    ["- a\n\n   ```\n  make", "fence", "   ```"],
    ["a <!-- b", "comment", "-->"],
    ["- <!-- b", "comment", "  -->"],
    ["<PRE>\n\na", "<PRE>", "</PRE>"],
    ["> <?php\n> a", "<?", "> ?>"],
    ["<![CDATA[", "<![CDATA[", "]]>"],
    ["<!DOCTYPE", "<!D", ">"],
    ["- ```\n  a\n\ntext", undefined],
    ["<div>\na", undefined],
    ["```\na\n```", undefined],
  ];
  for (const [text, kind, closing] of cases) {
    const lines = new DocumentLines(text);
    const blocks = new MarkdownBlocks(lines);
    for (let line = 0; line < lines.count; line++) blocks.read(line);
    assert.equal(blocks.open?.kind, kind, text);
    assert.equal(blocks.open?.closing, closing, text);
    if (closing !== undefined) assert.equal(marked(`${text}\n${closing}\n\n# A`).at(-1), ".", text);
  }
});

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

function toldOf(problems: readonly DocumentProblem[]): readonly string[] {
  return problems.map(({ line, column, severity, message }) => `${line}:${column}: ${severity}: ${message}`);
}

async function problemsOf(name: OperationName, body: string): Promise<readonly string[]> {
  const { fields, problems } = await read(name, body);
  assert.equal(fields, undefined, body);
  return toldOf(problems);
}

async function settingsOf(
  yaml: string,
): Promise<{ settings: DocumentSettings; problems: readonly string[] }> {
  const source = `---\n${yaml}---\n`;
  const { settings, problems } = await readDocumentSettings({ kind: "front-matter", yaml, source, line: 1 });
  return { settings: said(settings), problems: toldOf(problems) };
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

/** What is toldOf of `block: b` (or what the operation needs) and one bad parameter in the second line. */
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
  ["llm", "mode: Append", 'mode must be append, prepend or replace, not "Append" (did you mean "append"?)'],
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

Deno.test("document operation: a bad parameter is toldOf at the line of its key", async () => {
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

Deno.test("document operation: list items and nested keys are toldOf at the line of the parameter, all at once", async () => {
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

Deno.test("document operation: what is missing is toldOf at the line of the name", async () => {
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
  assert.deepEqual(toldOf(problems), ["12:1: warning: use-header has no effect without prompt"]);
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
  assert.deepEqual(await read("llm", "block: a\nzebra: 1"), { problems: [] }, "the parser has toldOf of it");
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
  assert.equal(lines.get("permissions"), 7);
  assert.equal(lines.get("inputs"), 14);
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
