// What is known of a document before it runs (documents.md 1.2 to 1.4, 5.9, 10, 13): every rule with its line.
import fc from "fast-check";
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { PermissionRefused } from "../../../mod.ts";
import { isInside } from "../../../lib/core/paths.ts";
import { checkDocument } from "../../../lib/check/check_document.ts";
import { type DocumentGrants, problemLine } from "../../../lib/check/check_options.ts";
import { NearIds } from "../../../lib/check/near_ids.ts";
import { readDocument } from "../../../lib/parse/document/document.ts";
import { didYouMean, FARTHEST, nearWord } from "../../../lib/parse/document/near.ts";
import { checkOptions, type CheckOverrides, problemLines, ROOT } from "../../_check_document.ts";
import { caseNames, CASES_ROOT, type DocumentCase, filesBelow, readCase } from "../../_document_cases.ts";

const RUN: CheckOverrides = { grants: { mayRun: () => true } };
const WRITE: CheckOverrides = {
  grants: { mayWrite: (path = ".") => isInside(resolve(ROOT, path), ROOT) },
};

type Files = Readonly<Record<string, string | Uint8Array>>;

/** One rule: what it is, the main document or all files, the lines, and what differs from the default. */
type Rule = readonly [
  what: string,
  files: string | Files,
  lines: readonly string[],
  overrides?: CheckOverrides,
];

function testRules(area: string, rules: readonly Rule[]): void {
  for (const [what, files, lines, overrides = {}] of rules) {
    Deno.test(`check ${area}: ${what}`, async () => {
      const all = typeof files === "string" ? { "main.md": files } : files;
      assert.deepEqual(await problemLines(all, overrides), lines);
    });
  }
}

const SHELL = "@shell\nprompt: echo x\n";
const LIB = "# Lib {id=lib}\n\n## Part\n\n### Sub\n";

testRules("references", [
  ["a block that is nowhere", "# Alpha\n\n@llm\nblock: alhpa\n", [
    'main.md:4:1: error: no block "alhpa" (did you mean "alpha"?)',
  ]],
  [
    "every reference of a list, and of a mapping",
    "# A\n\n@return\nblock:\n  block_uri: [b, a, c]\n",
    [
      'main.md:4:1: error: no block "b" (did you mean "a"?)',
      'main.md:4:1: error: no block "c" (did you mean "a"?)',
    ].map((line) => line.replace(' (did you mean "a"?)', "")),
  ],
  ["to, if, env and inputs too", {
    "main.md": "# A\n\n@run\nfile: c.md\nto: t1\nif: {block: t2, equals: x}\ninputs:\n  x: {block: t3}\n\n" +
      "@shell\nprompt: x\nenv:\n  X: {block: long-name}\n",
    "c.md": "---\ninputs: [{name: x}]\n---\n",
  }, [
    'main.md:5:1: error: no block "t1"',
    'main.md:6:1: error: no block "t2"',
    'main.md:7:1: error: no block "t3"',
  ], RUN],
  ["exists may ask for anything", "# A\n\n@return\nprompt: x\nif: {block: b, exists: false}\n", []],
  ["goto leads to a block", "# A\n\n@goto\nblock: end\n", ['main.md:4:1: error: no block "end"']],
  ["a block below is as good", "@return\nblock: a\n\n# A\n", []],
  ["case and blanks do not matter", '# A\n\n@return\nblock: " a "\n', []],
  ["a path in full", "# A\n\n## B\n\n@return\nblock: [a/b, a/c, a/b/*, x/b, b/a]\n", [
    'main.md:6:1: error: no block "c" in "a"',
    'main.md:6:1: error: no block "x"',
    'main.md:6:1: error: no block "a" in "b"',
  ]],
  [
    "an id with a number",
    "# A\n\n# A\n\n@return\nblock: [a-2, a-3]\n",
    [
      'main.md:6:1: error: no block "a-3" (did you mean "a"?)',
    ].map((line) => line.replace('"a"?', '"a-2"?')),
  ],
  ["below a command it is left to the run", `# A\n\n${SHELL}\n@return\nblock: [made, a/made]\n`, [], RUN],
  ["above it, it is not", `# A\n\n@return\nblock: made\n\n${SHELL}`, [
    'main.md:4:1: error: no block "made"',
  ], RUN],
  ["the operation itself is not above itself", '# A\n\n@shell\nprompt: x\nto: made\nuse-header: "# Made"\n', [
    'main.md:5:1: error: no block "made"',
  ], RUN],
  [
    "with a jump anywhere, anything counts",
    `# A\n\n@return\nblock: made\n\n${SHELL}\n@goto\nblock: a\n`,
    [],
    RUN,
  ],
  ["a jump alone makes nothing", "# A\n\n@return\nblock: made\n\n@goto\nblock: a\n", [
    'main.md:4:1: error: no block "made"',
  ]],
  ["a near miss below a command is a warning", `# Draft\n\n${SHELL}\n@return\nblock: darft\n`, [
    'main.md:7:1: warning: no block "darft" yet (did you mean "draft"?)',
  ], RUN],
  [
    "but not of what a header makes, of a number, or of a default header",
    `# Drafts\n\n# Shell tool response block\n\n# LLM response blocks\n\n@shell\nprompt: x\nuse-header: "# Draft"\n\n` +
    "@return\nblock: [draft, drafts-2, llm-response-block]\n",
    [],
    RUN,
  ],
]);

testRules("imports", [
  ["imported blocks are there below", {
    "main.md": "@import\nfile: l.md\n\n@return\nblock: [lib, sub, sbu]\n",
    "l.md": LIB,
  }, ['main.md:5:1: error: no block "sbu" (did you mean "sub"?)']],
  ["and not above", { "main.md": "# A\n\n@return\nblock: lib\n\n@import\nfile: l.md\n", "l.md": LIB }, [
    'main.md:4:1: error: no block "lib"',
  ]],
  ["but with a jump", {
    "main.md": "# A\n\n@return\nblock: lib\n\n@import\nfile: l.md\n\n@goto\nblock: a\n",
    "l.md": LIB,
  }, []],
  ["only what is taken is there", {
    "main.md": "@import\nfile: l.md\nblock: part/*\n\n@return\nblock: [part, sub, lib]\n",
    "l.md": LIB,
  }, ['main.md:6:1: error: no block "lib" (did you mean "sub"?)']],
  ["of files that are imported by others", {
    "main.md": "@import\nfile: d/a.md\n\n@return\nblock: sub\n",
    "d/a.md": "@import\nfile: ../l.md\n",
    "l.md": LIB,
  }, []],
  ["a second copy has numbers", {
    "main.md": "@import\nfile: l.md\n\n@import\nfile: l.md\n\n@return\nblock: [sub-2, subs-2]\n",
    "l.md": LIB,
  }, ['main.md:8:1: error: no block "subs-2"']],
  ["paths below are left to the run", {
    "main.md": "# A\n\n@import\nfile: l.md\n\n@return\nblock: a/lib\n",
    "l.md": LIB,
  }, []],
  [
    "a block that the file does not have",
    {
      "main.md": `${SHELL}\n@import\nfile: l.md\nblock: [nop, lib/nope]\n`,
      "l.md": LIB + "\n## Nope\n",
    },
    ['main.md:6:1: error: no block "nop" (did you mean "nope"?) of "l.md"'],
    RUN,
  ],
  ["a step that the file does not have", {
    "main.md": "@import\nfile: l.md\nblock: part/lib\n",
    "l.md": LIB,
  }, ['main.md:3:1: error: no block "lib" in "part" of "l.md"']],
  ["imported operations look into the importing document", {
    "main.md": "# A\n\n@import\nfile: l.md\n",
    "l.md": "# L\n\n@return\nblock: [a, l, b]\n",
  }, ['l.md:4:1: error: no block "b"']],
  [
    "imported commands count as above",
    {
      "main.md": "@import\nfile: l.md\n\n@return\nblock: made\n",
      "l.md": `# L\n\n${SHELL}`,
    },
    [],
    RUN,
  ],
  [
    "those outside of the imported section do not",
    {
      "main.md": "@import\nfile: l.md\nblock: l\n\n@return\nblock: made\n",
      "l.md": `# L\n\n${SHELL}`,
    },
    ['main.md:6:1: error: no block "made"'],
    RUN,
  ],
  ["an imported jump counts too", {
    "main.md": "# A\n\n@return\nblock: l\n\n@import\nfile: l.md\n",
    "l.md": "# L\n\n@goto\nblock: a\n",
  }, []],
  ["what is put elsewhere may find what is made there", {
    "main.md": "# A\n\n@import\nfile: l.md\nto: a\n",
    "l.md": "@return\nblock: later\n",
  }, []],
  ["operations of a result are text", {
    "main.md": "@import\nfile: old.ctx\n",
    "old.ctx": "---\nmodle: x\n---\n\n# A {id=a}\n\n# B {id=a}\n\n@shell\nprmpt: x\n",
  }, []],
  ["its own problems are told", {
    "main.md": "@import\nfile: l.md\nblock: a\n",
    "l.md": "---\nmodle: x\n---\n# A {id=a}\n\n# B {id=A}\n\n@lllm\nprompt: x\n",
  }, [
    'l.md:2:1: error: unknown front matter key "modle" (did you mean "model"?)',
    'l.md:6:1: error: id "A" is already used on line 4',
    'l.md:8:1: error: unknown operation "@lllm" (did you mean "@llm"?)',
  ]],
  ["a cycle", {
    "main.md": "# A\n\n@import\nfile: d/b.md\n",
    "d/b.md": "# B\n\n@import\nfile: ../main.md\n",
  }, ["d/b.md:4:1: error: import cycle: main.md -> d/b.md -> main.md"]],
  ["a cycle of others", {
    "main.md": "@import\nfile: a.md\n",
    "a.md": "@import\nfile: b.md\n",
    "b.md": "@import\nfile: a.md\n",
  }, ["b.md:2:1: error: import cycle: a.md -> b.md -> a.md"]],
  ["a document that imports itself", "# A\n\n@import\nfile: main.md\n", [
    "main.md:4:1: error: import cycle: main.md -> main.md",
  ]],
  ["a section of itself is no cycle", "# A\n\n# B\n\n@import\nfile: main.md\nblock: a\n", []],
  ["nothing to import", { "main.md": "@import\nfile: l.md\n", "l.md": "---\ntitle: x\n---\n\n" }, [
    'main.md:2:1: warning: nothing to import from "l.md"',
  ]],
]);

testRules("files", [
  ["a missing import", "# A\n\n@import\nfile: nope.md\n", ['main.md:4:1: error: file not found: "nope.md"']],
  ["a missing callee", "# A\n\n@run\nfile: d/nope.md\n", ['main.md:4:1: error: file not found: "d/nope.md"']],
  ["one that a command above can make", `${SHELL}\n@import\nfile: nope.md\n`, [], RUN],
  ["one that a command below can make", `@import\nfile: nope.md\n\n${SHELL}`, [
    'main.md:2:1: error: file not found: "nope.md"',
  ], RUN],
  ["below, but in a loop", `# A\n\n@import\nfile: nope.md\n\n${SHELL}\n@goto\nblock: a\n`, [], RUN],
  ["one that a model can make", "@llm\nprompt: x\ntools: look\n\n@import\nfile: nope.md\n", []],
  ["or save", "@llm\nprompt: x\nsave-to-file: nope.md\n\n@import\nfile: nope.md\n", [], WRITE],
  ["but not without either", "@llm\nprompt: x\n\n@import\nfile: nope.md\n", [
    'main.md:5:1: error: file not found: "nope.md"',
  ]],
  [
    "in a callee, one that its caller can make",
    {
      "main.md": `${SHELL}\n@run\nfile: c.md\n`,
      "c.md": "@import\nfile: nope.md\n",
    },
    [],
    RUN,
  ],
  ["in a callee, one that nobody can make", {
    "main.md": "@run\nfile: c.md\n",
    "c.md": "@import\nfile: nope.md\n",
  }, ['c.md:2:1: error: file not found: "nope.md"']],
  ["outside of the project", "@import\nfile: ../../etc/hosts.md\n", [
    'main.md:2:1: error: "../../etc/hosts.md" is outside the project root; read permission for it is needed (--allow-read=/etc/hosts.md)',
  ]],
  ["an absolute path inside is fine", { "main.md": `@import\nfile: ${ROOT}/l.md\n`, "l.md": "# L\n" }, []],
  ["a folder", { "main.md": "@import\nfile: d\n", "d/l.md": "" }, [
    'main.md:2:1: error: Cannot read "d": it is a folder, not a file',
  ]],
  ["no text", { "main.md": "@import\nfile: l.md\n", "l.md": new Uint8Array([65, 255]) }, [
    'main.md:2:1: error: Cannot read "l.md": it is not UTF-8 text: the first wrong byte is 0xFF at offset 1',
  ]],
  ["too much", { "main.md": "@import\nfile: l.md\n", "l.md": "x".repeat(16 * 1024 * 1024 + 1) }, [
    'main.md:2:1: error: "l.md" is larger than 16 MiB: divide it into several files',
  ]],
  ["the entry is not there", {}, ['error: file not found: "main.md"']],
  ["a result cannot be run", { "main.md": "@run\nfile: c.ctx\n", "c.ctx": "" }, [
    'main.md:2:1: error: "c.ctx" is the result of a run: run "c.md" instead',
  ]],
]);

testRules("permissions", [
  ["a command", `# A\n\n${SHELL}`, ["main.md:3:1: error: @shell needs run permission (--allow-run)"]],
  ["saving", "@llm\nprompt: x\nsave-to-file: o.md\n", [
    "main.md:3:1: error: save-to-file needs write permission (--allow-write)",
  ]],
  ["saving outside", "@llm\nprompt: x\nsave-to-file: ../o.md\n", [
    'main.md:3:1: error: "../o.md" is outside the project root; write permission for it is needed (--allow-write=../o.md)',
  ], WRITE],
  ["saving beside what is granted", "@llm\nprompt: x\nsave-to-file: o.md\n", [
    'main.md:3:1: error: "o.md" is outside the project root or the granted paths; write permission for it is needed (--allow-write=o.md)',
  ], { grants: { mayWrite: (path) => path === undefined, isWriteListed: true } }],
  [
    "all that is declared",
    "---\npermissions:\n  run: true\n  write: true\n  net: [x.org]\n  read: [a, ../b]\n---\n",
    [
      'main.md:2:1: error: the document asks for read permission for "../b", which was not granted (--allow-read=../b)',
      "main.md:2:1: error: the document asks for write permission, which was not granted (--allow-write)",
      'main.md:2:1: error: the document asks for net permission for "x.org", which was not granted (--allow-net=x.org)',
      "main.md:2:1: error: the document asks for run permission, which was not granted (--allow-run)",
    ],
  ],
  ["what is declared and granted", "---\npermissions: {run: true, read: true}\n---\n", [], RUN],
  ["front matter narrows commands", `---\npermissions: {run: false}\n---\n${SHELL}`, [
    "main.md:4:1: error: @shell needs run permission, which the front matter of main.md does not allow (permissions.run)",
  ], RUN],
  [
    "and paths",
    {
      "main.md":
        "---\npermissions: {read: [docs], write: false}\n---\n@import\nfile: docs/a.md\n\n@import\nfile: b.md\n\n" +
        "@llm\nprompt: x\nsave-to-file: o.md\n",
      "docs/a.md": "# A\n",
      "b.md": "# B\n",
    },
    [
      'main.md:8:1: error: "b.md" needs read permission, which the front matter of main.md does not allow (permissions.read)',
      'main.md:12:1: error: "o.md" needs write permission, which the front matter of main.md does not allow (permissions.write)',
    ],
    WRITE,
  ],
  ["and those of callees", {
    "main.md": "---\npermissions: {run: false}\n---\n@run\nfile: c.md\n",
    "c.md": SHELL,
  }, [
    "c.md:1:1: error: @shell needs run permission, which the front matter of main.md does not allow (permissions.run)",
  ], RUN],
  ["each of those that run it", {
    "main.md": "@run\nfile: c.md\n\n@run\nfile: n.md\n",
    "n.md": "---\npermissions: {run: false}\n---\n@run\nfile: c.md\n",
    "c.md": SHELL,
  }, [
    "c.md:1:1: error: @shell needs run permission, which the front matter of n.md does not allow (permissions.run)",
  ], RUN],
  [
    "not those of imported files",
    {
      "main.md": "@import\nfile: l.md\n",
      "l.md": `---\npermissions: {run: false, write: true}\n---\n${SHELL}`,
    },
    [],
    RUN,
  ],
]);

const MODELS: CheckOverrides = {
  modelProblem: (name) => {
    if (name === undefined) return "no model is configured";
    if (name.startsWith("nope/")) return 'unknown provider "nope"';
    return ["fast", "script/echo"].includes(name)
      ? undefined
      : `unknown model "${name}"${didYouMean(name, ["fast"])}`;
  },
};

testRules("models and tools", [
  ["none is needed without @llm", "---\nmodel: zzz\n---\n# A\n", [], MODELS],
  ["none is configured", "# A\n\n@llm\nprompt: x\n", ["main.md:3:1: error: no model is configured"], MODELS],
  ["an unknown one", "@llm\nprompt: x\nmodel: fasst\n", [
    'main.md:3:1: error: unknown model "fasst" (did you mean "fast"?)',
  ], MODELS],
  ["an unknown provider", "@llm\nprompt: x\nmodel: big\nprovider: nope\n", [
    'main.md:4:1: error: unknown provider "nope"',
  ], MODELS],
  [
    "provider and model",
    "@llm\nprompt: x\nmodel: echo\nprovider: script\n\n@llm\nprompt: x\nmodel: script/echo\nprovider: script\n",
    [],
    MODELS,
  ],
  ["a provider without a model", "@llm\nprompt: x\nprovider: script\n", [
    'main.md:3:1: error: provider "script" needs "model"',
  ], MODELS],
  ["that of the front matter, once", "---\nmodel: zzz\n---\n@llm\nprompt: x\n\n@llm\nprompt: y\n", [
    'main.md:2:1: error: unknown model "zzz"',
  ], MODELS],
  ["the command line wins over the front matter", "---\nmodel: zzz\n---\n@llm\nprompt: x\n", [], {
    ...MODELS,
    model: "fast",
  }],
  ["that of the command line, also when none is needed", "# A\n", ['error: unknown model "zzz"'], {
    ...MODELS,
    model: "zzz",
  }],
  [
    "unknown tools",
    "---\ntools: [fnid]\n---\n@llm\nprompt: x\n\n@llm\ntools: look, lokk, fractalic_run\nprompt: x\n\n@llm\nprompt: x\ntools: all\n",
    [
      'main.md:2:1: error: unknown tool "fnid" (did you mean "find"?)',
      'main.md:8:1: error: unknown tool "lokk" (did you mean "look"?)',
    ],
  ],
]);

testRules("media and schemas", [
  ["a type that models do not take", "@llm\nprompt: x\nmedia: [a.svg, b]\n", [
    'main.md:3:1: error: media "a.svg" is not png, jpeg, gif, webp or pdf',
    'main.md:3:1: error: media "b" is not png, jpeg, gif, webp or pdf',
  ]],
  ["a missing one, and one that is there", {
    "main.md": "@llm\nprompt: x\nmedia: [a.png, b.JPG]\n",
    "b.JPG": "x",
  }, [
    'main.md:3:1: error: file not found: "a.png"',
  ]],
  ["one outside", "@llm\nprompt: x\nmedia: [../a.png]\n", [
    'main.md:3:1: error: "../a.png" is outside the project root; read permission for it is needed (--allow-read=/a.png)',
  ]],
  ["one that cannot be shown", "@llm\nprompt: x\nmedia: [a.png]\n", [
    'main.md:3:1: error: media "a.png" is larger than 20 MB',
  ], { mediaProblem: () => Promise.resolve("is larger than 20 MB") }],
  ["a schema that cannot be used", "@llm\nprompt: x\nschema: {type: strng}\n", [
    'main.md:3:1: error: schema cannot be used at "type": found "strng", expected string, number, integer, boolean, null, array, object, or a list of these. Did you mean "string"?',
  ]],
  ["schema files", {
    "main.md": ["a", "b", "c", "d"].map((name) => `@llm\nprompt: x\nschema: ${name}.json\n`).join("\n"),
    "a.json": '{"type": "object"}',
    "b.json": "[]",
    "c.json": "{",
  }, [
    'main.md:7:1: error: schema "b.json" must be a JSON object',
    `main.md:11:1: error: schema "c.json" is not JSON: ${jsonError("{")}`,
    'main.md:15:1: error: file not found: "d.json"',
  ]],
]);

function jsonError(text: string): string {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : "";
  }
}

const INPUTS = "---\ninputs:\n  - name: city\n  - {name: unit, default: C}\n---\n";

testRules("inputs", [
  ["of a callee", {
    "main.md": "@run\nfile: c.md\ninputs: {citty: x}\n\n@run\nfile: c.md\ninputs: {city: x}\n",
    "c.md": INPUTS,
  }, [
    'main.md:1:1: error: input "city" needs a value',
    'main.md:3:1: error: c.md has no input "citty" (did you mean "city"?)',
  ]],
  ["of the entry", INPUTS, [
    'error: main.md has no input "town"',
    'error: input "city" needs a value (--input city=...)',
  ], { input: { values: { town: "x" } } }],
  ["are blocks", `${INPUTS}@return\nblock: [input-parameters, city, input-parameters/unit, citty]\n`, [
    'main.md:7:1: error: no block "citty" (did you mean "city"?)',
  ], { input: { values: { city: "x" } } }],
  ["no input, no block", "@return\nblock: input-parameters\n", [
    'main.md:2:1: error: no block "input-parameters"',
  ]],
  ["a prompt is a block", "@return\nblock: input-parameters\n", [], { input: { prompt: "x" } }],
  [
    "blocks of another file",
    {
      "main.md": "@return\nblock: [part, part/sub, lib]\n",
      "l.md": LIB,
    },
    ['main.md:2:1: error: no block "lib" (did you mean "sub"?)'],
    { input: { blocks: [{ file: "l.md", reference: "part/*" }] } },
  ],
  ["blocks that are not there", { "main.md": "", "l.md": LIB }, [
    'error: no block "prat" (did you mean "part"?) of "l.md"',
    'error: file not found: "m.md"',
  ], { input: { blocks: [{ file: "l.md", reference: "prat" }, { file: "m.md", reference: "x" }] } }],
  ["a name of every object", "---\ninputs: [{name: constructor}]\n---\n", [
    'error: input "constructor" needs a value (--input constructor=...)',
  ]],
]);

function narrow(path: string) {
  return readDocument("---\npermissions: {run: false}\n---\n", { path });
}

testRules("callees", [
  ["unknown blocks are left to the run", {
    "main.md": "@run\nfile: c.md\n",
    "c.md": "# C\n\n@return\nblock: given\n",
  }, []],
  ["a near miss is a warning", {
    "main.md": "@run\nfile: c.md\n",
    "c.md": "# Draft\n\n@return\nblock: darft\n",
  }, [
    'c.md:4:1: warning: no block "darft" yet (did you mean "draft"?)',
  ]],
  ["not when blocks are given", {
    "main.md": "# Darft\n\n@run\nfile: c.md\n\n@run\nfile: c.md\nblock: darft\n",
    "c.md": "# Draft\n\n@return\nblock: [darft, draft/x]\n\n# E {id=e}\n\n@return\nblock: e/x\n",
  }, ['c.md:9:1: error: no block "x" in "e"']],
  ["paths in full", { "main.md": "@run\nfile: c.md\n", "c.md": "# C\n\n@return\nblock: c/x\n" }, [
    'c.md:4:1: error: no block "x" in "c"',
  ]],
  ["their own problems, and those of their callees, each once", {
    "main.md": "@run\nfile: d/c.md\n\n@run\nfile: d/c.md\n",
    "d/c.md": "@run\nfile: e.md\n\n@run\nfile: c.md\n",
    "d/e.md": "# A\n\n@llm\nmodle: x\n",
  }, [
    "d/c.md:5:1: warning: run cycle: d/c.md -> d/c.md: a document that runs itself never ends",
    'd/e.md:3:1: error: @llm needs "prompt" or "block"',
    'd/e.md:4:1: error: @llm has no parameter "modle" (did you mean "mode"?)',
  ]],
  ["a header without a prompt", { "main.md": '@run\nfile: c.md\nuse-header: "# X"\n', "c.md": "" }, [
    "main.md:3:1: warning: use-header has no effect without prompt",
  ]],
  ["a document that is a callee itself", `${INPUTS}# A\n\n@return\nblock: given\n\n${SHELL}`, [
    "main.md:11:1: error: @shell needs run permission, which the front matter of top.md does not allow (permissions.run)",
  ], { ...RUN, callers: [await narrow("top.md"), await narrow("other.md")] }],
]);

Deno.test("check: what is wrong in several files comes at once, in the order of files and lines", async () => {
  const lines = await problemLines({
    "main.md":
      "# A {id=a}\n\n@shell\nprompt: x\nmode: insert\n\n@import\nfile: b.md\n\n@run\nfile: c.md\n\n# A {id=A}\n\n" +
      "@import\nfile: no.md\n\n@llm\nblock: zz\ntools: x\n",
    "b.md": "@import\nfile: d.md\n\n@llm\nprompt: x\nretries: 11\n",
    "c.md": "@goto\nblock: a/*\n",
    "d.md": "@return\n",
  }, { model: "zzz" });
  assert.deepEqual(lines, [
    'error: unknown model "zzz"',
    "main.md:3:1: error: @shell needs run permission (--allow-run)",
    'main.md:5:1: error: mode must be append, prepend or replace, not "insert"',
    'main.md:13:1: error: id "A" is already used on line 1',
    'main.md:20:1: error: unknown tool "x"',
    "b.md:6:1: error: retries must be a whole number from 0 to 10",
    'd.md:1:1: error: @return needs "prompt" or "block"',
    "c.md:2:1: error: @goto takes one block without /*",
  ]);
});

Deno.test("check: files are those that were read, by their shown path", async () => {
  const files = {
    "main.md": "@import\nfile: d/a.md\n\n@run\nfile: d/b.md\n",
    "d/a.md": "# A\n",
    "d/b.md": "",
  };
  const { entry, files: read } = await checkDocument(`${ROOT}/main.md`, checkOptions(files));
  assert.equal(entry?.path, "main.md");
  assert.deepEqual([...read.keys()], ["main.md", "d/a.md", "d/b.md"]);
});

Deno.test("check: each file is read once, and a path that is denied says so in its own words", async () => {
  const files = {
    "main.md": "@import\nfile: a.md\n\n@run\nfile: ./a.md\n\n@import\nfile: no.md\n",
    "a.md": "# A\n",
  };
  const asked: string[] = [];
  const options = checkOptions(files);
  const { problems } = await checkDocument("main.md", {
    ...options,
    read: (path) => {
      asked.push(path);
      if (path !== "no.md") return options.read(path);
      throw new PermissionRefused('Reading "no.md" is not allowed: --deny-read=no.md forbids it', {
        request: { kind: "read", value: path },
        flag: "",
      });
    },
  });
  assert.deepEqual(asked, ["main.md", "a.md", "no.md"]);
  assert.deepEqual(problems.map(problemLine), [
    'main.md:8:1: error: Reading "no.md" is not allowed: --deny-read=no.md forbids it',
  ]);
});

Deno.test("check: an error that is none of a file is thrown", async () => {
  const read = () => Promise.reject(new Error("the disk is gone"));
  await assert.rejects(checkDocument("main.md", { ...checkOptions({}), read }), /the disk is gone/);
});

Deno.test("check: the nearest id is the one that a comparison with each of them finds", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "-"), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), word, (ids, wanted) => {
      const near = new NearIds();
      const first = [...new Set(ids)];
      for (const id of first) near.add(id);
      assert.equal(near.nearest(wanted), nearWord(wanted, first, FARTHEST));
    }),
    { numRuns: 2000 },
  );
});

// The cases of the specification.

function caseFiles(name: string): Files {
  const files = [...filesBelow(join(CASES_ROOT, name))].filter(([path]) =>
    path !== "case.json" && !path.startsWith("expected")
  );
  return Object.fromEntries(files);
}

function caseOverrides({ args, model, aliases = {}, tools = {} }: DocumentCase): CheckOverrides {
  const flag = (name: string): string | undefined => {
    const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
    return at < 0 ? undefined : args[at]?.slice(name.length + 1);
  };
  const after = (name: string): readonly string[] =>
    args.flatMap((arg, at) => args[at - 1] === name ? [arg] : []);
  const names = ["script/echo", ...Object.keys(aliases)];
  const writes = flag("--allow-write");
  const isWritable: DocumentGrants["mayWrite"] = (path = ".") => {
    if (writes === undefined) return false;
    return path === "." || isInside(resolve(ROOT, path), resolve(ROOT, writes === "" ? "." : writes));
  };
  const [cliModel] = after("--model");
  const [prompt] = after("--prompt");
  return {
    modelProblem: (name = model) =>
      name === ""
        ? "no model is configured"
        : names.includes(name)
        ? undefined
        : `unknown model "${name}"${didYouMean(name, names)}`,
    toolNames: () => Object.keys(tools),
    grants: {
      mayRun: () => args.includes("--allow-run") || args.includes("--allow-all"),
      mayWrite: isWritable,
      isWriteListed: writes !== undefined && writes !== "",
    },
    ...(cliModel !== undefined && { model: cliModel }),
    input: {
      values: Object.fromEntries(
        after("--input").map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]),
      ),
      blocks: after("--block").map((text) => ({
        file: text.slice(0, text.indexOf("#")),
        reference: text.slice(text.indexOf("#") + 1),
      })),
      ...(prompt !== undefined && { prompt }),
    },
  };
}

for (const name of caseNames()) {
  const one = readCase(name);
  Deno.test(`check of the document case ${name}: ${one.note}`, async () => {
    const lines = await problemLines(caseFiles(name), caseOverrides(one));
    const errors = lines.filter((line) => /^(?:[^:]+:\d+:\d+: )?error: /.test(line));
    if (one.exitCode !== 2) return assert.deepEqual(errors, []);
    assert.ok(
      errors.join("\n").includes(one.error ?? ""),
      `expected: ${one.error}\nfound: ${lines.join("\n")}`,
    );
  });
}

// Generated documents: what is written is right, until a heading is taken away.

const piece = fc.record({
  level: fc.integer({ min: 1, max: 3 }),
  uses: fc.array(fc.nat(), { maxLength: 3 }),
});
const generated = fc.record({
  pieces: fc.array(piece, { minLength: 1, maxLength: 12 }),
  isImported: fc.boolean(),
  gone: fc.nat(),
});

Deno.test("check: a document without errors gets exactly those of the block that is taken away", async () => {
  await fc.assert(
    fc.asyncProperty(generated, async ({ pieces, isImported, gone }) => {
      const ids = pieces.map((_, index) => `block-number-${"abcdefghijkl"[index]?.repeat(6)}`);
      const write = (without?: number): { files: Files; expected: readonly string[] } => {
        const lines: string[] = [];
        const expected: string[] = [];
        for (const [index, { level, uses }] of pieces.entries()) {
          if (index !== without) lines.push(`${"#".repeat(level)} Title ${index} {id=${ids[index]}}`, "");
          const refs = [...new Set(uses.map((use) => use % pieces.length))];
          if (refs.length === 0) continue;
          lines.push("@return", `block: [${refs.map((ref) => ids[ref]).join(", ")}]`, "");
          if (without !== undefined && refs.includes(without)) {
            expected.push(`${lines.length - 1}:1: error: no block "${ids[without]}"`);
          }
        }
        const text = lines.join("\n");
        const path = isImported ? "part.md" : "main.md";
        const files: Files = isImported
          ? { "main.md": "@import\nfile: part.md\n", [path]: text }
          : { [path]: text };
        return { files, expected: expected.map((line) => `${path}:${line}`) };
      };
      const told = (lines: readonly string[]) => lines.filter((line) => !line.includes("nothing to import"));
      assert.deepEqual(told(await problemLines(write().files)), []);
      const { files, expected } = write(gone % pieces.length);
      assert.deepEqual(told(await problemLines(files)), expected);
    }),
    { numRuns: 300 },
  );
});

Deno.test("check: 5,000 headings with 1,000 misspelt references and 1,000 imports take no long time", async () => {
  const files: Record<string, string> = { "same.md": "# Same\n\n## Deep\n" };
  const parts: string[] = [];
  for (let n = 0; n < 5000; n++) {
    parts.push(`# Section number ${n}\n`);
    if (n % 10 === 0) parts.push(`@import\nfile: ${n % 20 === 0 ? "same" : `other-${n}`}.md\n`);
    if (n % 10 === 5) parts.push(`@import\nfile: other-${n}.md\nblock: other/*\n`);
    if (n % 5 === 1) parts.push(`@return\nblock: [section-number-${n}, sectoin-number-${n}x]\n`);
    if (n % 10 === 0 || n % 10 === 5) files[`other-${n}.md`] = "# Other\n\n## Below\n";
  }
  files["main.md"] = parts.join("\n");
  const options = checkOptions({});
  const texts = new Map(Object.entries(files));
  const started = performance.now();
  const { problems } = await checkDocument("main.md", {
    ...options,
    read: (path) => Promise.resolve(texts.get(path) ?? ""),
  });
  const took = performance.now() - started;
  assert.equal(problems.length, 1000);
  assert.ok(took < 5000, `it took ${took} ms`); // far above what it takes, and far below what a square takes
});

Deno.test("check: long chains of imports and of callees come to their end", async () => {
  const files: Record<string, string> = { "main.md": "@import\nfile: i0.md\n\n@run\nfile: r0.md\n" };
  for (let n = 0; n < 1000; n++) {
    files[`i${n}.md`] = `# I${n} {id=i${n}}\n\n@import\nfile: i${n + 1}.md\n\n@return\nblock: [i0, i1000]\n`;
    files[`r${n}.md`] = `@run\nfile: r${n + 1}.md\n\n@run\nfile: r0.md\n\n@import\nfile: nope.md\n`;
  }
  files["i1000.md"] = "# I {id=i1000}\n\n@return\nblock: i1\n\n@return\nblock: nowhere-at-all\n";
  files["r1000.md"] = "@import\nfile: nope.md\n";
  const texts = new Map(Object.entries(files));
  const options = checkOptions({ "main.md": "" });
  const { problems } = await checkDocument("main.md", {
    ...options,
    read: async (path) => texts.get(path) ?? await options.read(path),
  });
  // Each callee may be given its file by the run above it, but for the last one.
  assert.deepEqual(problems.map(problemLine), [
    'i1000.md:7:1: error: no block "nowhere-at-all"',
    "r999.md:5:1: warning: run cycle: r0.md -> r1.md -> r2.md -> r3.md -> … -> r998.md -> r999.md -> r0.md: a document that runs itself never ends",
    'r1000.md:2:1: error: file not found: "nope.md"',
  ]);
});
