// Modules that import what they may not, written so that a reader of imports could miss it. Each is the whole text of a module.

const run = (body: string): string =>
  `export default { name: "Attack", description: "Test.", run: ${body} };\n`;
const staticImport = (line: string): string => `${line}\n${run("() => JSON.stringify(globalThis.s ?? s)")}`;
const dynamic = (expression: string): string => run(`async () => JSON.stringify(await ${expression})`);

const JSON_URL = "file://@SECRET_JSON@";
const JS_URL = "file://@SECRET_JS@";
const WITH = `{ with: { type: "json" } }`;

/** By what is odd about them. */
export const IMPORT_TRICKS: Readonly<Record<string, string>> = {
  "a comment before the bracket": dynamic(`import /* ( */ ("${JSON_URL}", ${WITH})`),
  "a line break before the bracket": dynamic(`import\n// "x"\n("${JSON_URL}", ${WITH})`),
  "a comment in the bracket": dynamic(`import(/* "./_x.ts" */ "${JSON_URL}", ${WITH})`),
  "a template literal": dynamic(`import(\`${JSON_URL}\`, ${WITH})`),
  "a template with a hole": dynamic(`import(\`\${"file:"}//@SECRET_JSON@\`, ${WITH})`),
  "escapes in the specifier": dynamic(`import("\\u0066ile://@SECRET_JSON@", ${WITH})`),
  "escapes in a static specifier": staticImport(`import s from "\\x66ile://@SECRET_JS@";`),
  "an octal escape": staticImport(`import s from "f\\u{69}le://@SECRET_JS@";`),
  "no blank": staticImport(`import s from"${JS_URL}";`),
  "everything at once": staticImport(`import/**/*as/**/s/**/from/**/"${JS_URL}"`),
  "for its effect": staticImport(`import "${JS_URL}"; const s = 1;`).replace("?? s", "?? 1"),
  "re-exported": `export * from "${JS_URL}";\n${run("() => 1")}`,
  "re-exported as a name": `export * as s from "${JS_URL}";\n${run("() => 1")}`,
  "re-exported as default": `export { default } from "${JS_URL}";\n`,
  "a string as a name": `import { "default" as s } from "${JS_URL}";\n${run("() => s")}`,
  "behind a regular expression": `const r = /"/; import s from "${JS_URL}"; const q = /"/;\n${
    run("() => s")
  }`,
  "behind a division": run(
    `async () => { let a = 4, g = 2; a /import("${JS_URL}")/ g; return (await import("${JS_URL}")).default; }`,
  ),
  "in a template": run(`async () => \`\${(await import("${JS_URL}")).default}\``),
  "in a nested template": run(`async () => \`\${\`\${(await import("${JS_URL}")).default}\`}\``),
  "in a class": `class A { static s = import("${JS_URL}"); }\n${run("async () => (await A.s).default")}`,
  "in a default value": run(`async (_, __, s = import("${JS_URL}")) => (await s).default`),
  "in a decorator's place": `const a = { [await import("${JS_URL}").then((m) => m.default)]: 1 };\n${
    run("() => Object.keys(a)[0]")
  }`,
  "with an attribute of its own": dynamic(`import("${JS_URL}", { with: {} })`),
  "as text": dynamic(`import("file://@SECRET_TXT@", { with: { type: "text" } })`),
  "as bytes": dynamic(`import("file://@SECRET_TXT@", { with: { type: "bytes" } })`),
  "source phase": staticImport(`import source s from "${JS_URL}";`),
  "deferred": staticImport(`import defer * as s from "${JS_URL}";`),
  "source phase, dynamic": dynamic(`import.source("${JS_URL}")`),
  "deferred, dynamic": dynamic(`import.defer("${JS_URL}")`),
  "require as TypeScript has it": `import s = require("${JS_URL}");\n${run("() => s")}`,
  "assert in place of with": dynamic(`import("${JSON_URL}", { assert: { type: "json" } })`),
  "http": staticImport(`import s from "http://127.0.0.1:@PORT@/x.js";`),
  "https": staticImport(`import s from "https://127.0.0.1:@PORT@/x.js";`),
  "data": staticImport(
    `import s from "data:text/javascript,import s from 'file://@SECRET_JS@'; export default s";`,
  ),
  "data, dynamic": dynamic(`import("data:text/javascript,export%20*%20from%20'file://@SECRET_JS@'")`),
  "absolute path": staticImport(`import s from "@SECRET_JS@";`),
  "scheme-relative": staticImport(`import s from "//@SECRET_JS@";`),
  "out of the folder": staticImport(`import s from "../../outside/secret.js";`),
  "out of the folder, encoded": staticImport(`import s from "./%2e%2e/%2e%2e/outside/secret.js";`),
  "out of the folder by backslashes": staticImport(`import s from ".\\\\..\\\\..\\\\outside\\\\secret.js";`),
  "out of the folder by a query": staticImport(`import s from "./_fine.ts?/../../../outside/secret.js";`),
  "a link out of the folder": staticImport(`import s from "./_link.js";`),
  "a folder that is a link": staticImport(`import s from "./_folder/secret.js";`),
  "a link to a link": staticImport(`import s from "./_chain.js";`),
  "a module that imports further": staticImport(`import s from "./_further.ts";`),
  "a cycle that leads out": staticImport(`import s from "./_cycle.ts";`),
  "node:module": staticImport(
    `import { createRequire } from "node:module"; const s = createRequire(import.meta.url)("@SECRET_JSON@");`,
  ),
  "module": staticImport(
    `import { createRequire } from "module"; const s = createRequire(import.meta.url)("@SECRET_JSON@");`,
  ),
  "node:vm": staticImport(`import vm from "node:vm"; const s = vm.runInThisContext("1");`),
  "a package file": staticImport(`import s from "kept";`),
  "import.meta.resolve": run(`async () => (await import(import.meta.resolve("${JS_URL}"))).default`),
  "its own address": run(
    `async () => (await import(import.meta.url.replace(/gadgets.*/, "") + "../outside/secret.js")).default`,
  ),
  "an object as specifier": run(`async () => (await import({ toString: () => "${JS_URL}" })).default`),
  "an object that changes": run(
    `async () => { let n = 0; return (await import({ toString: () => n++ === 0 ? "./_fine.ts" : "${JS_URL}" })).default; }`,
  ),
  "an array": run(`async () => (await import(["${JS_URL}"])).default`),
  "a map of the sources": `//# sourceMappingURL=file://@SECRET_JSON@\n${
    run(`() => { throw new Error("mapped"); }`)
  }`,
  "a JSX pragma": `/** @jsxImportSource file://@SECRET_JS@ */\n/** @jsxRuntime automatic */\n${
    run("() => JSON.stringify(1)")
  }`,
  "types from elsewhere":
    `// @deno-types="file://@SECRET_JS@"\nimport s from "./_fine.ts";\n/// <reference types="file://@SECRET_JS@" />\n${
      run("() => s")
    }`,
  "a hashbang and a mark": `\ufeff#!/usr/bin/env deno\nimport s from "${JS_URL}";\n${run("() => s")}`,
  "an HTML comment": `<!-- import s from "x";\n${dynamic(`import("${JS_URL}")`)}`,
  "a line separator": `//\u2028import s from "${JS_URL}";\n${run("() => s")}`,
  "the word in a string": run(`() => eval('imp' + 'ort("${JS_URL}")')`),
  "an identifier with escapes": dynamic(`im\\u0070ort("${JS_URL}")`),
  "a name for the function": dynamic(`((f) => f("${JS_URL}"))((x) => import(x))`),
  "optional": dynamic(`import?.("${JS_URL}")`),
  "new": dynamic(`new import("${JS_URL}")`),
  "in an enum": `enum E { A = "x" }\nnamespace N { export const s = import("${JS_URL}"); }\n${
    run("async () => (await N.s).default + E.A")
  }`,
  "behind generics": run(
    `async () => { const f = <T,>(x: T) => x; return (await f<unknown>(import("${JS_URL}")) as { default: string }).default; }`,
  ),
  "as a type only": `import type s from "${JS_URL}";\n${run("() => typeof (globalThis as { s?: s }).s")}`,
  "a type that is used": `import { type default as s } from "${JS_URL}";\n${run("() => 1")}`,
};

/** What lies beside them. */
export const BESIDE_TRICKS: Readonly<Record<string, string>> = {
  "gadgets/_fine.ts": `export default "fine";\n`,
  "gadgets/_link.js": "-> @SECRET_JS@",
  "gadgets/_folder": "-> @OUTSIDE@",
  "gadgets/_chain.js": "-> _link.js",
  "gadgets/_further.ts": `export { default } from "../../outside/secret.js";\n`,
  "gadgets/_cycle.ts": `export { s as default } from "./_cycle2.ts";\n`,
  "gadgets/_cycle2.ts":
    `import * as back from "./_cycle.ts";\nimport s from "file://@SECRET_JS@";\nexport { s, back };\n`,
};

/** Imports nothing that is forbidden, so that a result is right too. */
export const HARMLESS_TRICKS: readonly string[] = [
  "a map of the sources",
  "a JSX pragma",
  "types from elsewhere",
  "as a type only",
  "a type that is used",
  "a line separator",
];
