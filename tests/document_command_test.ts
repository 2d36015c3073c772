// What can be seen of a document without running it: `graph`, `show document` and `list documents`.
import assert from "node:assert/strict";
import { testProject } from "./_project.ts";
import { orrery } from "./_run.ts";

const PLAN = `---
title: A plan
description: Refines a draft.
model: fast
inputs:
  - {name: topic, description: what it is about}
  - {name: depth, default: "3"}
permissions: {run: true, write: [out]}
---

# Intro {id=start}

## Draft "one"

@llm
prompt: |
  Refine it.
  Twice.
block: [start, start/draft-one]
to: draft-one
mode: replace
tools: ReadFile
save-to-file: out/a.md

@shell
prompt: ls | wc

@run
file: parts/child.md
block: start/*
inputs:
  n: {block: later}

@goto
block: draft-one
if: {block: draft-one, contains: again}

@return
block: draft-one
`;

const FILES = {
  "orrery.yaml": "models: { default: script/echo }\n",
  "plan.md": PLAN,
  "parts/child.md": "---\ntitle: A child\n---\n\n@import\nfile: a.md\n\n@run\nfile: gone.md\n",
  "parts/a.md": "# A\n\n@return\nblock: a\n",
  "README.md": "# Not a document\n",
  "broken.md": "# A\n\n@return\nblock: nope\n\n@llm\nprmpt: x\n",
};

Deno.test("graph of a document: operations in order, blocks, files with those that they use, jumps", async () => {
  await using project = await testProject(FILES);
  const [mermaid, text, svg] = await Promise.all([
    project.run(["graph", "plan.md", "--format", "mermaid"]),
    project.run(["graph", "plan.md"]),
    project.run(["graph", "plan.md", "--format", "svg", "-o", "plan.svg"]),
  ]);
  assert.deepEqual([mermaid.code, mermaid.stderr], [0, ""]);
  assert.equal(
    mermaid.stdout,
    `flowchart TD
  n0["#64;llm<br/>line 15"]
  n1["#64;shell<br/>line 25"]
  n2["#64;run<br/>line 28"]
  n3["#64;goto<br/>line 34"]
  n4["#64;return<br/>line 38"]
  n5(["start<br/>#35; Intro #123;id#61;start#125;"])
  n6(["draft-one<br/>#35;#35; Draft #34;one#34;"])
  n7(["later<br/>made by the run"])
  n8[["parts#47;child.md<br/>A child"]]
  n9[["parts#47;a.md<br/>1 operation"]]
  n10[["? parts#47;gone.md<br/>not there"]]
  n5 -->|block| n0
  n6 -->|block| n0
  n0 -->|replace| n6
  n0 -->|then| n1
  n1 -->|then| n2
  n5 -->|section| n2
  n7 -->|block| n2
  n2 -->|then| n3
  n3 -.->|jumps to| n6
  n6 -.->|on from there| n0
  n6 -->|block| n3
  n3 -->|then| n4
  n6 -->|block| n4
  n2 -->|runs| n8
  n8 -->|imports| n9
  n8 -->|runs| n10
  classDef bad stroke:#c00,color:#c00
  class n10 bad
`,
  );
  assert.deepEqual([text.code, text.stderr], [0, ""]);
  assert.equal(
    text.stdout,
    `plan.md
├─ 15  @llm     reads start, start/draft-one; inserts into draft-one (replace)
├─ 25  @shell   runs "ls | wc"
├─ 28  @run     runs parts/child.md; reads start/*, later
│  └─ runs parts/child.md (A child)
│     ├─ imports parts/a.md (1 operation)
│     └─ runs ? parts/gone.md (not there)
├─ 34  @goto    jumps to draft-one; if draft-one
└─ 38  @return  returns draft-one
`,
  );
  assert.deepEqual([svg.code, svg.stdout, svg.stderr], [0, "", ""]);
  assert.match(await project.read("plan.svg"), /^<svg/);
});

Deno.test("graph of a document: what is wrong is in the picture and on stderr; large ones say what to take instead", async () => {
  const large = Array.from({ length: 200 }, (_, i) => `# B${i}\n\n@shell\nprompt: echo ${i}\n`).join("\n");
  await using project = await testProject({ ...FILES, "large.md": large, "plain.md": "# Text\n" });
  const [broken, list, svg, plain, result, other] = await Promise.all([
    project.run(["graph", "broken.md", "--format", "mermaid"]),
    project.run(["graph", "large.md"]),
    project.run(["graph", "large.md", "--format", "svg"]),
    project.run(["graph", "plain.md"]),
    project.run(["graph", "plan.ctx"]),
    project.run(["graph", "gone.md"]),
  ]);
  assert.match(broken.stdout, /n1\["\u2717 #64;llm<br\/>line 6"\]/);
  assert.deepEqual([broken.code, broken.stderr], [
    0,
    'broken.md:7:1: error: @llm has no parameter "prmpt" (did you mean "prompt"?)\n',
  ]);
  assert.equal(list.stdout.trimEnd().split("\n").length, 201);
  assert.deepEqual([svg.code, svg.stdout, svg.stderr.split("\n")[0]], [
    2,
    "",
    "error: Cannot draw 200 operations, blocks and files as SVG, at most 150: take --format mermaid or --format text",
  ]);
  assert.deepEqual([plain.code, plain.stdout, plain.stderr], [
    0,
    "",
    "notice: there is nothing to draw: plain.md has no operation\n",
  ]);
  assert.deepEqual([result.code, result.stderr], [
    2,
    'error: "plan.ctx" is the result of a document: name the document itself, plan.md\nTry: orrery graph --help\n',
  ]);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /^error: .*"gone\.md".*\n$/);
});

Deno.test("show document: what it takes, needs and uses, its operations and the ids of its blocks", async () => {
  await using project = await testProject(FILES);
  const [page, json, none, broken] = await Promise.all([
    project.run(["show", "document", "plan.md"]),
    project.run(["show", "document", "plan.md", "--json"]),
    project.run(["show", "document"]),
    project.run(["show", "document", "broken.md"]),
  ]);
  assert.deepEqual([page.code, page.stderr], [0, ""]);
  assert.equal(
    page.stdout,
    `A plan  (plan.md)

Refines a draft.

Inputs:
  topic  has to be given  what it is about
  depth  default "3"

Needs: --allow-write=out/a.md (line 15), --allow-run (line 25)
Permissions of its front matter: write out; run yes
Models: fast (line 15)
Tools: ReadFile (line 15)
Runs: parts/child.md (line 28)

Operations:
  15  @llm     prompt: "Refine it.\\nTwice.", block: start, start/draft-one, to: "draft-one", mode: "replace", tools: "ReadFile", save-to-file: "out/a.md"
  25  @shell   prompt: "ls | wc"
  28  @run     file: "parts/child.md", block: "start/*", inputs: {"n":{"block":"later"}}
  34  @goto    block: "draft-one", if: {"block":"draft-one","contains":"again"}
  38  @return  block: "draft-one"

Blocks:
  start        # Intro {id=start}  line 11
    draft-one  ## Draft "one"      line 13
`,
  );
  const { operations, ...rest } = JSON.parse(json.stdout);
  assert.deepEqual(rest, {
    file: "plan.md",
    title: "A plan",
    description: "Refines a draft.",
    inputs: [
      { name: "topic", description: "what it is about", default: null },
      { name: "depth", description: null, default: "3" },
    ],
    needs: [{ flag: "--allow-write=out/a.md", lines: [15] }, { flag: "--allow-run", lines: [25] }],
    permissions: { write: ["out"], run: true },
    defaults: { model: "fast" },
    limits: { goto: 30, "tool-turns": 8, "shell-timeout": 120 },
    models: [{ model: "fast", lines: [15] }],
    tools: [{ tool: "ReadFile", lines: [15] }],
    imports: [],
    runs: [{ file: "parts/child.md", lines: [28] }],
    blocks: [
      { id: "start", title: "Intro {id=start}", level: 1, line: 11 },
      { id: "draft-one", title: 'Draft "one"', level: 2, line: 13 },
    ],
    problems: [],
  });
  await project.write("docs/plan.md", FILES["plan.md"] ?? "");
  for (
    const [word, cwd, path] of [["docs/plan.md", ".", "docs/out/a.md"], [
      "plan.md",
      "docs",
      "out/a.md",
    ]] as const
  ) {
    const { stdout } = await orrery(["show", "document", word], { cwd: `${project.folder}/${cwd}` });
    assert.match(stdout, new RegExp(`^Needs: --allow-write=${path} \\(line 15\\)`, "m"));
  }
  assert.deepEqual(operations[3], {
    name: "goto",
    line: 34,
    section: "draft-one",
    parameters: { block: "draft-one", if: { block: "draft-one", contains: "again" } },
  });
  assert.deepEqual([none.code, none.stderr], [
    2,
    "error: orrery show document needs NAME: the path of the document; all: orrery list documents\nTry: orrery show --help\n",
  ]);
  assert.deepEqual([broken.code, broken.stderr], [
    0,
    'broken.md:7:1: error: @llm has no parameter "prmpt" (did you mean "prompt"?)\n',
  ]);
  const wrong = await project.run(["show", "document", "orrery.yaml"]);
  assert.deepEqual([wrong.code, wrong.stderr], [
    2,
    'error: Cannot show "orrery.yaml" as a document: expected a file that ends with ".md"\nTry: orrery show --help\n',
  ]);
});

Deno.test("list documents: file, title, inputs and operations; names as orrery run takes them", async () => {
  await using project = await testProject(FILES);
  const [table, names, json] = await Promise.all([
    project.run(["list", "documents"]),
    project.run(["list", "documents", "--names"]),
    project.run(["list", "documents", "--json"]),
  ]);
  assert.deepEqual([table.code, table.stderr], [0, ""]);
  assert.equal(
    table.stdout,
    `FILE            TITLE    INPUTS          OPERATIONS
broken.md                -               2
plan.md         A plan   topic, [depth]  5
parts/a.md               -               1
parts/child.md  A child  -               2
`,
  );
  assert.equal(names.stdout, "broken.md\nplan.md\nparts/a.md\nparts/child.md\n");
  assert.deepEqual(JSON.parse(json.stdout).documents[1], {
    file: "plan.md",
    title: "A plan",
    description: "Refines a draft.",
    inputs: [
      { name: "topic", description: "what it is about", default: null },
      { name: "depth", description: null, default: "3" },
    ],
    operations: 5,
  });
  await using empty = await testProject();
  const none = await empty.run(["list", "documents"]);
  assert.deepEqual(none, {
    code: 0,
    stdout: "",
    stderr:
      "The project has no documents: they are Markdown files (.md) with an operation such as @llm or @shell between their headings\n",
  });
});
