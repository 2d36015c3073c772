// A text of TypeScript that breaks its reader is the error of that text alone.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Files, memoryFiles } from "../mod.ts";
import { decodeUtf8 } from "../lib/core/file_text.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { facadeFile } from "../lib/sandbox/facade_modules.ts";
import { mapStack } from "../lib/sandbox/gate/map_stack.ts";
import { type PreparedGraph, prepareModules } from "../lib/sandbox/gate/prepare_modules.ts";
import { CWD, FACADES, gate, gated, refusal, refused } from "./_gate.ts";
import { ENDLESS_CLASS } from "./_endless_types.ts";
import { plainModule } from "../lib/sandbox/gate/plain_module.ts";

const HELPER = "__orreryGadget";
const URL_A = "file:///project/gadgets/a.ts";

Deno.test("attack modules that import foreign files are refused while loading, the others pass", async () => {
  const folder = fileURLToPath(new URL("spec/sandbox/", import.meta.url));
  const files: Record<string, string> = {};
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".ts")) {
      files[`gadgets/${name}`] = (await Deno.readTextFile(join(folder, name)))
        .replaceAll("@SECRET_TXT@", "/secret/s.txt").replaceAll("@SECRET_JSON@", "/secret/s.json")
        .replaceAll("@SECRET_JS@", "/secret/s.js").replaceAll("@PORT@", "1");
    }
  }
  const disk = memoryFiles({ ...files, "/secret/s.json": '"TOPSECRET"', "/secret/s.js": "TOPSECRET" });
  const refusedOnes: string[] = [];
  for (const path of Object.keys(files)) {
    const graph = await gate(disk, { entry: path, compiled: true }).catch(() => refusedOnes.push(path));
    assert.doesNotMatch(JSON.stringify(graph), /TOPSECRET.*code/);
  }
  assert.deepEqual(refusedOnes.sort(), [
    "gadgets/create_require.ts",
    "gadgets/dotdot.ts",
    "gadgets/literal_import.ts",
    "gadgets/static_js.ts",
    "gadgets/static_json.ts",
    "gadgets/static_text.ts",
  ]);
  const computed = await gate(disk, { entry: "gadgets/computed_import.ts" });
  assert.match(
    computed.modules[0]?.code ?? "",
    /\.importFrom\("file:\/\/\/project\/gadgets\/computed_import\.ts", \[/,
  );
  assert.equal((await gate(disk, { entry: "gadgets/ok_relative.ts" })).modules.length, 2);
});

/** What is written, and what becomes of it. */
const WRITTEN: readonly (readonly [source: string, code: string])[] = [
  [`import b from "./b.ts"; b;`, `import b from "./1.js";\nb;`],
  [`import/* c */{b as x,}from'./b.ts' ; x`, `import { b as x } from "./1.js";`],
  [`import b, * as all from "./b.ts"; b; all;`, `import b, * as all from "./1.js";`],
  [`import b, { default as c } from "./b.ts"; b; c;`, `import b, { default as c } from "./1.js";`],
  [`import "./b.ts";`, `import "./1.js";`],
  [`import { "b" as x } from "./b.ts"; x;`, `import { "b" as x } from "./1.js";`],
  [`import "./\\x62.ts";`, `import "./1.js";`],
  [`import "./%62.ts";`, `import "./1.js";`],
  [`export * from "./b.ts";`, `export * from "./1.js";`],
  [`export * as all from "./b.ts";`, `export * as all from "./1.js";`],
  [`export { b, b as "c d" } from "./b.ts";`, `export { b, b as "c d" } from "./1.js";`],
  [`import d from "./d.json" with { type: "json" }; d;`, `import d from "./1.js";`],
  [`await import("./b.ts");`, `await import("./1.js");`],
  [`await import(/* a */ "./b.ts" /* b */,);`, `await import("./1.js");`],
  ["await import(`./b.ts`);", `await import("./1.js");`],
  [`await import("./d.json", { with: { "type": "json" } });`, `await import("./1.js")`],
  [`await import("./b.ts", options);`, `await ${HELPER}.importFrom("${URL_A}", "./b.ts", options);`],
  [`await import("./" + "b.ts");`, `await ${HELPER}.importFrom("${URL_A}", "./" + "b.ts");`],
  ["await import(`./${x}.ts`);", `await ${HELPER}.importFrom("${URL_A}", \`./\${x}.ts\`);`],
  [
    `await import(await import("./b.ts"));`,
    `await ${HELPER}.importFrom("${URL_A}", await import("./1.js"));`,
  ],
  [`import.meta.url;`, `${HELPER}.metaOf\`${URL_A}\`.url;`],
  [`import fs from "node:fs"; fs;`, `import fs from "./_node_fs.js";`],
  [`import fs from "fs"; fs;`, `import fs from "./_node_fs.js";`],
  [`import { readFile } from "fs/promises"; readFile;`, `import { readFile } from "./_node_fs_promises.js";`],
  [`import { join } from "path"; join;`, `import { join } from "node:path";`],
  [`import { createHash } from "node:crypto"; createHash;`, `import { createHash } from "node:crypto";`],
  [`import { defineGadget } from "orrery"; defineGadget;`, `import { defineGadget } from "./_orrery.js";`],
  [`import { z } from "npm:zod@4.6.7"; z;`, `import { z } from "npm:zod@4.6.7";`],
  [`import core from "npm:@scope/x@^1.2/core.js"; core;`, `import core from "npm:@scope/x@^1.2/core.js";`],
];

for (const [source, code] of WRITTEN) {
  Deno.test(`the gate writes ${source}`, async () => {
    const found = await gated(source);
    assert.ok(found.includes(code), found);
  });
}

/** What is refused, and what the refusal says. */
const REFUSED: readonly (readonly [source: string, said: RegExp])[] = [
  [
    `import "file:///etc/x.ts";`,
    /^gadgets\/a\.ts:1:8: Cannot import "file:\/\/\/etc\/x\.ts": expected a file beside/,
  ],
  [`\n\nexport * from "https://example.com/x.ts";`, /^gadgets\/a\.ts:3:15: /],
  [`import "data:text/javascript,1";`, /expected a file beside/],
  [`import "blob:null/1";`, /expected a file beside/],
  [`import "jsr:@std/path";`, /expected a file beside/],
  [`import "/etc/x.ts";`, /expected a file beside/],
  [`import "\\\\\\\\server\\\\x.ts";`, /expected a file beside/],
  [`import "C:/x.ts";`, /expected a file beside/],
  [
    `import "../x.ts";`,
    /leads to x\.ts, which is not in the gadget's own folder \| Expected a file in gadgets, or below it/,
  ],
  [`import "../../../../etc/x.ts";`, /not in the gadget's own folder/],
  [`import "./%2e%2e/x.ts";`, /not in the gadget's own folder/],
  [`import ".\\\\..\\\\x.ts";`, /it names no file/],
  [`import "./..\\\\..\\\\x.ts";`, /not in the gadget's own folder/],
  [`import "./x%2Fy.ts";`, /it is no path of a file/],
  [`import "./b.ts?x";`, /has no \? and no #/],
  [`import "./b.ts#x";`, /has no \? and no #/],
  [`import "./b";`, /expected an ending \.ts/],
  [`import "./b.tsx";`, /JSX and CommonJS/],
  [`import "./b.wasm";`, /expected an ending/],
  [`import "./b.d.ts";`, /holds types only \| Write `import type`/],
  [`import "./gone.ts";`, /a\.ts:1:8: Cannot import "\.\/gone\.ts": there is no such file/],
  [`import "./.hidden.ts";`, /begin with a dot/],
  [`import d from "./d.json"; d;`, /JSON needs its attribute/],
  [`import b from "./b.ts" with { type: "json" }; b;`, /\{ type: "json" \} is not there/],
  [`import b from "./b.ts" with { type: "text" }; b;`, /\{ type: "text" \} is not there/],
  [`import b from "./d.json" with { type: "bytes" }; b;`, /JSON needs its attribute/],
  [`import b from "./d.json" with { type: "json", x: "y" }; b;`, /Cannot read this import/],
  [`import fs from "node:fs" with { type: "json" }; fs;`, /only files are imported with/],
  [`import source x from "./b.ts"; x;`, /Cannot read this import/],
  [`import defer * as x from "./b.ts"; x;`, /Cannot read this import/],
  [`import.source("./b.ts");`, /Cannot read this import/],
  [`import.defer("./b.ts");`, /Cannot read this import/],
  [`import "node:module";`, /a gadget has no such module \| There are node:assert, /],
  [`import "node:vm";`, /no such module/],
  [`import "worker_threads";`, /it names no file/],
  [`import "node:fs/../module";`, /no such module/],
  [`import "zod";`, /Write "\.\/zod" for a file, "npm:zod" for a package/],
  [`import "npm:";`, /no name of a package/],
  [`import "npm:../x";`, /no name of a package/],
  [`import "npm:x/../../y.ts\\"";`, /no name of a package/],
  [`import "";`, /it names no file/],
  [`await import("file:///etc/x.ts");`, /expected a file beside/],
  [`const x = <div/>;`, /a\.ts:1:\d+: Cannot read this TypeScript: Expression expected .*JSX/],
  [`<!-- x\nexport {};`, /Cannot read this TypeScript: Legacy comments/],
  [`imp\\u006frt("./b.ts");`, /Cannot read this TypeScript/],
  [`module A {}`, /Use `namespace` instead/],
  [`let a = ;`, /^gadgets\/a\.ts:1:9: Cannot read this TypeScript/],
];

for (const [source, said] of REFUSED) {
  Deno.test(`the gate refuses ${source}`, async () => assert.match(await refusal(source), said));
}

Deno.test("a refusal points at the import, also behind types that vanish", async () => {
  const text =
    `interface A {\n  a: string;\n}\nenum E { X }\nexport const e: A | E = E.X;\n  import x from "../x.ts"; x;\n`;
  assert.match(await refusal(text), /^gadgets\/a\.ts:6:17: Cannot import "\.\.\/x\.ts"/);
});

Deno.test("packages: not in the compiled binary", async () => {
  const work = gate({ "gadgets/a.ts": `import { z } from "npm:zod"; z;` }, { compiled: true });
  assert.match(await refused(work), /the compiled orrery cannot load packages \| Run Orrery with "deno run"/);
});

Deno.test("what is imported for its types alone is not loaded, and need not be there", async () => {
  const code = await gated(
    `import type { A } from "./gone.ts"; import { type B } from "/etc/x.ts"; import { C } from "npm:gone";\n` +
      `export type { D } from "file:///x.ts"; type E = import("./gone.ts").F;\n` +
      `export const a = (b: A, c: B, d: C, e: E) => [b, c, d, e];`,
  );
  assert.doesNotMatch(code, /import|gone|from/);
});

Deno.test("TypeScript that has to be written anew: enums, namespaces, parameter properties, class fields", async () => {
  const code = await gated(
    `enum A { B = 1, C }\nnamespace N { export const x = A.C }\nabstract class P { declare z: string; y; constructor(readonly x: number) {} }\n` +
      `export default [A.B, N.x, new (P as unknown as new (x: number) => P)(7).x, "y" in P.prototype] satisfies unknown[];`,
  );
  const { default: value } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  assert.deepEqual(value, [1, 2, 7, false]);
});

Deno.test("require and module.exports of TypeScript load nothing", async () => {
  assert.match(
    await gated(`import x = require("/etc/x"); export const a = x;`),
    /^const x = require\("\/etc\/x"\);/,
  );
  assert.match(await gated(`export = 1;`), /^module\.exports = 1;/);
});

Deno.test("JavaScript is not parsed as TypeScript, and keeps its lines", async () => {
  const text =
    `#!/usr/bin/env node\nimport {\n  b, // one\n} from "./b.ts"\n\nexport const x = f(b < 1, 2 > (3)); import.meta;\n`;
  assert.equal(
    await gated(text, { entry: "gadgets/a.js" }),
    `#!/usr/bin/env node\nimport { b } from "./1.js";\n\n\n\nexport const x = f(b < 1, 2 > (3)); ` +
      `${HELPER}.metaOf\`file:///project/gadgets/a.js\`;\n`,
  );
});

Deno.test("words that could be an import and were not found as one are written with an escape", async () => {
  const text = [
    `const a = "import x", b = 'export * from "y"', c = /^import\\b/, d = \`import \${a.import} export { x } from "y"\`;`,
    `// import("x") export * from "y"`,
    `const important = { import: 1, export: a?.export, "import(1)": 2 }, reimport = important; [...import\u200c("x")];`,
    `export { a, b }; export { c }\nfunction f() {}; export default reimport; export const e = 1; export async function g() {}`,
    `class A { import(x) {} async import(x) {} export(x) {} #import(x) { this.#import(this.import(x)); } }`,
  ].join("\n");
  assert.equal(
    await gated(text, { entry: "gadgets/a.js" }),
    [
      'const a = "imp\\u006frt x", b = \'exp\\u006frt * from "y"\', c = /^imp\\u006frt\\b/, ' +
      'd = `imp\\u006frt ${a.import} exp\\u006frt { x } from "y"`;',
      '// imp\\u006frt("x") exp\\u006frt * from "y"',
      'const important = { import: 1, export: a?.export, "imp\\u006frt(1)": 2 }, reimport = important; [...import\u200c("x")];',
      "export { a, b }; export { c }\nfunction f() {}; export default reimport; export const e = 1; export async function g() {}",
      'class A { "imp\\u006frt"(x) {} async "imp\\u006frt"(x) {} export(x) {} #import(x) { this.#import(this.import(x)); } }',
    ].join("\n"),
  );
});

Deno.test("such words mean what they meant", async () => {
  const text = `const o = { import: 1, export: "export { a } from 'b'", async import(a) { return a; } };\n` +
    `export default [await o.import(1), o.export, /^\\import+$/.test("import"), \`\\import\`, "\\\\import", /(?<import>.)/.exec("x").groups.import];`;
  const code = await gated(text, { entry: "gadgets/a.js" });
  assert.match(code, /imp\\u006frt/);
  const { default: value } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  assert.deepEqual(value, [1, "export { a } from 'b'", true, "import", "\\import", "x"]);
});

Deno.test("comments that name other files or another name for the module say nothing any more", async () => {
  const code = await gated(
    `/// <reference path="/etc/x" />\n/** @jsxImportSource x */\n// @deno-types="/etc/x"\n// @ts-self-types="/x"\nexport const a = 1;\n` +
      `//# sourceMappingURL=file:///etc/passwd\n//# sourceURL=file:///elsewhere.js`,
  );
  assert.doesNotMatch(code, /sourceMappingURL|sourceURL|<reference|@jsx|@deno-types|@ts-self-types/);
});

Deno.test("nothing in the path of a gadget gets out of the text that names it", async () => {
  const files = { "g*/`$/\"'\n</a.js": "export default import.meta;" };
  const { modules } = await gate(files, { entry: "g*/`$/\"'\n</a.js" });
  assert.match(modules[0]?.code ?? "", /^export default __orreryGadget\.metaOf`[^*`'"\n<$]*`;$/);
});

Deno.test("cycles, a module that is imported twice, and deep chains", async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [`gadgets/m${i}.js`, `import "./m${i + 1}.js"; import "./m0.js";`]),
  );
  const graph = await gate({ ...chain, "gadgets/m199.js": `export {};` }, { entry: "gadgets/m0.js" });
  assert.equal(graph.modules.length, 200);
  assert.equal(graph.modules[5]?.code, `import "./6.js"; import "./0.js";`);
});

Deno.test("limits: 200 modules, 5 MiB in all", async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`gadgets/m${i}.js`, ""]));
  const text = Object.keys(many).map((_, i) => `import "./m${i}.js";`).join("\n");
  assert.match(
    await refused(gate({ ...many, "gadgets/a.js": text }, { entry: "gadgets/a.js" })),
    /^gadgets\/a\.js:200:8: Cannot import "\.\/m199\.js": a gadget has at most 200 modules/,
  );
  const large = { "gadgets/a.js": `import "./b.js";`, "gadgets/b.js": "/".repeat(5 * 1024 * 1024) };
  assert.match(
    await refused(gate(large, { entry: "gadgets/a.js" })),
    /a\.js:1:8: .*at most 5242880 bytes together/,
  );
});

Deno.test("files that are no text, folders, and an entry that is not there", async () => {
  const bad = new Uint8Array([0x61, 0xff]);
  const files = { "gadgets/a.ts": `import "./b.ts";`, "gadgets/b.ts": bad, "gadgets/c.ts/x": "" };
  assert.match(
    await refused(gate(files)),
    /a\.ts:1:8: .*not UTF-8 text: the first wrong byte is at offset 1/,
  );
  assert.match(
    await refused(gate({ ...files, "gadgets/a.ts": `import "./c.ts";` })),
    /it is a folder, not a file/,
  );
  assert.match(
    await refused(gate({})),
    /^gadgets\/a\.ts:1:1: Cannot load the gadget's module: there is no such file/,
  );
  assert.match(
    await refused(gate({ "gadgets/a.ts": bad })),
    /Cannot load the gadget's module: it is not UTF-8/,
  );
});

Deno.test("a byte order mark is no part of a module", async () => {
  assert.equal(await gated("\uFEFFexport {};", { entry: "gadgets/a.js" }), "export {};");
  assert.doesNotMatch(await gated("\uFEFFexport const a: number = 1;"), /\uFEFF/);
});

Deno.test("JSON becomes a module, and says where it is broken", async () => {
  const json = `{ "a": "import \u2028 </script> */", "__proto__": 1 }`;
  const files = {
    "gadgets/a.js": `export { default } from "./d.json" with { type: "json" };`,
    "gadgets/d.json": json,
  };
  const { modules } = await gate(files, { entry: "gadgets/a.js" });
  const { default: value } = await import(
    `data:text/javascript,${encodeURIComponent(modules[1]?.code ?? "")}`
  );
  assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(json)));
  const broken = gate({ ...files, "gadgets/d.json": `{\n  "a": x }` }, { entry: "gadgets/a.js" });
  assert.match(await refused(broken), /^gadgets\/d\.json:\d+:\d+: Cannot read this JSON: Unexpected token/);
});

Deno.test("text that the lexer cannot read is refused", async () => {
  assert.match(
    await refusal("`${", { entry: "gadgets/a.js" }),
    /^gadgets\/a\.js:1:\d+: Cannot read the module here/,
  );
});

Deno.test("nesting that overflows the stripper's stack is the error of that module alone", async () => {
  const deep = `export const a = ${"(".repeat(20_000)}1${")".repeat(20_000)};`;
  assert.match(await refusal(deep), /nested too deeply/);
  assert.match(await gated("export const a: number = 1;"), /^export const a = 1;/);
  assert.match(await refusal(deep), /nested too deeply/);
  assert.match(await gated("enum A { B }\nexport const a: A = A.B;"), /A\["B"\]/);
});

Deno.test("a text made to be read again and again takes linear time", async () => {
  const size = 200_000;
  for (
    const part of [
      "export/*",
      "export//\n",
      "export{//",
      "éexport",
      "import/*",
      "export{a}/**/",
      "export {",
      "\u200cexport",
    ]
  ) {
    const start = performance.now();
    await gated(part.repeat(size / part.length), { entry: "gadgets/a.js" }).catch(() => {});
    assert.ok(performance.now() - start < 5000, part);
  }
});

Deno.test("the hash: of what is read and where it is, not of where the project is", async () => {
  const files = { "a/x.js": `import "./y.js";`, "a/y.js": "1" };
  const hash = async (files: Record<string, string>, entry: string) => (await gate(files, { entry })).hash;
  const first = await hash(files, "a/x.js");
  assert.match(first, /^[0-9a-f]{64}$/);
  assert.equal(await hash({ "b/x.js": files["a/x.js"], "b/y.js": files["a/y.js"] }, "b/x.js"), first);
  assert.notEqual(await hash({ ...files, "a/y.js": "2" }, "a/x.js"), first);
  assert.notEqual(await hash({ "a/x.js": `import "./z.js";`, "a/z.js": "1" }, "a/x.js"), first);
  const { modules } = await gate(files, { entry: "a/x.js" });
  assert.equal(modules[1]?.sha256, "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b");
});

Deno.test("names of facade files", () => {
  assert.deepEqual(["orrery", "node:fs/promises"].map(facadeFile), ["_orrery.js", "_node_fs_promises.js"]);
});

/** Files whose real paths and sizes are what a test says. */
function oddDisk(files: Record<string, string>, odd: Partial<Files>): Files {
  return { ...memoryFiles(files, { root: CWD }), ...odd };
}

Deno.test("a path that is swapped for a link between the look and the read is refused", async () => {
  const files = { "gadgets/a.js": `import "./b.js";`, "gadgets/b.js": "export {};", "/etc/x.js": "secret" };
  let looks = 0;
  const disk = oddDisk(files, {
    resolve: (path) => Promise.resolve(path.endsWith("b.js") && looks++ > 0 ? "/etc/x.js" : path),
  });
  assert.match(await refused(gate(disk, { entry: "gadgets/a.js" })), /replaced by a link while it was read/);
});

Deno.test("a file is read once, and what grew while it was read counts", async () => {
  const reads: string[] = [];
  const base = memoryFiles({ "gadgets/a.js": `import "./b.js"; import "./b.js";`, "gadgets/b.js": "" }, {
    root: CWD,
  });
  const disk: Files = {
    ...base,
    readBytes: (path, options) => {
      reads.push(path);
      return path.endsWith("b.js")
        ? Promise.resolve(new Uint8Array(6 * 1024 * 1024))
        : base.readBytes(path, options);
    },
  };
  assert.match(await refused(gate(disk, { entry: "gadgets/a.js" })), /at most 5242880 bytes/);
  assert.deepEqual(reads, ["/project/gadgets/a.js", "/project/gadgets/b.js"]);
});

Deno.test("links: the real path is judged and opened, once for all its names", async () => {
  await using place = await realPlace({
    "gadgets/a.js": `import "./inside.js"; import "./b.js";`,
    "gadgets/b.js": "export {};",
    "gadgets/c.js": `import "./outside.js";`,
    "gadgets/d.js": `import "./folder/x.js";`,
    "gadgets/e.js": `import "./json.js";`,
    "gadgets/data.json": "1",
    "secret/x.js": "secret",
  });
  const link = (to: string, name: string) => Deno.symlink(to, join(place.root, "gadgets", name));
  await Promise.all([
    link("b.js", "inside.js"),
    link("../secret/x.js", "outside.js"),
    link("../secret", "folder"),
  ]);
  await Promise.all([link("data.json", "json.js"), link("../gadgets/a.js", "entry.js")]);
  assert.equal((await place.gate("a.js")).modules[0]?.code, `import "./1.js"; import "./1.js";`);
  assert.equal((await place.gate("entry.js")).modules[0]?.path, join(place.root, "gadgets/a.js"));
  assert.match(
    await refused(place.gate("c.js")),
    /leads to secret.x\.js, which is not in the gadget's own folder/,
  );
  assert.match(await refused(place.gate("d.js")), /not in the gadget's own folder/);
  assert.match(await refused(place.gate("e.js")), /a link to gadgets.data\.json, which is of another kind/);
});

async function realPlace(files: Record<string, string>) {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-gate-" }));
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  return {
    root,
    gate: (name: string): Promise<PreparedGraph> =>
      prepareModules(join(root, "gadgets", name), {
        disk: hostFiles({ root }),
        cwd: root,
        compiled: false,
        facades: FACADES,
      }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("an error's stack is told in places of the TypeScript", async () => {
  await using place = await realPlace({
    "gadgets/a.ts": `import { b } from "./b.ts"; interface A {\n  a: string;\n}\n\nenum E { X }\n` +
      `export default (a: A, e: E = E.X): unknown => [1].map((): never => b(a.a, e));\n`,
    "gadgets/b.ts":
      `type T =\n  | "import a"\n  | 1;\n\nexport function b(_text: string, _e: T | number): never {\n` +
      `  const ü: string = "import 😀"; throw new TypeError(ü);\n}\n`,
  });
  const graph = await place.gate("a.ts");
  const out = join(place.root, "out");
  await Deno.mkdir(out);
  for (const { output, code } of graph.modules) await Deno.writeTextFile(join(out, output), code);
  const folderUrl = `file://${out}/`;
  const { default: run } = await import(`${folderUrl}0.js`);
  const stack = await Promise.resolve().then(() => run({ a: "x" })).catch((error: Error) => error.stack);
  assert.deepEqual(
    mapStack(stack, { graph, folderUrl, cwd: place.root }).split("\n"),
    [
      "TypeError: import 😀",
      "    at b (gadgets/b.ts:6:40)",
      "    at gadgets/a.ts:6:68",
      "    at Array.map (<anonymous>)",
      `    at ${stack.includes("0.js:") ? "" : ""}default (gadgets/a.ts:6:51)`,
    ].map((line) => line),
  );
});

Deno.test("JavaScript keeps its places, behind imports too", async () => {
  const text = `import { c } from "./c.js"; import.meta.url; boom(c);\n"import"; boom();\n`;
  const graph = await gate({ "gadgets/a.js": text, "gadgets/c.js": "export const c = 1;" }, {
    entry: "gadgets/a.js",
  });
  const code = graph.modules[0]?.code ?? "";
  const place = (line: number) => (code.split("\n")[line]?.indexOf("boom") ?? -1) + 1;
  const folderUrl = "file:///tmp/x";
  const at = (line: number) =>
    mapStack(`at ${folderUrl}/0.js:${line + 1}:${place(line)}`, { graph, folderUrl, cwd: CWD });
  assert.equal(at(0), `at gadgets/a.js:1:${text.indexOf("boom") + 1}`);
  assert.equal(at(1), "at gadgets/a.js:2:11");
  assert.equal(graph.modules[1]?.map, undefined);
});

Deno.test("of a stack the frames of Orrery are left out, and messages are told too", async () => {
  const graph = await gate({ "gadgets/a.js": "x" }, { entry: "gadgets/a.js" });
  const stack = [
    "SyntaxError: Unexpected token at file:///tmp/m/0.js:1:1, file:///tmp/m/9.js:1:1",
    "second line (file:///elsewhere.ts:1:1)",
    "    at file:///tmp/m/0.js",
    "    at Array.map (<anonymous>)",
    "    at async Object.run (file:///tmp/m/0.js:7:3)",
    "    at readFileSync (file:///tmp/m/_node_fs.js:1:1)",
    "    at new Promise (<anonymous>)",
    "    at serve (file:///opt/orrery/lib/sandbox/inside/inside.ts:3:4)",
    "    at eventLoopTick (ext:core/01_core.js:179:7)",
    "    at node:internal/process:1:1",
  ].join("\n");
  assert.deepEqual(mapStack(stack, { graph, folderUrl: "file:///tmp/m/", cwd: CWD }).split("\n"), [
    "SyntaxError: Unexpected token at gadgets/a.js:1:1, 9.js:1:1",
    "second line (file:///elsewhere.ts:1:1)",
    "    at gadgets/a.js",
    "    at Array.map (<anonymous>)",
    "    at async Object.run (gadgets/a.js:7:3)",
  ]);
});

Deno.test("mapStack takes linear time for any text", async () => {
  const graph = await gate({ "gadgets/a.js": "x" }, { entry: "gadgets/a.js" });
  const start = performance.now();
  for (const part of ["\n    at ", "file:///m/0.js:1:1", "a://", " ", ":9"]) {
    mapStack(part.repeat(100_000), { graph, folderUrl: "file:///m/", cwd: CWD });
  }
  assert.ok(performance.now() - start < 5000);
});

Deno.test("the hashed bytes are those that were read", async () => {
  const bytes = new TextEncoder().encode("\uFEFFexport {};");
  const { modules } = await gate({ "gadgets/a.js": bytes }, { entry: "gadgets/a.js" });
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  assert.equal(modules[0]?.sha256, Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  assert.ok("text" in decodeUtf8(bytes));
});

const ENDLESS = [
  `export const a = ${ENDLESS_CLASS};`,
  `export const a = ${"class extends f({}, ".repeat(60)}Object${") {}".repeat(60)};`,
  `export const a = ${"<any>(".repeat(60)}1${")".repeat(60)};`,
];
const DEEP = `export const a = ${"(".repeat(20_000)}1${")".repeat(20_000)};`;

Deno.test("nesting that ends the reader, and text that it would read for ever, are errors of their own", async () => {
  const plain = (text: string) => plainModule({ file: "a.ts", text }, "/a.ts");
  for (const text of [DEEP, ...ENDLESS]) {
    assert.match(
      await refused(plain(text)),
      /Cannot read this TypeScript: it is nested too deeply/,
    );
    assert.equal((await plain("export const b: number = 2;")).code.trim(), "export const b = 2;");
  }
  assert.match(await refused(plain("let 1")), /Cannot read this TypeScript/);
});
