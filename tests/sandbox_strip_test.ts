// The runtime's own stripper of types, against the package that stands in where there is none: the same JavaScript from the same places, and
// a text that breaks it is the error of that text alone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { maybeStripProcess, type StripProcess } from "../lib/host/strip_process.ts";
import { ENDLESS_CLASS } from "./_endless_types.ts";
import { loadAmaro } from "../lib/sandbox/gate/load_amaro.ts";
import { plainModule } from "../lib/sandbox/gate/plain_module.ts";
import { decodeMap } from "../lib/sandbox/gate/source_map.ts";
import { refused } from "./_gate.ts";
import { PROJECT_ROOT } from "./_run.ts";

const AS_USUAL = { limitMs: 20_000 };
const ENDLESS = `export const a = ${ENDLESS_CLASS};`;
const DEEP = `export const a = ${"(".repeat(20_000)}1${")".repeat(20_000)};`;

function stripTest(name: string, work: (strip: StripProcess) => Promise<void>, options = AS_USUAL): void {
  Deno.test(`strip: ${name}`, async () => {
    const strip = maybeStripProcess(options);
    if (strip === undefined) return console.log("not run here: this Deno strips no types itself");
    try {
      await work(strip);
    } finally {
      await strip.end();
    }
  });
}

/** Without what says nothing: blanks at the beginning and the end of a line. */
function linesOf(code: string): readonly string[] {
  return code.trimEnd().split("\n").map((line) => line.trim());
}

/** Where the texts of the JavaScript come from, whatever its indentation. */
function placesOf(code: string, map: string): readonly string[] {
  const indents = code.split("\n").map((line) => line.length - line.trimStart().length);
  return decodeMap(map).map(({ line, column, sourceLine, sourceColumn }) =>
    `${line}:${Math.max(0, column - (indents[line] ?? 0))} from ${sourceLine}:${sourceColumn}`
  );
}

async function assertAlike(
  text: string,
  { strip, name }: { strip: StripProcess; name: string },
): Promise<void> {
  const byPackage = (await loadAmaro())(text, name);
  const byRuntime = await strip.strip(text);
  if (!("code" in byPackage)) {
    return assert.equal(byRuntime, undefined, `${name}: the package cannot read it`);
  }
  assert.ok(byRuntime !== undefined && "code" in byRuntime, `${name}: ${JSON.stringify(byRuntime)}`);
  assert.deepEqual(linesOf(byRuntime.code), linesOf(byPackage.code), name);
  const here = new Set(placesOf(byRuntime.code, byRuntime.map)); // one of them tells a few places more
  assert.deepEqual(placesOf(byPackage.code, byPackage.map).filter((place) => !here.has(place)), [], name);
}

const TEXTS: readonly string[] = [
  "import type X from 'x'; x",
  "import {type Y, z} from 'x'; z;",
  "import {unused} from 'x';",
  "import 'x';",
  "import { A } from 'x'; let a: A;",
  "import { A } from 'x'; let a: typeof A; console.log(a)",
  "import { A } from 'x'; export { A };",
  "import json from './d.json' with { type: 'json' }; json;",
  "export {T} from 'x'; export type {U} from 'x'; export * from 'z'",
  "type A = 1; export { A }",
  "const f = <T,>(a: T) => a; f;",
  "const a = <any>b; a;",
  "class A<T> { static #x = 1; static { this.#x++ } get [k]?(): T { return 1 as T } }",
  "class A { readonly a; declare b; static c?: number; 'd'!: string; [e]: number }",
  "abstract class A { abstract a: number; abstract b(): void; constructor(public x = 1, readonly y?: string) {} }",
  "const enum E { A = 1 << 2, B = A | 3 } E.B;",
  "namespace A { import B = C.D; export const x = B; }",
  "export default abstract class {}",
  "export default interface X {}",
  "using x = y; await using z = y;",
  "function f(): asserts x is string; function f(this: A) {}",
  "let x: import('y').Z = 1; x satisfies object;",
  "let \\u0061b: string = '\\u2028 ü 𝒳'; // ü 𝒳\nab;",
  "declare global { var x: number } declare module 'x' {}",
  "let 1",
  "@dec class A {}",
  "yield = 1",
  "arguments = 1",
  "enum await {a}",
].map((text) => `export const first = 1; ${text}\n`);

stripTest("texts of TypeScript are stripped as by the package", async (strip) => {
  for (const text of TEXTS) await assertAlike(text, { strip, name: text });
});

stripTest("modules as people write them are stripped as by the package", async (strip) => {
  let count = 0;
  for (
    const folder of ["gadgets", "tests/sandbox/ordinary", "lib/sandbox", "lib/host", "lib/run"]
  ) {
    for await (const { name, isFile } of Deno.readDir(join(PROJECT_ROOT, folder))) {
      if (!isFile || !name.endsWith(".ts") || name === "typescript.ts") continue; // that one has an enum, whose line is another
      await assertAlike(await Deno.readTextFile(join(PROJECT_ROOT, folder, name)), { strip, name });
      count++;
    }
  }
  assert.ok(count > 100, String(count));
});

stripTest(
  "nesting that ends the process, and text that takes it for ever, are errors of their own",
  async (strip) => {
    const plain = (text: string) =>
      plainModule({ file: "a.ts", text }, "/a.ts", { strip: (given) => strip.strip(given) });
    const all = await Promise.all([
      refused(plain(DEEP)),
      plain("export const a: number = 1;"),
      refused(plain(ENDLESS)),
      plain("export const b: number = 2;"),
      refused(plain("let 1")),
    ]);
    assert.deepEqual([all[1].code, all[3].code], ["export const a = 1;\n", "export const b = 2;\n"]);
    assert.match(all[0], /^a\.ts:1:1: Cannot read this TypeScript: it is nested too deeply/);
    assert.match(all[2], /^a\.ts:1:1: Cannot read this TypeScript: it takes too long/);
    assert.match(all[4], /^a\.ts:1:5: Cannot read this TypeScript: /); // a place is what the package tells
  },
  { limitMs: 2_000 },
);

stripTest("what is no module of ECMAScript is left to the package", async (strip) => {
  const asked: string[] = [];
  const plain = (text: string) =>
    plainModule({ file: "a.ts", text }, "/a.ts", {
      strip: (given) => {
        asked.push(given);
        return strip.strip(given);
      },
    });
  assert.match(await refused(plain("<!-- x\nexport {};")), /Legacy comments cannot be used in module code/);
  assert.match(await refused(plain("module A {}")), /`module` keyword is not supported/);
  assert.match((await plain("export = 1;")).code, /^module\.exports = 1;/);
  assert.match((await plain("import x = require('x'); x;")).code, /^const x = require\('x'\);/);
  assert.deepEqual(asked, []);
});

stripTest("it is ended, also in the middle of a text, and starts again", async (strip) => {
  const hung = strip.strip(ENDLESS);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await strip.end();
  assert.deepEqual(await hung, { problem: "crash" });
  assert.ok("code" in (await strip.strip("let a: 1") ?? {}));
  await strip.end();
  await strip.end();
});
