import assert from "node:assert/strict";
import { join } from "node:path";
import { IMPORT_TABLE } from "./architecture/import_table.ts";
import { readModules, type Rule } from "./architecture/project.ts";
import { readProject } from "./architecture/project_tree.ts";
import { RULES } from "./architecture/rules.ts";
import { PROJECT_ROOT } from "./_run.ts";

Deno.test("the project keeps its shape", async (t) => {
  const project = readModules(await readProject(PROJECT_ROOT));
  assert.ok(project.modules.has("mod.ts") && project.modules.has("main.ts"), "the two doors are there");
  for (const [name, rule] of Object.entries(RULES)) {
    await t.step(name, () => assert.deepEqual(rule(project), []));
  }
  await t.step("lib/README.md tells of every room", () => {
    const text = project.tree.get("lib/README.md") ?? "";
    const rooms = new Set(
      [...project.modules.keys()].flatMap((path) => /^lib\/([^/]+)\//.exec(path)?.[1] ?? []),
    );
    assert.deepEqual([...rooms].filter((room) => !new RegExp(`\\b${room}\\b`).test(text)), []);
  });
});

Deno.test("nothing that is made is in the repository", async () => {
  const tracked = await trackedFiles();
  if (tracked === undefined) {
    return console.log("not run here: this is no git checkout, or git is not installed");
  }
  const made = tracked.filter((path) => /^(dist|coverage|node_modules|\.orrery)\/|\.tmp$/.test(path));
  assert.deepEqual(made, []);
});

async function trackedFiles(): Promise<readonly string[] | undefined> {
  const hasGit = await Deno.stat(join(PROJECT_ROOT, ".git")).then(() => true, () => false);
  if (!hasGit) return undefined;
  const listing = new Deno.Command("git", { args: ["ls-files", "-z"], cwd: PROJECT_ROOT }).output().catch(
    () => undefined,
  );
  const output = await listing;
  return output?.success
    ? new TextDecoder().decode(output.stdout).split("\0").filter((path) => path !== "")
    : undefined;
}

// The test of the test: each rule is shown a false project.

type Files = Readonly<Record<string, string>>;

const CONFIG = {
  "deno.json": `{ "imports": { "orrery": "./mod.ts", "yaml": "npm:yaml@1.0.0", "zod": "npm:zod@1.0.0" } }`,
  "tests/deno_tests.json":
    `{ "imports": { "yaml": "npm:yaml@1.0.0", "zod": "npm:zod@1.0.0", "fast-check": "npm:fast-check@1.0.0" } }`,
};

function problems(rule: keyof typeof RULES & string, files: Files): readonly string[] {
  const check: Rule | undefined = RULES[rule];
  assert.ok(check);
  return check(readModules(new Map(Object.entries({ ...CONFIG, ...files }))));
}

/** Every line is one broken rule: what it is, the false files, and what the message must hold. */
const BROKEN: readonly (readonly [rule: string, what: string, files: Files, expected: string])[] = [
  [
    "oneDoor",
    "a second app",
    { "lib/server/b.ts": `import type { Hono } from "hono";\nnew Hono();` },
    "lib/server/b.ts:2: says new Hono: only lib/server/server.ts may",
  ],
  [
    "oneDoor",
    "the router under another name",
    { "lib/server/b.ts": `import { Hono as Small } from "hono/tiny";\nnew Small();` },
    "lib/server/b.ts:1: imports hono/tiny: only lib/server/server.ts may",
  ],
  [
    "oneDoor",
    "the router on demand",
    { "lib/server/b.ts": `await import("hono" as string);` },
    "lib/server/b.ts:1: imports hono: only lib/server/server.ts may",
  ],
  [
    "oneDoor",
    "a second socket",
    { "lib/host/b.ts": `Deno["serve"](() => new Response());` },
    "lib/host/b.ts:1: says Deno.serve: only lib/host/http/serve.ts may",
  ],
  [
    "oneDoor",
    "a step that begins elsewhere",
    { "lib/run/calls/b.ts": `\nthis.#run.beginStep(step);` },
    "lib/run/calls/b.ts:2: says beginStep: only lib/run/effect.ts may",
  ],
  [
    "oneDoor",
    "a step that ends elsewhere",
    { "lib/service/b.ts": `const { run } = held;\nrun["endStep"](key, outcome);` },
    "lib/service/b.ts:2: says endStep: only lib/run/effect.ts may",
  ],
  [
    "oneDoor",
    "a step past the run",
    { "lib/project/b.ts": `this.#options.journal.begin(step);\njournal.finish(key, outcome);` },
    "lib/project/b.ts:1: says journal.begin: only lib/run/run.ts may",
  ],
  [
    "testsAtDoors",
    "tests that come in by a helper",
    {
      "tests/_inner.ts": `import type { B } from "../lib/run/b.ts";`,
      ...Object.fromEntries(
        Array.from({ length: 51 }, (_, index) => [`tests/t${index}_test.ts`, `import "./_inner.ts";`]),
      ),
    },
    "tests: 51 test files import what is no door",
  ],
  [
    "importDirection",
    "a room imports one it may not",
    { "lib/core/a.ts": `import "../run/b.ts";` },
    "lib/core/a.ts:1: core may not import run",
  ],
  [
    "importDirection",
    "a type counts",
    { "lib/parse/a.ts": `\nimport type { B } from "../run/b.ts";` },
    "lib/parse/a.ts:2: parse may not import run",
  ],
  [
    "importDirection",
    "a type in place counts",
    { "lib/parse/a.ts": `type B = import("../run/b.ts").B;` },
    "parse may not import run",
  ],
  [
    "importDirection",
    "import() counts",
    { "lib/schema/a.ts": `await import("../cli/b.ts");` },
    "schema may not import cli",
  ],
  [
    "importDirection",
    "a re-export counts",
    { "lib/schema/a.ts": `export { x } from "../cli/b.ts";` },
    "schema may not import cli",
  ],
  [
    "importDirection",
    "export * counts",
    { "lib/schema/a.ts": `export * from "../cli/b.ts";` },
    "schema may not import cli",
  ],
  [
    "importDirection",
    "a room that nobody listed",
    { "lib/stuff/a.ts": `import "./b.ts";` },
    `"stuff" is not in the import table`,
  ],
  [
    "importDirection",
    "a gadget imports the policy",
    { "gadgets/a.ts": `import "../lib/policy/b.ts";` },
    "gadgets may not import policy",
  ],
  [
    "importDirection",
    "lib imports the door",
    { "lib/run/a.ts": `import "../../mod.ts";` },
    "run may not import mod.ts",
  ],
  [
    "importDirection",
    "product imports a test",
    { "lib/cli/a.ts": `import "../../tests/b.ts";` },
    "may not import tests",
  ],
  [
    "importTargets",
    "a path out of the project",
    { "tests/a_test.ts": `import "../../x/y.ts";` },
    "no file of the project",
  ],
  [
    "importTargets",
    "a file that is not there",
    { "lib/core/a.ts": `import "./gone.ts";` },
    `imports "./gone.ts", which is no file`,
  ],
  [
    "importTargets",
    "a URL",
    { "lib/core/a.ts": `import "https://example.com/a.ts";` },
    "expected a relative path",
  ],
  [
    "importTargets",
    "an absolute path",
    { "lib/core/a.ts": `import "/etc/a.ts";` },
    "expected a relative path",
  ],
  ["importTargets", "lib uses the public name", { "lib/core/a.ts": `import "orrery";` }, `imports "orrery"`],
  ["packagesInOneRoom", "a package in two rooms", {
    "lib/parse/a.ts": `import "yaml";`,
    "lib/catalog/b.ts": `await import("yaml/util");`,
  }, "yaml is imported in catalog and in parse"],
  [
    "packagesInOneRoom",
    "a package past the import map",
    { "lib/parse/a.ts": `import "npm:yaml@1";` },
    "deno.json does not list",
  ],
  [
    "packagesInOneRoom",
    "a package of the tests",
    { "lib/schema/a.ts": `import { z } from "zod";` },
    "zod, which is for examples only",
  ],
  [
    "packagesInOneRoom",
    "a package of the tests in the product",
    { "lib/schema/a.ts": `import fc from "fast-check";`, "tests/a_test.ts": `import fc from "fast-check";` },
    `lib/schema/a.ts:1: imports "fast-check", which deno.json does not list`,
  ],
  [
    "packagesInOneRoom",
    "two versions of a package",
    { "tests/deno_tests.json": `{ "imports": { "yaml": "npm:yaml@2.0.0", "zod": "npm:zod@1.0.0" } }` },
    "tests/deno_tests.json: yaml",
  ],
  ["effectsInHost", "Deno", { "lib/run/a.ts": `\n\nDeno.exit(1);` }, "lib/run/a.ts:3: says Deno"],
  ["effectsInHost", "Deno taken apart", { "lib/run/a.ts": `const { env } = Deno;` }, "says Deno"],
  ["effectsInHost", "Deno in a template", { "lib/run/a.ts": "const a = `x ${Deno.cwd()}`;" }, "says Deno"],
  [
    "effectsInHost",
    "Deno by way of globalThis",
    { "lib/run/a.ts": `globalThis.Deno; globalThis["Deno"];` },
    "says Deno",
  ],
  ["effectsInHost", "the global process", { "gadgets/a.ts": `process.env.X;` }, "says process"],
  ["effectsInHost", "the global fetch", { "gadgets/a.ts": `await fetch("x");` }, "says fetch"],
  ["effectsInHost", "a module of Node", { "lib/run/a.ts": `import "node:fs";` }, "imports node:fs"],
  [
    "effectsInHost",
    "SQLite in another room",
    { "lib/run/a.ts": `import "node:sqlite";` },
    "imports node:sqlite",
  ],
  [
    "effectsInHost",
    "a computed import",
    { "lib/run/a.ts": `const f = (x: string) => import(x);` },
    "import() of a computed name",
  ],
  [
    "oneInnerDoor",
    "a command that opens a project",
    { "lib/project/a.ts": `export const a = 1;`, "lib/cli/b.ts": `import { a } from "../project/a.ts";` },
    "lib/cli/b.ts:1: takes a value of lib/project/a.ts",
  ],
  [
    "oneInnerDoor",
    "a command that loads an engine late",
    { "lib/run/a.ts": `export const a = 1;`, "lib/cli/b.ts": `\nawait import("../run/a.ts" as string);` },
    "lib/cli/b.ts:2: takes a value of lib/run/a.ts",
  ],
  [
    "oneInnerDoor",
    "a server with a journal of its own",
    { "lib/journal/a.ts": `export const a = 1;`, "lib/server/b.ts": `export { a } from "../journal/a.ts";` },
    "lib/server/b.ts:1: takes a value of lib/journal/a.ts",
  ],
  [
    "oneInnerDoor",
    "what a program gets that opens a project by itself",
    { "lib/project/a.ts": `export const a = 1;`, "mod.ts": `export { a } from "./lib/project/a.ts";` },
    "mod.ts:1: takes a value of lib/project/a.ts",
  ],
  ["lightStart", "a package at every start", {
    "main.ts": `import "./lib/cli/a.ts";`,
    "lib/cli/a.ts": `import "yaml";`,
  }, "lib/cli/a.ts:1: yaml is loaded at every start"],
  ["coreByItsDoor", "a word past the door", {
    "lib/core/a.ts": `export const a = 1;`,
    "lib/run/b.ts": `import { a } from "../core/a.ts";\nexport const b = a;`,
  }, "import lib/core/core.ts"],
  ["kindsByTheirRows", "a part of a kind past its row", {
    "lib/service/kinds/calls/start.ts": `export const a = 1;`,
    "lib/server/b.ts": `import { a } from "../service/kinds/calls/start.ts";\nexport const b = a;`,
  }, "a kind is reached by its row"],
  ["kindsByTheirRows", "a row that loads its work", {
    "lib/service/kinds/calls/start.ts": `export const a = 1;`,
    "lib/service/kinds/calls/calls.ts": `import { a } from "./start.ts";\nexport const calls = a;`,
  }, "a row is light"],
  ["noEscapes", "any", { "lib/core/a.ts": `export const a = (x: any) => x;` }, "`any`"],
  [
    "noEscapes",
    "a non-null assertion",
    { "lib/core/a.ts": `export const a = (x?: { y: 1 }) => x!.y;` },
    "non-null",
  ],
  ["noEscapes", "a silenced type error", {
    "lib/core/a.ts": `// @ts-${"ignore"} so\nexport const a: number = "x";`,
  }, "a comment says @ts-"],
  [
    "noEscapes",
    "a silenced lint",
    { "lib/core/a.ts": `// deno-lint-${"ignore"} no-x\nexport {};` },
    "a comment says deno-lint-",
  ],
  ["noEscapes", "unfinished work", { "lib/core/a.ts": `/* TO${"DO"}: write it */` }, "a comment says TO"],
  ["fileNames", "camel case", { "lib/core/sourceError.ts": "" }, "snake_case"],
  ["fileNames", "kebab case", { "lib/core/source-error.ts": "" }, "snake_case"],
  ["fileNames", "index.ts", { "lib/core/index.ts": "" }, "never index.ts"],
  ["fileNames", "utils", { "lib/core/string_utils.ts": "" }, "not utils"],
  ["fileNames", "helpers", { "lib/core/helpers.ts": "" }, "not utils"],
  ["fileNames", "a folder of helpers", { "lib/helpers/a.ts": "" }, "not utils"],
  ["fileNames", "a manager", { "lib/run/run_manager.ts": "" }, "manager"],
  ["fileNames", "a stray file at the top", { "notes.txt": "" }, "not expected at the top"],
  [
    "standsAlone",
    "a folder of a machine",
    { "lib/core/a.ts": `// see /${"work"}/main` },
    "lib/core/a.ts:1: says",
  ],
  [
    "standsAlone",
    "a folder beside the project",
    { "README.md": `a\n[x](../${"shared"}/x)` },
    "README.md:2: says",
  ],
  ["documentedExports", "no JSDoc", {
    "mod.ts": `export { a } from "./lib/core/a.ts";`,
    "lib/core/a.ts": `export const a = 1;`,
  }, `"a" has no JSDoc`],
  ["documentedExports", "no example", {
    "mod.ts": `export { a } from "./lib/core/a.ts";`,
    "lib/core/a.ts": `/** One. */\nexport const a = 1;`,
  }, `"a" has no example`],
  ["documentedExports", "everything of a module", {
    "mod.ts": `export * from "./lib/core/a.ts";`,
    "lib/core/a.ts": "",
  }, "export * hides"],
];

for (const [rule, what, files, expected] of BROKEN) {
  Deno.test(`the rule ${rule} sees ${what}`, () => {
    const found = problems(rule, files);
    assert.ok(
      found.some((problem) => problem.includes(expected)),
      `expected "${expected}" in ${JSON.stringify(found)}`,
    );
  });
}

/** What looks like a broken rule and is none. */
const SOUND: readonly (readonly [what: string, files: Files])[] = [
  ["words in comments, strings and regular expressions", {
    "lib/run/a.ts":
      `// Deno.cwd() any TO-DO\nexport const a = ["Deno.x", 'import "node:fs"', \`Deno\`, /Deno.x!./, "x as any"];`,
  }],
  ["names that are keys or the module's own", {
    "lib/run/a.ts":
      `export interface Http { fetch(url: string): void }\nexport const a = (http: Http) => http.fetch("x");\n` +
      `export const b = (fetch: (url: string) => void) => fetch("x");`,
  }],
  ["the host's effects", {
    "lib/host/a.ts": `import "node:net";\nexport const a = (file: string) => [Deno.cwd(), import(file)];`,
  }],
  ["a type of Node's", { "gadgets/a.ts": `import type { DatabaseSync } from "node:sqlite";` }],
  ["SQLite in its gadget", { "gadgets/sql/sql_query.ts": `await import("node:sqlite");` }],
  ["a test's own world", {
    "tests/a_test.ts": `import { z } from "zod";\nimport "orrery";\nDeno.cwd() as any;`,
    "mod.ts": "",
  }],
  ["import() of a package on demand", {
    "main.ts": `import "./lib/cli/a.ts";`,
    "lib/cli/a.ts": `await import("yaml");`,
  }],
  ["a type of what is beneath the service, and a value of it", {
    "lib/run/a.ts": "export interface A {}",
    "lib/service/a.ts": "export const b = 1;",
    "lib/cli/b.ts":
      `import type { A } from "../run/a.ts";\nimport { b } from "../service/a.ts";\nexport const c: A = b;`,
  }],
  ["the CI script's neighbours", { ".ci/run": `cd ../${"shared"} && cd /${"work"}` }],
  ["words that begin like a place", { "README.md": "src/workers /workflow https://example.com/work" }],
  ["a documented value and a documented type", {
    "mod.ts": `export { a, type T } from "./lib/core/a.ts";`,
    "lib/core/a.ts":
      "/**\n * One.\n *\n * ```ts\n * a;\n * ```\n */\nexport const a = 1;\n/** A type. */\nexport type T = 1;",
  }],
];

for (const [what, files] of SOUND) {
  Deno.test(`the rules let pass: ${what}`, () => {
    for (const rule of Object.keys(RULES)) assert.deepEqual(problems(rule, files), [], rule);
  });
}

Deno.test("the import table has no two rooms that import each other", () => {
  const allowed = (room: string) => IMPORT_TABLE[room] ?? [];
  for (const [room, targets] of Object.entries(IMPORT_TABLE)) {
    if (targets === "all") continue;
    for (const target of targets) assert.ok(!allowed(target).includes(room), `${room} and ${target}`);
  }
});
