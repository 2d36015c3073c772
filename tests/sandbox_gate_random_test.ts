// Texts that are hard to read, and any at all: what the gate lets through loads nothing but what it wrote, and what it makes of each
// gives what Deno gives for the text itself, or it is refused with its place.

import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { SourceError } from "../mod.ts";
import { editText } from "../lib/sandbox/gate/imports.ts";
import { unmoved } from "../lib/sandbox/gate/map_stack.ts";
import { gated } from "./_gate.ts";
import { pathToFileURL } from "node:url";
import { hostFiles } from "../lib/host/files/files.ts";
import { gadgetDoor } from "../lib/sandbox/inside/door.ts";
import { prepareModules } from "../lib/sandbox/gate/prepare_modules.ts";
import { anyText } from "./_any_text.ts";

/** Every way in which a module can load another; EVIL is its URL. */
const PAYLOADS = [
  `import("EVIL")`,
  `import /**/ ("EVIL")`,
  "import(`EVIL`)",
  `import("EVIL", { with: {} })`,
  `import "EVIL";`,
  `import x from "EVIL";`,
  `import * as y from "EVIL"`,
  `export * from "EVIL";`,
  `export { default } from "EVIL"`,
  `export { default as "import" } /* a */ from 'EVIL'`,
  `import.meta.x`,
  `import("./b.ts")`,
  `import b from "./b.ts";`,
];

/** What a lexer may take for something else. */
// deno-fmt-ignore
const CONTEXTS = [
  "/", "/x/", "/[/]/", "/\\//g", "\"", "'", "`", "${", "}", "{", "(", ")", "[", "]", "//", "/*", "*/", "\n", "\r", "\u2028", ";", ",", ".", "...",
  "1.", "1", "a", "b", " ", "++", "--", "=", "=>", "=> {", "<", "</", "<!--", "-->", "!", "\\", "#", "@", ":", "?", "?.", "&&", "return", "yield", "await",
  "async", "of", "in", "typeof", "void", "new", "if (a)", "else", "while (0)", "do", "for (const c of [])", "function f() {", "function* g() {",
  "class A {", "static", "get", "import", "export", "from", "as", "with", "default", "let", "const d =", "x: {", "() => {", "try {", "catch {", "case 1:",
  "switch (a) {", ". ", "?. ", "\ufeff", "\u3000", "#!", "export { b as \"\\u0062\" }", "`${`", "`${/`/}`", "/`/", "/\"/", "/'/", "a /b/ c", "}/x/", ")/x/", "]/x/", "\\u006f", "imp\\u006frt", "extends", "delete",
];

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...CONTEXTS) },
  { weight: 1, arbitrary: fc.constantFrom(...PAYLOADS) },
);
const hostile = fc.tuple(
  fc.array(piece, { maxLength: 8 }),
  fc.constantFrom(...PAYLOADS),
  fc.array(piece, { maxLength: 6 }),
  fc.constantFrom("", " ", "\n"),
).map(([before, payload, after, glue]) => [...before, payload, ...after].join(glue));

/** A folder with an evil module, and the modules that a prepared one may load. */
async function arena() {
  const folder = await Deno.makeTempDir({ prefix: "orrery-gate-" });
  const evil = join(folder, "evil.js");
  await Deno.writeTextFile(evil, `export default globalThis.evilLoads = (globalThis.evilLoads ?? 0) + 1;`);
  await Deno.writeTextFile(join(folder, "1.js"), `export const b = 1; export default b;`);
  let count = 0;
  return {
    /** How often the evil module was loaded by this text, as a module of a gadget. */
    async loads(text: string): Promise<number> {
      const path = join(folder, `m${count++}.js`);
      await Deno.writeTextFile(path, text);
      const before = loads();
      await run(`file://${path}`);
      return loads() - before;
    },
    /** Every text has an evil module of its own, since a module is loaded once. */
    url: () => `file://${evil}?${count}`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function loads(): number {
  const count: unknown = Reflect.get(globalThis, "evilLoads");
  return typeof count === "number" ? count : 0;
}

/** Waits for what the module began, too: imports that nobody awaits. */
async function run(url: string): Promise<void> {
  const quiet = (event: PromiseRejectionEvent) => event.preventDefault();
  addEventListener("unhandledrejection", quiet);
  await import(url).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 0));
  removeEventListener("unhandledrejection", quiet);
}

/** The code of a text as JavaScript and as TypeScript; none where it is refused. */
async function prepared(text: string): Promise<readonly string[]> {
  const codes: string[] = [];
  for (const entry of ["gadgets/a.js", "gadgets/a.ts"]) {
    try {
      codes.push(await gated(text, { entry }));
    } catch (thrown) {
      if (!(thrown instanceof SourceError)) throw thrown;
    }
  }
  return codes;
}

Deno.test("property: whatever a text looks like, what the gate lets through loads nothing but what it wrote", async () => {
  await using place = await arena();
  await fc.assert(
    fc.asyncProperty(hostile, async (template) => {
      const text = template.replaceAll("EVIL", place.url());
      for (const code of await prepared(text)) {
        assert.deepEqual(code.match(RAW)?.filter((found) => !WRITTEN.test(found)) ?? [], [], code);
        assert.equal(await place.loads(code), 0, code);
      }
    }),
    { numRuns: RUNS },
  );
});

/** In CI as many as take a few seconds. */
const RUNS = Number(Deno.env.get("ORRERY_GATE_RUNS") ?? 500);

/** What is left of `import` as a word that could load something, up to the end of its specifier. */
const RAW =
  /(?<![\p{ID_Continue}$#]|\.[ \t]*)import(?![\p{ID_Continue}$\u200c\u200d])(?=\s*[("'`.{*\p{ID_Start}])[^\n;]*/gu;
const WRITTEN = /^import(?:\(| | [\w$*{}", \\]+ from )"(?:\.\/[\w.]+|node:[\w/]+)"/;

Deno.test("the test above sees what is loaded where nothing is in between", async () => {
  await using place = await arena();
  for (const payload of PAYLOADS.filter((text) => text.includes("EVIL"))) {
    assert.equal(await place.loads(payload.replaceAll("EVIL", place.url())), 1, payload);
  }
});

Deno.test("texts that lexers have been fooled by", async () => {
  await using place = await arena();
  for (const context of FOOLING) {
    const text = context.replaceAll("IMPORT", `import("${place.url()}")`);
    for (const code of await prepared(text)) assert.equal(await place.loads(code), 0, code);
  }
});

const FOOLING = [
  "let a = 1, g = 1; a++ /IMPORT/ g;",
  "let a = 1, g = 1; a\n/IMPORT/ g;",
  "let g = 1; ({}) /IMPORT/ g;",
  "let g = 1; (function () {} /IMPORT/ g);",
  "let g = 1; (class {} /IMPORT/ g);",
  "let g = 1; const f = () => ({}) /IMPORT/ g; f();",
  "let g = 1; const o = { if() {} } /IMPORT/ g;",
  "let g = 1, o = { return: 1 }; o.return /IMPORT/ g;",
  "let g = 1, of = 1; of /IMPORT/ g;",
  "let g = 1, yield_ = 1, async = 1; async /IMPORT/ g;",
  "let g = 1; `${1}` /IMPORT/ g;",
  "let g = 1; `${`${{}}`}` /IMPORT/ g;",
  "let g = 1, a = [1]; a[0] /IMPORT/ g; a[`}`] /IMPORT/ g;",
  "if (1) /x/.test(`/`), IMPORT;",
  "while (0) /x`/; IMPORT; `${1}`",
  "x: { } /`/.test('`'); IMPORT;",
  "do /`/.test(''); while (0); IMPORT",
  "const t = (s) => s; t`/${IMPORT}/`;",
  "const o = { async *[Symbol.iterator]() { yield /`/; yield IMPORT; } }; o[Symbol.iterator]().next();",
  "class A { static { IMPORT; } static x = /`/ }",
  "class A { static get = /`/; static y = IMPORT; static z = '`' }",
  "label: for (;;) { break label\n/`/\nIMPORT }",
  "const r = /[/`]/; IMPORT; const q = /[`/]/;",
  "const r = /(?<a>`)/v; IMPORT;",
  "const a = 1, b = 1; a</`/.b; IMPORT",
  "const a = typeof /`/; IMPORT; const b = void /`/;",
  "new.target; IMPORT",
  "var v = 1\n++v\n/IMPORT/v",
  "var i = 1; i++\n/IMPORT/i",
  "var a = 1.; a /IMPORT/ 1.",
  "[...IMPORT.then.name]",
  "1.\nIMPORT",
  "var a = {}; a?.b; a?.5:IMPORT;",
  "export default /`/; IMPORT; `",
  "export default function () {} /`/; IMPORT; /`/",
  "export default class {} /`/; IMPORT; /`/",
];

const texts = fc.array(fc.constantFrom("a", "import ", "\n", "  ", "üx", "'😀'", ";", "export {"), {
  maxLength: 60,
});

Deno.test("property: places survive edits", () =>
  fc.assert(
    fc.property(
      texts,
      fc.array(fc.tuple(fc.nat(9), fc.nat(5), fc.constantFrom("", "x", "long long", "\u{1f600}"))),
      (parts, wishes) => {
        const code = parts.join("");
        let end = 0;
        const edits = wishes.map(([gap, length, text]) => {
          const start = Math.min(end + gap, code.length);
          end = Math.min(start + length, code.length);
          const lines = "\n".repeat(code.slice(start, end).split("\n").length - 1);
          return { start, end, text: text + lines };
        });
        const { code: edited, moved } = editText(code, edits);
        let [delta, at] = [0, 0];
        for (const edit of [...edits, { start: code.length, end: code.length, text: "" }]) {
          for (let offset = at; offset < edit.start; offset++) {
            assert.deepEqual(unmoved(placeOf(edited, offset + delta), moved), placeOf(code, offset));
          }
          at = edit.end;
          delta += edit.text.length - (edit.end - edit.start);
        }
      },
    ),
  ));

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length - 1, column: offset - before.lastIndexOf("\n") - 1 };
}

Deno.test("property: any text at all is prepared or refused with its place", () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(anyText({ maxLength: 200 }), hostile), async (text) => {
      await prepared(text.toWellFormed());
    }),
  ));

const [LS, PS, BOM] = ["\u2028", "\u2029", "\ufeff"];

/** What a text is about, and the text of a module beside `b.js`, `b.ts` and `d.json`. */
type Texts = Readonly<Record<string, string>>;

/** These give the same: names and default export, what it gives when it is a function without parameters. */
const SAME_JS: Texts = {
  "a hashbang": `#!/usr/bin/env deno\nimport b from "./b.js"; export default b;`,
  "a hashbang that imports": `#! import x from "file:///etc/x.js"\nexport default 1;`,
  "a hashbang that a line separator ends": `#!x${LS}import b from "./b.js"; export default b;`,
  "a hashbang behind a mark": `${BOM}#!x\nimport b from "./b.js"; export default b;`,
  "marks as blanks": `${BOM}${BOM}import b${BOM}from${BOM}"./b.js";${BOM}export default b;`,
  "carriage returns": `// x\rimport b from "./b.js";\rexport default b;\r`,
  "line separators": `// x${LS}import b from "./b.js";${LS}export default b;`,
  "a line separator in a text": `import b from "./b.js"; export default "a${LS}${PS}b".length + b;`,
  "a line separator in a template": `import b from "./b.js"; export default \`\${b}${LS}\`;`,
  "blanks of other languages": `import\u1680b\u3000from\u00a0"./b.js";\u2003export\vdefault\fb;`,
  "a joiner in a name": `const a\u200db = 1, a\u200cimport = 2; export default [a\u200db, a\u200cimport];`,
  "names beyond 16 bits": `const 𝒳import = 1; export { 𝒳import as 𝒳 }; export default 𝒳import;`,
  "a name with an escape": `const \\u{69}mport1 = 2; export default import1;`,
  "an imported name with an escape": `import { b as \\u0063 } from "./b.js"; export default c;`,
  "an attribute with an escape": `import d from "./d.json" with { "t\\u0079pe": "json" }; export default d;`,
  "exports by texts": `const a = 1; export { a as "import('x')", a as "\\u0062 c" }; export default 2;`,
  "exports that are keywords": `const a = 1; export { a as import, a as export }; export default a;`,
  "foreign exports that are keywords": `export { b as import, b as export } from "./b.js"; export default 1;`,
  "everything under a text": `export * as "a b" from "./b.js"; export { default } from "./b.js"`,
  "a list and a regular expression": `const a = 1; export { a }\n/x/.test("x"); export default 2;`,
  "words that are no keywords":
    `import from from "./b.js"; import * as as from "./b.js"; import { b as of } from "./b.js"; export default [from, as.b, of];`,
  "defer and source as names":
    `import defer from "./b.js"; import source from './b.js'; export default defer + source;`,
  "an arrow as default": `export default async () => (await import("./b.js")).default;`,
  "a class as default": `export default class { static import = 1 }`,
  "a function as default": `export default function () { return "f"; }`,
  "a default over lines": `export\ndefault/**/1`,
  "exports by a pattern": `export const { a, b: [c = 1] } = { a: 2, b: [] }; export default c;`,
  "import.meta with comments": `export default import /*a*/ . /*b*/ meta\n?.url;`,
  "import.meta made new": `import.meta.X = class {}; export default typeof new import.meta.X();`,
  "import.meta as a tag": "import.meta.t = (s) => s[0]; export default import.meta.t`x`;",
  "import.meta without semicolons": `let a = 1\nimport.meta.x = 2\nexport default a + import.meta.x`,
  "import.meta, one and the same": `export default import.meta === import.meta;`,
  "import.meta in a template": "export default `${import.meta.url}${import.meta.main}`;",
  "import.meta, what it has": `const { dirname, filename, resolve } = import.meta;
    export default [dirname, filename, resolve("./b.js"), Object.getPrototypeOf(import.meta)];`,
  "a Symbol of its own": `const Symbol = { for: () => "mine" }; export default import.meta.url;`,
  "a globalThis of its own":
    `import "./b.js"; const globalThis = {}; export default (await import("./" + "b.js")).default;`,
  "names of its own for all": `import { b as JSON } from "./b.js"; const Promise = 1, Object = 2, String = 3;
    import d from "./d.json" with { type: "json" }; export default [JSON, Promise, Object, String, d, import.meta.url];`,
  "import() in many ways": `import "./b.js"; export default [
    await import(/* ) */ "./b.js" // )\n), await import("./b.js",), await import(("./b.js")), await import(1 ? "./b.js" : ""),
    await import("./" + "b.js"), await import("./b.js", {}), await import("./d.json", { "with": { "type": 'json', }, },)].length;`,
  "import() with escapes": `export default (await import("\\x2e/\\\nb.js")).default;`,
  "a json module": `import d from "./d.json" with { "type": "json", }; export default d;`,
  "no attributes": `import b from "./b.js" with {}; export default b;`,
  "names of properties": `const o = { import: 1, export: 2, get import2() { return 3; } };
    export default [o.import, o?.export, o . import, o["import"], ({ import: x }) => x];`,
  "names of methods": `class A { #import = 1; import() { return this.#import; } static export(x) { return x; }
    static has(o) { return #import in o; } async *'import'() {} } export default [new A().import(), A.export(2), A.has(new A())];`,
  "names of fields":
    `class A { import = 1; static export = 2; get; set; static; async } export default [new A().import, A.export];`,
  "calls of properties":
    `const o = { import: (x) => x }; export default [o.import(1), o?.import(2), o . import(3), o?.import?.(4)];`,
  "arrows that are no comments": `let x = 2, n = 0; while (x --> 0) n++; export default n;`,
  "slashes":
    "let a = 8, g = 2; const o = { if: 8 }; export default [a / 2 / g, (a) /2/ g, [a][0] /2/ g, o.if /2/ g, `8` /2/ g, " +
    "{} /2/ g, a++ /2/ g, /[/]import\\(\"x\"\\)/.test('/import(\"x\")'), (() => { return /a/g.test('a'); })()];",
  "regular expressions of every kind":
    `export default [/[\\p{L}--[a-z]]import/v.test("Aimport"), /(?<import>a)\\k<import>/u.exec("aa").groups.import, /^export$/.test("export")];`,
  "templates in templates":
    "const t = (s, ...v) => s.join() + v; export default t`a${t`b${`}`}c${'`'}`}import${1}`;",
  "imports behind what is used":
    `export default b + c; import b from "./b.js"\nimport { b as c } from './b.js'\n`,
  "a division behind a literal": "export default `8`\n/2/ 2; import b from './b.js'",
  "a million characters in a line": `const x = "${
    "y".repeat(1_000_000)
  }"; import b from "./b.js"; export default b + x.length;`,
  "thousands of imports": `${`import "./b.js";`.repeat(5000)} export default 1;`,
  "hundreds of brackets": `export default ${"(".repeat(300)}1${")".repeat(300)};`,
  "templates in templates in templates": `export default ${"`${".repeat(100)}1${"}`".repeat(100)};`,
  "its own self": `import * as me from "./a.js"; export const z = 1; export default () => me.z;`,
  "a module of Node": `import { join } from "node:path"; export default join("a", "b");`,
  "encoded letters": `import b from "././%62.js"; export default b;`,
  "names that tools look for": `const sourceMappingURL = 1; export { sourceMappingURL };
    class A { #sourceURL = 3; get x() { return this.#sourceURL; } }
    export default [sourceMappingURL, { sourceURL: 2 }.sourceURL, new A().x, "@jsx h", /@jsx/.test("@jsx")];`,
  "nothing": "",
  "a comment alone": `// import x from "y"`,
};

const SAME_TS: Texts = {
  "type as a name": `import type from "./b.ts"; import { type as as } from "./b.ts"; export default type;`,
  "types of types":
    `import type type from "./b.ts"; import { type b as as } from "./b.ts"; export default 1 as type | as;`,
  "types from nowhere":
    `export type * from "./gone.ts"; export type { X } from "file:///gone.ts"; type T = import("./gone.ts").T;
    declare module "file:///x" { export const a: number; } export default 1 as unknown as T extends object ? number : never;`,
  "generics and less-than":
    `let a = 1, b = 2, c = 3; export default [(<T,>(x: T) => x)(1), <number>2, a<b, b> c];`,
  "keywords in an enum": `enum E { import = 1, export = 2 } export default [E.import, E.export];`,
  "a namespace": `namespace N { export const x = "import('y')"; } export import M = N.x; export default M;`,
  "line separators": `// x${PS}import b from "./b.ts";${LS}export default b as string;`,
  "a hashbang and carriage returns": `#!x\rimport b from "./b.ts";\rexport default b as string;\r`,
  "await at the top": `export default await Promise.resolve(1 as number) satisfies number;`,
};

for (const [ending, texts] of [["js", SAME_JS], ["ts", SAME_TS]] as const) {
  for (const [what, text] of Object.entries(texts)) {
    Deno.test(`the gate and Deno alike, ${ending}: ${what}`, async () => {
      await using place = await folderOf(`a.${ending}`, text);
      const wanted = await place.direct();
      assert.doesNotMatch(wanted, /^Error: /);
      assert.equal(await place.prepared(), wanted);
    });
  }
}

/** What is refused, and how; Deno itself may take it. */
const REFUSED: Readonly<Record<string, readonly [text: string, said: RegExp]>> = {
  "a deferred import": [`import defer * as b from "./b.js";`, /^a\.js:1:1: Cannot read this import/],
  "the source of a module": [`const a = 1; import.source("./b.js");`, /^a\.js:1:14: Cannot read this import/],
  "a keyword with an escape": [`import b fr\\u006fm "./b.js";`, /^a\.js:1:1: Cannot read this import/],
  "an attribute twice": [
    `import d from "./d.json" with { type: "json", type: "json" };`,
    /^a\.js:1:1: Cannot read this import/,
  ],
  "an attribute that nobody knows": [`\nimport b from "./b.js" with { lazy: "true" };`, /^a\.js:2:1: /],
  "assert in place of with": [
    `import d from "./d.json" assert { type: "json" };`,
    /^a\.js:1:1: Cannot read this import/,
  ],
  "another type": [
    `import b from "./b.js" with { type: "css" };`,
    /^a\.js:1:15: .*\{ type: "css" \} is not there/,
  ],
  "an HTML comment that imports": [
    `export default 1;\n--> import "x"`,
    /^a\.js:2:3: Cannot read the module here/,
  ],
  "a question": [`import b from "./b.js?x";`, /has no \? and no #/],
  "a blank at the end": [`import b from "./b.js ";`, /expected an ending/],
  "a text without an end": [`export default "import`, /^a\.js:1:\d+: Cannot read the module here/],
  "a template without an end": ["export default `import", /^a\.js:1:\d+: Cannot read the module here/],
};

for (const [what, [text, said]] of Object.entries(REFUSED)) {
  Deno.test(`the gate refuses with a place: ${what}`, async () => {
    await using place = await folderOf("a.js", text);
    assert.match(await place.prepared(), said);
  });
}

/** What nobody takes: the gate says where it is wrong, or the engine that reads it then does. */
const WRONG: Texts = {
  "a keyword with an escape": `imp\\u006frt b from "./b.js";`,
  "import.meta with an escape": `import.m\\u0065ta.url;`,
  "an HTML comment": `let x = 1, y = 2; x<!--y;`,
  "a blank that is none": `import\u180eb from "./b.js";`,
  "an import in a block": `{ import b from "./b.js"; }`,
  "an import in a function": `function f() { import b from "./b.js"; }`,
  "an export in a block": `{ export const a = 1; }`,
  "a name that is none": `import { default } from "./b.js";`,
  "a name that is not there": `import { nothing } from "./b.js"; nothing;`,
  "an export twice": `export const a = 1; export { a };`,
  "an export of half a character": `const a = 1; export { a as "\\uD800" };`,
  "a value that is assigned": `import b from "./b.js"; b = 1;`,
  "a keyword as a value": `const o = { import }; o;`,
  "a comment without an end": `export default 1; /* import "x"`,
  "import() of nothing": `await import();`,
  "a return": `return 1;`,
  "a NUL": `export default 1;\0`,
  "octal numbers": `export default 010;`,
};

for (const [what, text] of Object.entries(WRONG)) {
  Deno.test(`the gate and Deno alike in refusing: ${what}`, async () => {
    await using place = await folderOf("a.js", text);
    assert.match(await place.direct(), /^Error: /);
    assert.match(await place.prepared(), /^(?:Error|a\.js:1:\d+): /);
  });
}

Deno.test("the gate: where a text is shown as it is written, its words are shown with an escape", async () => {
  const text =
    "export default [String.raw`import 'x'`, /import/.source, String(function () { 'export x'; })];";
  await using place = await folderOf("a.js", text);
  assert.match(await place.direct(), /import 'x'.*export x/s);
  assert.match(await place.prepared(), /imp\\\\u006frt 'x'.*exp\\\\u006frt x/s);
});

Deno.test("the gate: ten thousand brackets are the error of that module alone", async () => {
  const [open, close] = ["(".repeat(10_000), ")".repeat(10_000)];
  await using place = await folderOf("a.ts", `import b from "./b.ts"; export default ${open}b${close};`);
  assert.match(await place.prepared(), /^a\.ts:1:1: Cannot read this TypeScript: it is nested too deeply/);
  await using next = await folderOf("a.ts", `export default 1 as number;`);
  assert.equal(await next.prepared(), await next.direct());
});

/** A folder with the module, and what each way of loading it gives. */
async function folderOf(entry: string, text: string) {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-gate-" }));
  const out = join(root, "out");
  await Deno.mkdir(out);
  const files = {
    "b.js": `export const b = 1; export default "bee";`,
    "b.ts": `export const b: number = 1; export default "bee";`,
    "d.json": `{"d":3}`,
    [entry]: text,
  };
  for (const [name, content] of Object.entries(files)) await Deno.writeTextFile(join(root, name), content);
  const urlOf = (...path: readonly string[]) => pathToFileURL(join(root, ...path)).href;
  return {
    direct: () => loaded(urlOf(entry)),
    async prepared(): Promise<string> {
      try {
        const disk = hostFiles({ root });
        const graph = await prepareModules(join(root, entry), {
          disk,
          cwd: root,
          compiled: true,
          facades: {},
        });
        for (const { output, code } of graph.modules) await Deno.writeTextFile(join(out, output), code);
        const urls = graph.modules.map((
          { path, output },
        ) => [pathToFileURL(path).href, urlOf("out", output)]);
        door = gadgetDoor(Object.fromEntries(urls), {});
        return await loaded(urlOf("out", "0.js"));
      } catch (thrown) {
        if (!(thrown instanceof SourceError)) throw thrown;
        return `${thrown.place}: ${thrown.message}`;
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

let door = gadgetDoor({}, {});
Object.defineProperty(globalThis, "__orreryGadget", {
  value: {
    importFrom: (base: string, specifier: unknown) => door.importFrom(base, specifier),
    metaOf: (url: readonly string[]) => door.metaOf(url),
  },
});

/** What a module exports, in words; of a function as default what it gives. */
async function loaded(url: string): Promise<string> {
  try {
    const module: Readonly<Record<string, unknown>> = await import(url);
    const value = isPlainFunction(module.default) ? await module.default() : module.default;
    return `${Object.keys(module).sort()} = ${Deno.inspect(value, { depth: 5, sorted: true })}`;
  } catch (thrown) {
    return `Error: ${thrown instanceof Error ? thrown.message : thrown}`;
  }
}

function isPlainFunction(value: unknown): value is () => unknown {
  return typeof value === "function" && value.length === 0 && !String(value).startsWith("class");
}
