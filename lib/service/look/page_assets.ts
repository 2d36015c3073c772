// What the web page loads: the modules of lib/browser with all that they import, style sheets and pictures. Modules keep their names, .ts
// included, so that no import has to be rewritten; only their types go.

import { dirname, join } from "node:path";
import { maybeOwnFile, ownFiles } from "../../host/paths.ts";
import { findImports } from "../../sandbox/gate/imports.ts";
import { plainModule } from "../../sandbox/gate/plain_module.ts";

/** Files by their path in the project, such as `lib/browser/form.ts`, as a browser takes them. */
export type PageAssets = {
  /** Another one as soon as any file is another one. */
  readonly hash: string;
  readonly files: { readonly [path: string]: string };
};

const ROOT = new URL("../../../", import.meta.url);

/** Makes them of the sources. @throws {Error} for a module that imports what no browser has */
export async function makePageAssets(): Promise<PageAssets> {
  const names = await ownFiles(new URL("lib/browser/", ROOT));
  const files = new Map<string, string>();
  for (const name of names) await add(`lib/browser/${name}`, files);
  return { hash: await hashOf(files), files: Object.fromEntries(files) };
}

/** Adds a file and what it imports. */
async function add(path: string, files: Map<string, string>): Promise<void> {
  if (files.has(path)) return;
  const text = await maybeOwnFile(new URL(path, ROOT));
  if (text === undefined) {
    throw new Error(`${path}: a module of the web page imports it, and it is not there`);
  }
  if (!path.endsWith(".ts")) return void files.set(path, text);
  const { code } = await plainModule({ file: path, text }, path);
  files.set(path, code);
  for (const specifier of importsOf(code, path)) await add(join(dirname(path), specifier), files);
}

function importsOf(code: string, path: string): readonly string[] {
  const found = findImports(code);
  if ("problem" in found) throw new Error(`${path}: ${found.problem.message}`);
  const specifiers = found.imports.map(({ specifier }) => specifier);
  const strange = specifiers.find((specifier) => !/^\.\.?\//.test(specifier));
  if (strange !== undefined) {
    throw new Error(`${path}: a module of the web page imports ${JSON.stringify(strange)}, expected a file`);
  }
  return specifiers;
}

async function hashOf(files: ReadonlyMap<string, string>): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([...files]));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
