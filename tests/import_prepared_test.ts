// Modules of prompts and tactics as the compiled binary loads them; it can be tried without one.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { importPrepared } from "../lib/project/import_own.ts";

interface Project extends AsyncDisposable {
  readonly root: string;
  load(path: string): Promise<Readonly<Record<string, unknown>>>;
}

async function project(files: Readonly<Record<string, string>>): Promise<Project> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery prepared " }));
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(root, path)), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  const library = { definePrompt: (name: string) => `prompt ${name}` };
  return {
    root,
    load: async (path) => ({ ...await importPrepared(join(root, path), { root, library }) as object }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** What processes that were killed have left is taken away meanwhile; nobody waits for that. */
const prepared = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn, sanitizeOps: false });

prepared("types go away, and what is imported lies anywhere in the project", async () => {
  await using at = await project({
    "prompts/a.ts": `import { definePrompt } from "orrery";
import { sep } from "node:path";
import { readFileSync } from "node:fs";
import { type Word, word } from "../common/word.ts";
import data from "./data.json" with { type: "json" };
const given: Word = word;
export const prompt = definePrompt(given as string);
export const all = [data.n, sep, readFileSync(new URL("./data.json", import.meta.url), "utf8"), import.meta.main];
export const later = () => import("../common/later.ts");
`,
    "prompts/data.json": `{"n":1}`,
    "common/word.ts": `export type Word = string;\nexport const word: Word = "word";\n`,
    "common/later.ts": `export default 3 satisfies number;\n`,
  });
  const { prompt, all, later } = await at.load("prompts/a.ts");
  assert.equal(prompt, "prompt word");
  assert.deepEqual(all, [1, "/", `{"n":1}`, false]);
  assert.ok(typeof later === "function");
  assert.equal((await later()).default, 3, "also once the prepared files are gone");
});

prepared("what cannot be is an error with its place", async () => {
  await using at = await project({
    "out.ts": `import "../elsewhere.ts";`,
    "package.ts": `export {};\nimport { z } from "npm:zod";\nz;`,
    "computed.ts": `await import("./" + "out.ts");`,
    "throws.ts": `type A = string;\n\nthrow new Error("no");\n`,
  });
  await assert.rejects(at.load("out.ts"), /Cannot import "\.\.\/elsewhere\.ts"/);
  await assert.rejects(
    at.load("package.ts"),
    /Cannot import "npm:zod": the compiled orrery cannot load packages/,
  );
  await assert.rejects(at.load("computed.ts"), /the compiled orrery imports names that are written out/);
  await assert.rejects(at.load("throws.ts"), (error: Error) => /throws\.ts:3:/.test(error.stack ?? ""));
});
