// A text of TypeScript that breaks its reader is the error of that text alone.

import assert from "node:assert/strict";
import { ENDLESS_CLASS } from "./_endless_types.ts";
import { plainModule } from "../lib/sandbox/gate/plain_module.ts";
import { refused } from "./_gate.ts";

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
