import fc from "fast-check";
import assert from "node:assert/strict";
import { join, relative } from "node:path";
import { parse, stringify } from "yaml";
import { type DocumentNode, parseDocument, printDocument } from "../../../mod.ts";
import { parseResult } from "../../../lib/parse/document/document.ts";
import { didYouMean, nearWord } from "../../../lib/parse/document/near.ts";
import { headingLine } from "../../../lib/parse/document/lines.ts";
import { OPERATION_NAMES, parametersOf } from "../../../lib/parse/document/operation.ts";
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
      // A region, front matter or operation that is still open may take the appended text in.
      fc.pre(
        above.nodes.at(-1)?.source === "# End\n\n" && !text.startsWith("---") && !text.startsWith("\uFEFF"),
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
