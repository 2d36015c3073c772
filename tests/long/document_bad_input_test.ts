// What is wrong with a document, through the command line: file, line and column of everything that can be seen before, all at once, with
// nothing run and exit code 2; what is seen later keeps the finished part, with exit code 1 (documents.md 1.2, 1.3).

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";

interface Bad {
  readonly files: Readonly<Record<string, string>>;
  /** Of stderr, whole. */
  readonly lines: readonly string[];
}

/** Runs before everything that is wrong: it must not. */
const FIRST = "# A\n\n@shell\nprompt: echo ran > ran.txt\n\n";
const at = (text: string): Readonly<Record<string, string>> => ({ "main.md": FIRST + text });

const STATIC: Readonly<Record<string, Bad>> = {
  "an unknown operation": {
    files: at("@lllm\nprompt: x\n"),
    lines: ['main.md:6:1: error: unknown operation "@lllm" (did you mean "@llm"?)'],
  },
  "an operation in upper case": {
    files: at("@Shell\nprompt: x\n"),
    lines: ['main.md:6:1: error: unknown operation "@Shell" (did you mean "@shell"?)'],
  },
  "something behind an operation": {
    files: at("@llm now\nprompt: x\n"),
    lines: ['main.md:6:5: error: nothing may follow "@llm" on its line'],
  },
  "an unknown parameter": {
    files: at("@llm\npromt: x\n"),
    lines: [
      'main.md:7:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
    ],
  },
  "several parameters that are wrong": {
    files: at("@llm\nprompt: ''\nmode: over\ntemperature: 3\nretries: 11\ncontext: some\n"),
    lines: [
      "main.md:7:1: error: prompt is empty",
      'main.md:8:1: error: mode must be append, prepend or replace, not "over"',
      "main.md:9:1: error: temperature must be a number from 0 to 2",
      "main.md:10:1: error: retries must be a whole number from 0 to 10",
      'main.md:11:1: error: context must be auto or none, not "some"',
    ],
  },
  "a block that is missing": {
    files: { "main.md": "# Alpha\n\n@return\nblock: alhpa\n" },
    lines: ['main.md:4:1: error: no block "alhpa" (did you mean "alpha"?)'],
  },
  "a step that is missing": {
    files: { "main.md": "# Alpha\n\n## Beta\n\n@return\nblock: alpha/gamma\n" },
    lines: ['main.md:6:1: error: no block "gamma" in "alpha"'],
  },
  "a target that is missing": {
    files: { "main.md": "# Alpha\n\n@shell\nprompt: echo ran > ran.txt\nto: bta\n\n# Beta\n" },
    lines: ['main.md:5:1: error: no block "bta" (did you mean "beta"?)'],
  },
  "a star in the middle": {
    files: at("@return\nblock: a/*/b\n"),
    lines: ['main.md:7:1: error: * may stand only at the end of a reference, as in "a/*"'],
  },
  "an ambiguous id": {
    files: { "main.md": "# One {id=x}\n\n# Two {id=X}\n" },
    lines: ['main.md:3:1: error: id "X" is already used on line 1'],
  },
  "front matter": {
    files: { "main.md": "---\nmodle: x\nlimits: { goto: 0, gotos: 1 }\n---\n# A\n" },
    lines: [
      'main.md:2:1: error: unknown front matter key "modle" (did you mean "model"?)',
      "main.md:3:1: error: limits.goto must be a whole number from 1",
      'main.md:3:1: error: unknown limit "gotos" (did you mean "goto"?)',
    ],
  },
  "an import cycle": {
    files: {
      ...at("@import\nfile: b.md\n"),
      "b.md": "# B\n\n@import\nfile: main.md\n",
    },
    lines: ["b.md:4:1: error: import cycle: main.md -> b.md -> main.md"],
  },
  "a file that is missing": {
    files: { "main.md": "@import\nfile: no.md\n\n@run\nfile: neither.md\n" },
    lines: [
      'main.md:2:1: error: file not found: "no.md"',
      'main.md:5:1: error: file not found: "neither.md"',
    ],
  },
  "a callee with mistakes": {
    files: {
      ...at("@run\nfile: sub/c.md\ninputs: { nope: x }\n"),
      "sub/c.md": "# C\n\n@llm\nmodel: [x]\n\n@goto\n",
    },
    lines: [
      'main.md:8:1: error: sub/c.md has no input "nope"',
      'sub/c.md:3:1: error: @llm needs "prompt" or "block"',
      "sub/c.md:4:1: error: model must be text",
      'sub/c.md:6:1: error: @goto needs "block"',
    ],
  },
  "a model that is unknown": {
    files: at("@llm\nprompt: x\nmodel: nobody/x\n"),
    lines: ['main.md:8:1: error: unknown provider "nobody"'],
  },
  "a tool that is unknown": {
    files: at("@llm\nprompt: x\ntools: [Calculat]\n"),
    lines: ['main.md:8:1: error: unknown tool "Calculat" (did you mean "Calculate"?)'],
  },
  "a condition": {
    files: at("@llm\nprompt: x\nif: { block: a }\n"),
    lines: [
      "main.md:8:1: error: if needs block and exactly one of equals, not-equals, contains, matches, exists",
    ],
  },
};

for (const [name, { files, lines }] of Object.entries(STATIC)) {
  Deno.test(`document, bad input: ${name}`, async () => {
    await using project = await testProject({
      "orrery.yaml": "models: { default: script/echo }\n",
      ...files,
    });
    await project.write("main.ctx", "an older one");
    for (const command of [["run", "main.md", "--allow-all"], ["check", "main.md", "--allow-all"]]) {
      const { code, stdout, stderr } = await project.run(
        command[0] === "check" ? command.slice(0, 2) : command,
      );
      assert.deepEqual(
        [code, stdout, stderr.split("\n").filter((line) => line.includes(": error: "))],
        [2, "", lines],
        `${command[0]}: ${stderr}`,
      );
    }
    assert.equal(await project.read("main.ctx"), "an older one");
    await assert.rejects(project.read("ran.txt"), Deno.errors.NotFound);
  });
}

Deno.test("document, bad input: YAML that is wrong is told at the place of the parser", async () => {
  await using project = await testProject({
    "main.md": '# A\n\n@llm\nprompt: "a\nblock: [x\n\n# B\n\n@shell\nprompt: {a: b\n',
  });
  const { code, stderr } = await project.run(["run", "main.md", "-A"]);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /^main\.md:\d+:\d+: error: /);
  assert.doesNotMatch(stderr, /mistake in Orrery/);
});

interface Late {
  readonly files: Readonly<Record<string, string>>;
  readonly error: string;
  /** Of the result document, which has the error as its last block but for what follows in the source. */
  readonly kept: RegExp;
}

const LATE: Readonly<Record<string, Late>> = {
  "a provider that fails in the middle": {
    files: { "main.md": "# A\n\n@llm\nprompt: One\n\n@llm\nprompt: FAIL\n\n@llm\nprompt: Three\n" },
    error: "main.md:6:1: error: @llm: model call failed: script provider failed",
    kept:
      /# LLM response block\nECHO\[One\]\n\n@llm\nprompt: FAIL\n\n# Error\nmain\.md:6:1: error: @llm: model call failed: script provider failed\n\n@llm\nprompt: Three\n$/,
  },
  "an answer that is not the schema": {
    files: {
      "main.md":
        "# A\n\n@llm\nprompt: First\n\n@llm\nprompt: |\n  SAY:\n  [1]\nretries: 0\nschema: { type: object }\n\n@llm\nprompt: Never\n",
    },
    error: "main.md:6:1: error: @llm: the answer does not match the schema after 1 attempt: /: type",
    kept: /ECHO\[First\]\n\n@llm\nprompt: \|[\s\S]*\n# Error\nmain\.md:6:1: error: /,
  },
  "too many jumps": {
    files: { "main.md": "---\nlimits: { goto: 2 }\n---\n# A\n\n@shell\nprompt: echo x\n\n@goto\nblock: a\n" },
    error: 'main.md:9:1: error: @goto: more than 2 jumps to "a" (limits.goto)',
    kept: /(# OS Shell Tool response block\nx\n\n){3}@goto\nblock: a\n\n# Error\n/,
  },
  "a block that no answer made": {
    files: { "main.md": "# A\n\n@llm\nprompt: One\n\n@return\nblock: nowhere\n" },
    error: 'main.md:6:1: error: @return: no block "nowhere"',
    kept: /ECHO\[One\]\n\n@return\nblock: nowhere\n\n# Error\n/,
  },
  "a file that no command made": {
    files: { "main.md": "# A\n\n@shell\nprompt: echo x\n\n@import\nfile: made.md\n" },
    error: 'main.md:6:1: error: @import: file not found: "made.md"',
    kept: /block\nx\n\n@import\nfile: made\.md\n\n# Error\n/,
  },
  "a callee that fails": {
    files: {
      "main.md": "# A\n\n@llm\nprompt: One\n\n@run\nfile: c.md\n",
      "c.md": "# C\n\n@llm\nprompt: FAIL\n\n@return\nprompt: x\n",
    },
    error:
      "main.md:6:1: error: @run: c.md failed: c.md:3:1: error: @llm: model call failed: script provider failed",
    kept: /ECHO\[One\]\n\n@run\nfile: c\.md\n\n# Error\n/,
  },
  "a document that runs itself": {
    files: { "main.md": "# A\n\n@run\nfile: main.md\n" },
    error:
      "main.md:3:1: error: @run: main.md failed: main.md:3:1: error: @run: @run is nested 16 deep (main.md -> main.md -> main.md -> ...): a document that runs itself never ends",
    kept: /@run\nfile: main\.md\n\n# Error\n/,
  },
  "an operation that was generated and is wrong": {
    files: { "main.md": "# A\n\n@llm\nprompt: |\n  SAY:\n  @llm\n  promt: x\nrun-generated: true\n" },
    error:
      'main.md:3:1: error: @llm: generated operation: main.md:2:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
    kept: /# Error\nmain\.md:3:1/,
  },
};

for (const [name, { files, error, kept }] of Object.entries(LATE)) {
  Deno.test(`document, operation error: ${name}`, async () => {
    if (Deno.build.os === "windows") {
      return console.log("not run here: the commands are those of a POSIX shell");
    }
    await using project = await testProject({
      "orrery.yaml": "models: { default: script/echo }\n",
      ...files,
    });
    const { code, stdout, stderr } = await project.run(["run", "main.md", "--allow-run"]);
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.ok(stderr.split("\n").includes(error), stderr);
    assert.match(await project.read("main.ctx"), kept);
  });
}

Deno.test("document, operation error: a callee that returns nothing is a warning, and nothing is merged", async () => {
  await using project = await testProject({ "main.md": "# A\n\n@run\nfile: c.md\n", "c.md": "# C\n" });
  const { code, stdout, stderr } = await project.run(["run", "main.md"]);
  assert.deepEqual([code, stdout], [0, ""], stderr);
  assert.match(stderr, /^main\.md:3:1: warning: c\.md reached no @return: nothing is merged$/m);
  assert.equal(await project.read("main.ctx"), "# A\n\n@run\nfile: c.md\n");
});

Deno.test("document: a schema file with a byte order mark is taken by the check and by the run", async () => {
  await using at = await testProject({
    "orrery.yaml": "models: { default: script/r.yaml }\n",
    "r.yaml": "- text: '{}'\n",
    "s.json": '\uFEFF{"type":"object"}',
    "main.md": "# A\n\n@llm\nprompt: Go\nschema: s.json\n",
  });
  const { code, stdout, stderr } = await at.run(["run", "main.md", "-q"]);
  assert.deepEqual([code, stdout, stderr], [0, "{}\n", ""]);
});
