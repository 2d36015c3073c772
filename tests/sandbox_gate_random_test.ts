import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { SourceError } from "../mod.ts";
import { harmlessEdits } from "../lib/sandbox/gate/rewrite_imports.ts";
import {
  decodeMap,
  editText,
  encodeMap,
  type Mapping,
  moveMappings,
  sameMappings,
  sourcePlace,
} from "../lib/sandbox/gate/source_map.ts";
import { gated } from "./_gate.ts";

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

Object.defineProperty(globalThis, "__orreryGadget", {
  value: { importFrom: () => Promise.resolve({}), metaOf: () => ({}) },
});

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

Deno.test("a word is not let pass for what is behind it when that is written anew", () => {
  const code = `import // import {\n} from "./b.ts"("EVIL")`;
  const start = code.indexOf("import {");
  const known = [{ start, end: code.indexOf("("), text: `import {} from "./1.js";\n` }];
  const edited = editText(code, [...harmlessEdits(code, known), ...known]);
  assert.equal(edited, `imp\\u006frt // import {} from "./1.js";\n("EVIL")`);
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
      fc.array(fc.tuple(fc.nat(200), fc.nat(5), fc.constantFrom("", "x", "long long", "\n\n", "a\nb"))),
      (parts, wishes) => {
        const code = parts.join("");
        const edits = wishes.toSorted(([a], [b]) => a - b).map(([start, length, text]) => ({
          start: Math.min(start, code.length),
          end: Math.min(start + length, code.length),
          text,
        })).filter((edit, index, all) =>
          index === 0 || edit.start >= Math.max(...all.slice(0, index).map(({ end }) => end))
        );
        const edited = editText(code, edits);
        const mappings = moveMappings(sameMappings(code, edits), { code, edited, edits });
        const read = decodeMap(encodeMap(mappings, "a.js"));
        assert.deepEqual(read, mappings);
        let [delta, at] = [0, 0];
        for (const edit of [...edits, { start: code.length, end: code.length, text: "" }]) {
          for (let offset = at; offset < edit.start; offset++) {
            assert.deepEqual(sourcePlace(mappings, placeOf(edited, offset + delta)), placeOf(code, offset));
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

Deno.test("property: a source map is read as it was written", () =>
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.nat(2000), fc.nat(100_000), fc.nat(70_000))),
      (steps) => {
        let [line, column] = [0, 0];
        const mappings = steps.map(([lines, columns, sourceLine, sourceColumn]): Mapping => {
          column = lines > 0 ? columns : column + columns;
          line += lines;
          return { line, column, sourceLine, sourceColumn };
        });
        assert.deepEqual(decodeMap(encodeMap(mappings, "a.ts")), mappings);
      },
    ),
  ));

Deno.test("property: any text at all is prepared or refused with its place", () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), hostile), async (text) => {
      await prepared(text.toWellFormed());
    }),
  ));
