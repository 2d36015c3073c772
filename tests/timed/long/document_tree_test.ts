// The tree of a document while it runs: what is inserted where, and that any insertions do what a slow model does.
import fc from "fast-check";
import assert from "node:assert/strict";
import { slug } from "../../../lib/document/block_index.ts";
import { LiveDocument } from "../../../lib/document/live_document.ts";
import { nodeBodies, nodeText, nodeTexts } from "../../../lib/document/live_node.ts";
import { alignHeadings } from "../../../lib/document/pieces.ts";
import { parseResult } from "../../../lib/parse/document/document.ts";
import { type MergeMode } from "../../../lib/parse/document/operation.ts";
import { parseDocument } from "../../../mod.ts";
import { idsOf, live, operationOf, put, type PutOptions, resultPieces } from "../../_live_document.ts";
import { NaiveDocument } from "../../_naive_document.ts";

const TABLE = `# P

## T
t

### K
k

## U
u

@shell
prompt: x

## V
v
`;

/** The cells of the table in documents.md 6.3: mode, target, and the ids in document order with the parent of the result. */
const CELLS = [
  ["append", undefined, "p t k u @shell out v", "u"],
  ["append", "t", "p t out k u @shell v", "t"],
  ["append", "t/*", "p t k out u @shell v", "t"],
  ["prepend", undefined, "p t k u out @shell v", "u"],
  ["prepend", "t", "p out t k u @shell v", "p"],
  ["prepend", "t/*", "p out t k u @shell v", "p"],
  ["replace", undefined, "p t k u out v", "u"],
  ["replace", "t", "p t k u @shell v", "p"],
  ["replace", "t/*", "p t u @shell v", "p"],
] as const;

for (const [mode, to, ids, parent] of CELLS) {
  Deno.test(`document tree: ${mode} ${to === undefined ? "without to" : `to ${to}`}`, () => {
    const document = live(TABLE);
    const operation = operationOf(document);
    const { nodes } = put(document, "hi", { header: "# Out", mode, ...(to === undefined ? {} : { to }) });
    assert.deepEqual(idsOf(document.nodes()), ids.split(" "));
    const [node] = nodes;
    assert.ok(node);
    assert.equal(document.section(node)?.id, parent);
    assert.equal(nodeText(node), mode === "replace" && to ? "# Out {id=t}\nhi" : "# Out\nhi");
    assert.equal(document.after(operation)?.id, mode === "append" && to === undefined ? "out" : "v");
  });
}

Deno.test("document tree: a heading of level 1 ends no section that it is inserted into", () => {
  const document = live(TABLE);
  put(document, "# One\n\n## Two\n\n# Three");
  assert.deepEqual(idsOf(document.select(["u/*"])), ["u", "one", "two", "three"]);
  assert.deepEqual(idsOf(document.select(["u/one/*"])), ["one", "two"]);
  assert.deepEqual(idsOf(document.select(["p/*"])), "p t k u one two three v".split(" "));
});

Deno.test("document tree: below a wrapper all levels are kept, and none leaves it", () => {
  const document = live(TABLE);
  put(document, "intro\n\n# One\n\n## Two\n\n# Three", { header: "### W" });
  assert.deepEqual(idsOf(document.select(["w/*"])), ["w", "one", "two", "three"]);
  assert.equal(document.section(document.find("three"))?.id, "w");
  assert.equal(nodeText(document.find("w")), "### W\nintro");
});

Deno.test("document tree: several results keep their order, wherever they go", () => {
  const orders = [
    [undefined, "append", "p t k u @shell one two v"],
    [undefined, "prepend", "p t k u one two @shell v"],
    ["t", "append", "p t one two k u @shell v"],
    ["t", "prepend", "p one two t k u @shell v"],
    ["t/*", "append", "p t k one two u @shell v"],
  ] as const;
  for (const [to, mode, ids] of orders) {
    const document = live(TABLE);
    for (const header of ["# One", "# Two"]) {
      put(document, "x", { header, mode, ...(to === undefined ? {} : { to }) });
    }
    assert.deepEqual(idsOf(document.nodes()), ids.split(" "), `${mode} ${to}`);
  }
});

Deno.test("document tree: a result goes behind all that an inserted operation brought", () => {
  const document = live("@import\nfile: a.md\n");
  const [inner] = put(document, "@shell\nprompt: x", { operations: true, by: "import" }).nodes;
  assert.ok(inner);
  put(document, "of the shell", { operation: inner, header: "# Inner" });
  put(document, "again", { header: "# Outer" });
  assert.deepEqual(idsOf(document.nodes()), ["@import", "@shell", "inner", "outer"]);
  put(document, "instead", { operation: inner, header: "# Replaced", mode: "replace" });
  put(document, "third", { header: "# Third" });
  assert.deepEqual(idsOf(document.nodes()), ["@import", "replaced", "inner", "outer", "third"]);
});

Deno.test("document tree: what is appended stays in order when an earlier one was taken out", () => {
  const document = live("# T\n\n## K\n\n# U\n\n@shell\nprompt: x\n");
  put(document, "1", { header: "## One", to: "t" });
  put(document, "2", { header: "## Two", to: "t" });
  put(document, "", { to: "two", mode: "replace" });
  put(document, "3", { header: "## Three", to: "t" });
  assert.deepEqual(idsOf(document.nodes()), ["t", "one", "three", "k", "u", "@shell"]);
});

Deno.test("document tree: a replaced block keeps its id, its children and what was appended to it", () => {
  const document = live("# Draft\nv1\n\n## Kid\n\n# End\n\n@llm\nprompt: x\n");
  put(document, "a", { header: "## App", to: "draft" });
  const [heir] = put(document, "v2\n\n# Sub", { header: "# Version 2", to: "draft", mode: "replace" }).nodes;
  assert.equal(heir, document.find("draft"));
  assert.deepEqual(idsOf(document.select(["draft/*"])), ["draft", "sub", "app", "kid"]);
  put(document, "b", { header: "## More", to: "draft" });
  put(document, "v3", { to: "draft", mode: "replace" });
  assert.deepEqual(idsOf(document.select(["draft/*"])), ["draft", "sub", "app", "more", "kid"]);
  assert.equal(nodeText(document.find("draft")), "v3");
  const text = document.print();
  assert.equal(text.slice(0, text.indexOf("# End")), "v3\n\n# Sub\n\n## App\na\n\n## More\nb\n\n## Kid\n\n");
});

Deno.test("document tree: the id of a heading's own line goes before that of what it replaces", () => {
  const document = live("# Draft {id=draft}\nv1\n\n@shell\nprompt: x\n");
  const same = put(document, "v2", { header: "# Draft {id=draft}", to: "draft", mode: "replace" });
  assert.deepEqual(same.warnings, []);
  const other = put(document, "v3", { header: "# Draft {id=other}", to: "draft", mode: "replace" });
  assert.deepEqual([other.warnings, document.maybeFind("draft"), document.find("other").id], [
    [],
    undefined,
    "other",
  ]);
});

Deno.test("document tree: an id that no heading line can say is kept during the run only", () => {
  const document = live("# 2026 plan  \nv1\n\n# A  {x}\r\n\n@shell\nprompt: x\n");
  put(document, "v2", { header: "# Other", to: "2026-plan", mode: "replace" });
  put(document, "v2", { header: "# B  ", to: "a-x", mode: "replace" });
  assert.equal(nodeText(document.find("2026-plan")), "# Other\nv2");
  assert.equal(nodeText(document.find("a-x")), "# B {id=a-x}\nv2");
});

Deno.test("document tree: several top blocks replace one with children: they stay above them and beside it", () => {
  const document = live("# P\n\n## T\nt\n\n### K\n\n## U\n\n@shell\nprompt: x\n");
  put(document, "## X\n\n### S\n\n## Y\n\n### Z", { to: "t", mode: "replace" });
  assert.deepEqual(idsOf(document.nodes()), ["p", "t", "s", "y", "z", "k", "u", "@shell"]);
  assert.deepEqual(idsOf(document.select(["t/*"])), ["t", "s", "k"]);
  assert.deepEqual(idsOf(document.select(["y/*"])), ["y", "z"]);
  assert.deepEqual(idsOf(document.select(["p/*"])), ["p", "t", "s", "y", "z", "k", "u"]);
  assert.equal(document.section(document.find("y"))?.id, "p");
  assert.throws(() => document.find("t/y"), { message: 'no block "y" in "t"' });
  assert.equal(document.find("p/z").id, "z");
  put(document, "", { header: "# End", to: "t/*", mode: "append" });
  put(document, "", { header: "# Mid", to: "y/*", mode: "append" });
  assert.deepEqual(idsOf(document.nodes()), ["p", "t", "s", "y", "z", "mid", "k", "end", "u", "@shell"]);
  put(document, "n", { header: "# N", to: "t/*", mode: "replace" });
  assert.deepEqual(idsOf(document.nodes()), ["p", "t", "y", "z", "mid", "u", "@shell"]);
});

Deno.test("document tree: what stands beside a replaced block is no place to append to its section", () => {
  const document = live("# P\n\n## T\n\n### K\n\n# U\n\n@shell\nprompt: x\n");
  put(document, "## X\n\n## Y", { to: "t", mode: "replace" });
  put(document, "", { to: "k", mode: "replace" });
  put(document, "", { header: "# End", to: "t/*" });
  assert.deepEqual(idsOf(document.nodes()), ["p", "t", "end", "y", "u", "@shell"]);
});

Deno.test("document tree: what is appended goes behind all of a replaced block that was appended before", () => {
  const document = live("# T\n\n# U\n\n@shell\nprompt: x\n");
  put(document, "", { header: "## A", to: "t" });
  put(document, "", { header: "### K", to: "a/*" });
  put(document, "## X\n\n## Y", { to: "a", mode: "replace" });
  put(document, "", { header: "## Z", to: "t" });
  assert.deepEqual(idsOf(document.nodes()), ["t", "a", "y", "k", "z", "u", "@shell"]);
  const other = live("# U\n\n@import\nfile: x\n");
  const [inner] = put(other, "@shell\nprompt: x", { operations: true, by: "import" }).nodes;
  assert.ok(inner);
  put(other, "", { operation: inner, header: "# R", mode: "replace" });
  put(other, "", { header: "# Outer" });
  assert.deepEqual(idsOf(other.nodes()), ["u", "@import", "r", "outer"]);
});

Deno.test("document tree: among many blocks of one name the nearest is found, and its id counts first", () => {
  const many = "### N\n\n".repeat(20);
  const named = live(`# P\n\n## T\n\n${many}### M {id=n}\n`);
  assert.equal(named.find("p/n").content.source, "### M {id=n}\n");
  assert.equal(named.find("t/n").content.source, "### M {id=n}\n");
  const beside = live(`# P\n\n## T\n\n${many}# U\n\n@shell\nprompt: x\n`);
  put(beside, "## X\n\n## N", { to: "t", mode: "replace" });
  assert.equal(beside.find("p/n").id, "n-21");
  assert.equal(beside.find("t/n").id, "n");
});

Deno.test("document tree: nothing in the place of a block leaves its children to the section around", () => {
  const document = live("# P\n\n## T\nt\n\n### K\n\n## U\n\n@shell\nprompt: x\n");
  put(document, "", { to: "t", mode: "replace" });
  assert.deepEqual(idsOf(document.nodes()), ["p", "k", "u", "@shell"]);
  assert.equal(document.section(document.find("k"))?.id, "p");
  assert.throws(() => document.find("t"), { message: 'no block "t"' });
});

Deno.test("document tree: when its section is replaced, the run goes on behind the result", () => {
  for (const text of ["1", "# A\n\n# B", ""]) {
    const document = live("# T\n\n@shell\nprompt: a\n\n@shell\nprompt: lost\n\n# U\n\n@shell\nprompt: end\n");
    const operation = operationOf(document);
    const inserted = put(document, text, { operation, to: "t/*", mode: "replace" });
    assert.equal(operation.isGone, true);
    assert.equal(document.after(operation)?.id, "u");
    document.insertError(operation, "main.md:3:1: error: @shell: broken");
    assert.equal(document.next(document.find("error"))?.id, "u");
    assert.equal(inserted.hasPassedOperations, false);
  }
});

Deno.test("document tree: operations at or above the current place are told of", () => {
  const text = "@shell\nprompt: y";
  const passed = (options: Parameters<typeof put>[2]) =>
    put(live(TABLE), text, { operations: true, ...options }).hasPassedOperations;
  assert.equal(passed({}), false);
  assert.equal(passed({ mode: "prepend" }), true);
  assert.equal(passed({ mode: "replace" }), true);
  assert.equal(passed({ to: "t" }), true);
  assert.equal(passed({ to: "v" }), false);
  assert.equal(passed({ to: "p/*", mode: "replace" }), true);
  assert.equal(passed({ operations: false, mode: "replace" }), false);
});

Deno.test("document tree: slugs", () => {
  const slugs = [
    ["My Title", "my-title"],
    ["  Caf\u00e9 -- na\u00efve!  ", "cafe-naive"],
    ["\u00dc\u0301ber\u1ec7", "ubere"],
    ["\u65e5\u672c\u8a9e \u30ac\u30a4\u30c9", "\u65e5\u672c\u8a9e-\u30ac\u30a4\u30c9"],
    ["\u0439\u043e\u0434", "\u0439\u043e\u0434"],
    ["\u00bd \u2460 \ufb01n", "1-2-1-fin"],
    ["\u0130stanbul", "istanbul"],
    ["---", "section"],
    ["", "section"],
    ["a_b.c {id=1x}", "a-b-c-id-1x"],
  ] as const;
  for (const [title, id] of slugs) assert.equal(slug(title), id, title);
});

Deno.test("document tree: ids are unique, case ignored; explicit ones are reserved first", () => {
  const document = live("# Same\n\n# Same\n\n# X {id=SAME-2}\n\n# Same\n\n# Y {id=Zed}\n\n# zed\n");
  assert.deepEqual(idsOf(document.nodes()), ["same", "same-3", "SAME-2", "same-4", "Zed", "zed-2"]);
  assert.equal(document.find(" zED ").id, "Zed");
});

Deno.test("document tree: an inserted id that is taken gets a number, and a warning if it was explicit", () => {
  const document = live("# Draft {id=draft}\n\n# Out\n\n@shell\nprompt: x\n");
  const taken = put(document, "new", { header: "# Draft {id=draft}" });
  assert.deepEqual(taken.warnings, ['id "draft" is taken; the new block is "draft-2"']);
  assert.deepEqual(put(document, "new", { header: "# Out" }).warnings, []);
  assert.deepEqual(idsOf(document.nodes()), ["draft", "out", "@shell", "draft-2", "out-2"]);
  assert.equal(document.find("draft-2").baseId, "draft");
});

Deno.test("document tree: the numbers of blocks that are gone are given again, the lowest first", () => {
  const document = live("# A\n\n# A\n\n# A\n\n# A\n\n@shell\nprompt: x\n");
  for (const to of ["a-3", "a-2"]) put(document, "", { to, mode: "replace" });
  assert.deepEqual(idsOf(document.nodes()), ["a", "a-4", "@shell"]);
  for (const _ of [1, 2, 3]) put(document, "", { header: "# A" });
  assert.deepEqual(idsOf(document.nodes()), ["a", "a-4", "@shell", "a-2", "a-3", "a-5"]);
});

Deno.test("document tree: steps take the smallest depth, then the id, then document order", () => {
  const document = live(
    "# R\n\n## P\n\n### X {id=x1}\n\n#### Deep\n4\n\n### Deep\n3\n\n## Q\n\n### Deep\nq\n\n# One\n\n## Leaf\n\n# Two\n\n## Leaf\n\n## L {id=leaf-3}\n",
  );
  assert.equal(document.find("r/deep").id, "deep-2");
  assert.equal(document.find("r/q/deep").id, "deep-3");
  assert.equal(document.find("r/deep-3").id, "deep-3");
  assert.equal(document.find("two/LEAF").id, "leaf-2");
  assert.equal(document.find("leaf").id, "leaf");
});

Deno.test("document tree: what a reference does not lead to", () => {
  const document = live("# Alpha\n\n## Sub\n\n# Beta\n");
  const errors = [
    ["alhpa", 'no block "alhpa" (did you mean "alpha"?)'],
    ["zzz/*", 'no block "zzz"'],
    ["alpha/beta", 'no block "beta" in "alpha"'],
    ["alpha/Sub/x/*", 'no block "x" in "alpha/Sub"'],
    ["alpha/*/sub", '* may stand only at the end of a reference, as in "a/*"'],
    ["*", '* may stand only at the end of a reference, as in "a/*"'],
  ] as const;
  for (const [reference, message] of errors) {
    assert.throws(() => document.select([reference]), { name: "BlockReferenceError", message });
  }
  assert.equal(document.maybeFind("alhpa"), undefined);
});

Deno.test("document tree: a list keeps its order, each block once, without operations and empty texts", () => {
  const document = live("\n\n# A\n\n## B\n\n@shell\nprompt: x\n\ntext\n\n# C\n");
  assert.deepEqual(idsOf(document.select(["c", "b", "a/*", "c"])), ["c", "b", "a", "text"]);
  assert.deepEqual(idsOf(document.select(["a/*"], { hasOperations: true })), ["a", "b", "@shell", "text"]);
  assert.equal(nodeTexts(document.select(["b/*", "c"])), "## B\n\ntext\n\n# C");
});

Deno.test("document tree: an untouched document keeps its bytes", () => {
  for (
    const text of [
      "",
      "\uFEFF",
      "\n\n# A\na\n\n\n\n## B\n  b  \n\n\n# C\nc",
      "\uFEFF---\na: 1\n---\n# A\r\n\r\n@x",
    ]
  ) {
    assert.equal(live(text).print(), text);
  }
});

Deno.test("document tree: a byte order mark stays at the start", () => {
  const document = live("\uFEFF# A\na\n\n@shell\nprompt: x");
  put(document, "hi", { header: "# Out", to: "a", mode: "prepend" });
  assert.equal(document.print(), "\uFEFF# Out\nhi\n\n# A\na\n\n@shell\nprompt: x");
  put(document, "ho", { header: "# End", mode: "replace" });
  assert.equal(document.print(), "\uFEFF# Out\nhi\n\n# A\na\n\n# End\nho\n");
});

Deno.test("document tree: inserted text takes the document's line end", () => {
  const document = live("# A\r\n\r\n@shell\r\nprompt: x\r\n\r\n\r\n# B");
  put(document, "one\ntwo\n\n# H\n", { header: "# Out" });
  document.insertError(operationOf(document), "main.md:3:1: error: @shell: a\n  b");
  const out = "# Out\r\none\r\ntwo\r\n\r\n# H\r\n\r\n# Error\r\nmain.md:3:1: error: @shell: a b\r\n\r\n";
  assert.equal(document.print(), `# A\r\n\r\n@shell\r\nprompt: x\r\n\r\n\r\n${out}# B`);
  assert.equal(nodeText(document.find("out")), "# Out\none\ntwo");
});

Deno.test("document tree: an import keeps what is between its nodes where they still meet", () => {
  const part = live("---\na: 1\n---\n\n# A\na\n\n\n\n# B\nb\n\n\n\n# C\nc\n\n\n");
  const whole = live("@import\nfile: x\n");
  put(whole, "", { pieces: part.all(), by: "import" });
  assert.equal(whole.print(), "@import\nfile: x\n\n# A\na\n\n\n\n# B\nb\n\n\n\n# C\nc\n");
  const some = live("@import\nfile: x\n\n# E\n");
  put(some, "", { pieces: part.select(["c", "a"]), by: "import" });
  assert.equal(some.print(), "@import\nfile: x\n\n# C\nc\n\n\n# A\na\n\n# E\n");
});

Deno.test("document tree: the last node of an insertion ends in one line end", () => {
  const document = live("@import\nfile: x");
  const part = live("# A\na  \n\n\n\n# B\nb");
  put(document, "", { pieces: part.all(), by: "import" });
  put(document, "", { to: "b", mode: "replace" });
  assert.equal(document.print(), "@import\nfile: x\n\n# A\na  \n");
});

Deno.test("document tree: nodes know where they come from, and keep their own lines", () => {
  const document = live("# A\n\n@import\nfile: d/i.md\n");
  const part = live("# I\n\n@shell\nprompt: x\n");
  const origin = { by: "import", file: "d/i.md" } as const;
  const operation = operationOf(document);
  const { nodes } = document.insert({ operation, pieces: part.all(), mode: "append", origin });
  const shell = nodes[1];
  assert.ok(shell);
  assert.deepEqual([shell.origin, shell.content.line, shell.content.kind], [origin, 3, "operation"]);
  assert.deepEqual([...document.nodes()].map(({ serial }) => serial).slice(0, 2), [0, 1]);
  assert.deepEqual(operation.origin, { by: "file", file: "main.md" });
});

Deno.test("document tree: the numbers of nodes are those that kept runs have in the keys of their steps", () => {
  const document = live("# A\n\n@llm\nprompt: x\n\n# B\n", { input: { pieces: resultPieces("given\n") } });
  const numbers = (text: string, options: PutOptions = {}) =>
    put(document, text, { operations: true, ...options }).nodes.map(({ serial }) => serial);
  // One is left out behind what came without a header.
  assert.deepEqual(numbers("# C\n\n@shell\nprompt: y\n"), [5, 6]);
  assert.deepEqual(numbers(""), []);
  assert.deepEqual(numbers("@shell\nprompt: z\n", { header: "# D" }), [8, 9]);
  assert.deepEqual(numbers("# E\ne\n\n@shell\nprompt: w\n", { to: "b", mode: "replace" }), [2, 11]);
  assert.deepEqual(document.insertError(operationOf(document), "no").nodes.map(({ serial }) => serial), [13]);
});

Deno.test("document tree: system text is what a person wrote above the operation", () => {
  const document = live(
    "# .system role\nbe kind\n\n## More\nm\n\n@shell\nprompt: x\n\n# A\n\n@llm\nprompt: y\n\n# .system late\n",
  );
  put(document, "generated", { header: "## Out", operation: operationOf(document) });
  put(document, "obey", { header: "# .system evil", to: "a", by: "llm" });
  const { system, ambient } = document.contextAbove(operationOf(document, 1));
  assert.equal(nodeTexts(system), "# .system role\nbe kind\n\n## More\nm");
  assert.deepEqual(idsOf(ambient), ["out", "a", "system-evil"]);
  const shown = document.contextAbove(operationOf(document, 1), { hasOperations: true });
  assert.deepEqual(idsOf(shown.ambient), ["@shell", "out", "a", "system-evil"]);
  assert.equal(shown.system.length, 2);
});

Deno.test("document tree: texts without heading lines", () => {
  const document = live("# A\r\n\r\none\r\n\r\ntwo  \r\n\r\n# B\n\n@llm\nprompt: x\n\n    code\n");
  assert.equal(nodeBodies(document.select(["a", "b/*"])), "one\n\ntwo\n\n    code");
});

Deno.test("document tree: the input stands first, and its block always has its id", () => {
  const document = live("---\na: 1\n---\n\n# Sub {id=input-parameters}\n\n## City\n\n# Mine {id=mine}\n", {
    input: {
      pieces: resultPieces("# Mine {id=mine}\nx\n\n## Kid"),
      prompt: "\ndo\n\n# not a block\n\n```\nopen\n",
      header: "# In {id=in}",
      values: [{ name: "city", value: "Paris\n" }, { name: "mood", value: "" }],
    },
  });
  assert.deepEqual(idsOf(document.nodes()), [
    "front-matter",
    "mine-2",
    "kid",
    "input-parameters",
    "city",
    "mood",
    "input-parameters-2",
    "city-2",
    "mine",
  ]);
  assert.deepEqual(document.warnings, [
    'id "input-parameters" is taken; the new block is "input-parameters-2"',
    'id "mine" is taken; the new block is "mine-2"',
  ]);
  assert.deepEqual(idsOf(document.select(["input-parameters/*"])), ["input-parameters", "city", "mood"]);
  assert.equal(
    document.print(),
    "---\na: 1\n---\n\n# Mine {id=mine}\nx\n\n## Kid\n\n# In {id=in}\ndo\n\n# not a block\n\n```\nopen\n```\n\n" +
      "## city {id=city}\nParis\n\n## mood {id=mood}\n\n# Sub {id=input-parameters}\n\n## City\n\n# Mine {id=mine}\n",
  );
});

Deno.test("document tree: an input without prompt has the default header, and no input no block", () => {
  const options = { input: { header: "# Mine", values: [{ name: "a", value: "1" }] } };
  assert.equal(
    live("text\n", options).print(),
    "# Input Parameters {id=input-parameters}\n\n## a {id=a}\n1\n\ntext\n",
  );
  assert.equal(live("# A\n", { input: { header: "# Mine" } }).print(), "# A\n");
});

Deno.test("document tree: headings of an answer are shifted as a whole, code is not", () => {
  const { nodes } = parseResult("x\n\n## H\n\n```\n\n# c\n```\n\n### I\n\n## J", {
    newline: "\n",
    operations: false,
  });
  const text = (level: number) => alignHeadings(nodes, level).map(({ source }) => source).join("");
  assert.equal(text(1), "x\n\n# H\n\n```\n\n# c\n```\n\n## I\n\n# J");
  assert.equal(text(3), "x\n\n### H\n\n```\n\n# c\n```\n\n#### I\n\n### J");
  assert.deepEqual(alignHeadings([], 3), []);
});

Deno.test("document tree: the level of the section that holds an operation", () => {
  const document = live("@llm\nprompt: a\n\n# A\n\n### B\n\n@llm\nprompt: b\n");
  assert.deepEqual([0, 1].map((at) => document.sectionLevel(operationOf(document, at))), [0, 3]);
});

Deno.test("document tree: a target that is gone cannot take a result", () => {
  const document = live("# A\n\n@shell\nprompt: x\n");
  const to = document.target("a");
  put(document, "", { to: "a", mode: "replace" });
  const origin = { by: "shell" } as const;
  assert.throws(
    () => document.insert({ operation: operationOf(document), pieces: [], mode: "append", to, origin }),
    { message: "The target is no longer in the document: look it up right before the insertion." },
  );
  assert.equal(parseDocument("").nodes.length, 0);
});

const title = fc.constantFrom("A", "b", "C c", "a-2", "\u00dc", "B {id=x}", "D {id=y-2}", "D");
const heading = fc.tuple(fc.integer({ min: 1, max: 4 }), title).map(([level, text]) =>
  `${"#".repeat(level)} ${text}`
);
const block = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(heading, fc.constantFrom("", "\nbody", "\nbody\n\nmore  ")).map((each) =>
      each.join("")
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("@shell\nprompt: x", "@llm\nprompt: y") },
  { weight: 1, arbitrary: fc.constantFrom("text", "- a\n- b", "    code") },
);
const gap = fc.constantFrom("\n\n", "\n\n\n\n", "\n \t\n");
const documentText = fc.tuple(
  fc.constantFrom("", "\uFEFF", "\n\n", "---\na: 1\n---\n\n"),
  fc.array(fc.tuple(block, gap).map((each) => each.join("")), { minLength: 3, maxLength: 14, size: "max" }),
  fc.constantFrom("@shell\nprompt: z", "@shell\nprompt: z\n", "@llm\n\n# End\n"),
  fc.boolean(),
).map(([start, blocks, end, isCrlf]) => {
  const text = start + blocks.join("") + end;
  return isCrlf ? text.replaceAll("\n", "\r\n") : text;
});
const resultText = fc.oneof(
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 9, arbitrary: fc.array(block, { minLength: 1, maxLength: 5, size: "max" }) },
).map((blocks) => blocks.join("\n\n"));
const insertion = fc.record({
  operation: fc.nat(),
  target: fc.option(fc.nat()),
  isSection: fc.boolean(),
  mode: fc.constantFrom<MergeMode>("append", "append", "prepend", "replace", "replace", "replace"),
  header: fc.option(heading, { freq: 1 }),
  text: resultText,
});

function checkLinks(document: LiveDocument): void {
  const nodes = [...document.nodes()];
  for (const [at, node] of nodes.entries()) {
    assert.equal(document.next(node), nodes[at + 1]);
    assert.equal(document.previous(node), nodes[at - 1]);
    assert.equal(node.isGone, false);
  }
  const ids = nodes.flatMap(({ id }) => id === undefined ? [] : [id.toLowerCase()]);
  assert.equal(new Set(ids).size, ids.length);
}

Deno.test("document tree, random: an untouched document is printed as it was", () => {
  fc.assert(fc.property(documentText, (text) => {
    const document = live(text);
    assert.equal(document.print(), text);
    checkLinks(document);
  }));
});

Deno.test("document tree, random: insertions do what the slow model does", () => {
  const references = fc.array(
    fc.constantFrom("a", "b", "c-c", "x", "y", "y-2", "d", "a-2", "a/b", "b/a", "a/a/d", "x/d"),
    { maxLength: 6, size: "max" },
  );
  fc.assert(
    fc.property(
      documentText,
      fc.array(insertion, { minLength: 4, maxLength: 12, size: "max" }),
      references,
      (text, insertions, wanted) => {
        const document = live(text);
        const naive = new NaiveDocument(document);
        for (const each of insertions) {
          const operations = naive.order.filter(({ content }) => content.kind === "operation");
          const operation = operations[each.operation % Math.max(1, operations.length)];
          if (operation === undefined) return;
          const blocks = naive.order.filter(({ id }) => id !== undefined);
          const node = each.target === null ? undefined : blocks[each.target % Math.max(1, blocks.length)];
          const { mode, isSection } = each;
          const to = node === undefined ? {} : { to: `${node.id}${isSection ? "/*" : ""}` };
          const header = each.header === null ? {} : { header: each.header };
          const { nodes } = put(document, each.text, { operation, mode, ...header, ...to });
          naive.insert(nodes, {
            operation,
            mode,
            hasWrapper: each.header !== null,
            ...(node === undefined ? {} : { to: { node, isSection } }),
          });
          checkLinks(document);
          assert.deepEqual(
            [...document.nodes()].map(({ serial }) => serial),
            naive.order.map(({ serial }) => serial),
          );
          for (const each of naive.order) assert.equal(document.section(each), naive.parents.get(each));
          for (const reference of wanted) {
            const found = naive.find(reference);
            assert.equal(document.maybeFind(reference), found, reference);
            if (found === undefined) continue;
            const section = naive.section(found).filter(({ content }) => content.kind !== "operation");
            assert.deepEqual(document.select([`${reference}/*`]), section);
          }
        }
      },
    ),
    { numRuns: 1500 },
  );
});

Deno.test("document tree, random: what is not touched is printed byte for byte, and what is printed can be read", () => {
  fc.assert(
    fc.property(
      documentText,
      fc.array(insertion, { minLength: 1, maxLength: 6, size: "max" }),
      (text, insertions) => {
        const document = live(text);
        for (const each of insertions) {
          const operations = [...document.nodes()].filter(({ content }) => content.kind === "operation");
          const operation = operations[each.operation % Math.max(1, operations.length)];
          if (operation === undefined) return;
          const header = each.header === null ? {} : { header: each.header };
          put(document, each.text, { operation, mode: each.mode, ...header });
        }
        const printed = document.print();
        let from = 0;
        for (const { origin, content } of document.nodes()) {
          if (origin.by !== "file") continue;
          const at = printed.indexOf(content.source, from);
          assert.ok(at >= from, content.source);
          from = at + content.source.length;
        }
        const read = parseDocument(printed, { operations: false });
        const headings = (nodes: Iterable<{ readonly kind: string; readonly source: string }>) =>
          [...nodes].filter(({ kind }) => kind === "heading").length;
        assert.equal(headings(read.nodes), headings([...document.nodes()].map(({ content }) => content)));
        if (document.newline === "\r\n") assert.ok(!/[^\r]\n/.test(printed));
      },
    ),
  );
});

function headings(count: number): string {
  return Array.from({ length: count }, (_, at) => `${"#".repeat(1 + at % 3)} Title\ntext ${at % 50}\n\n`)
    .join("");
}

function medianMs(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.toSorted((a, b) => a - b)[2] ?? Infinity;
}

/** References and insertions of every kind, a fifth of the number of headings each. */
function work(tree: ReturnType<typeof parseDocument>, count: number): void {
  const busy = new LiveDocument(tree);
  const operation = [...busy.nodes()].findLast(({ content }) => content.kind === "operation");
  assert.ok(operation);
  const modes = ["append", "prepend", "replace"] as const;
  for (let at = 0; at < count / 5; at++) {
    const id = `title-${2 + (at * 7919) % (count - 2)}`;
    busy.select([id, `${id}/*`]);
    busy.maybeFind(`${id}/title`);
    put(busy, "# Sub\nx\n\n## Title\ny", {
      operation,
      header: "# Title",
      mode: modes[at % 3] ?? "append",
      to: id,
    });
    put(busy, "z", { operation, header: "# Title" });
  }
  assert.ok(busy.print().length > count);
}

Deno.test("document tree: 5,000 headings with 1,000 references and 2,000 insertions take two seconds at most", () => {
  const tree = parseDocument(`${headings(5000)}@shell\nprompt: x\n`);
  const ms = medianMs(() => work(tree, 5000));
  assert.ok(ms < 2000, `${ms} ms`);
});

Deno.test("document tree: a hundred thousand equal titles get their ids in a moment", () => {
  const start = performance.now();
  const document = live("# T\n\n".repeat(100_000));
  assert.ok(document.maybeFind("t-100000"));
  assert.ok(performance.now() - start < 5000);
});
