// Modules that are large and seldom needed are in the program as the text of a function, and a small one in the place of each makes the
// module of it when it is imported.

import { type Export, type Import, init, parse } from "es-module-lexer";

/** What the text of a module is given by the one in its place: its `import.meta`, and the modules that it imports. */
const GIVEN = "$given$";

/** A module in two parts. */
export interface PackedModule {
  /** What stands in its place: it has the same exports. */
  readonly stub: string;
  /** A function that does what the module does, and resolves with what it exports. The stub expects it compressed with Brotli. */
  readonly body: string;
}

/** True when a module has an `import()`. */
export async function importsLater(text: string): Promise<boolean> {
  await init;
  return parse(text)[0].some(({ type }) => type === "dynamic");
}

/**
 * Takes a module of the bundle apart. It becomes a function because an `import()` of such a text, from a `data:` URL, takes five times as
 * long; and none with an arrow, because V8 reads a function in parentheses once, and an arrow a second time when it is called.
 *
 * @param text as the bundler writes it: imports by names, and one `export` by names at its end, before a comment
 * @param file with the function, relative to the module
 * @throws {Error} for an import or export of another form
 */
export async function packModule(text: string, file: string): Promise<PackedModule> {
  await init;
  const [imports, exports] = parse(text);
  const modules: string[] = [];
  let body = "";
  let end = 0;
  for (const found of imports) {
    body += text.slice(end, found.importStart);
    if (found.type === "import-meta") {
      body += `${GIVEN}.meta`;
    } else {
      body += `const{${importedNames(text, found)}}=${GIVEN}.modules[${modules.length}]`;
      modules.push(found.specifier ?? "");
    }
    end = found.importEnd;
  }
  const last = exports[0]?.exportStart ?? text.length;
  if (!/^(export\s*\{[^{}]*\}\s*;?)?\s*(\/\*[^]*\*\/\s*)?$/.test(text.slice(last))) {
    throw unexpected(text, last);
  }
  const names = exports.map((each) => exportedName(text, each));
  body += `${text.slice(end, last)}\nreturn{${names.map(([name, local]) => `${name}:${local}`).join()}}`;
  return {
    stub: stubOf(file, modules, names.map(([name]) => name)),
    body: `(async function(${GIVEN}){"use strict";${body}})\n//# sourceURL=${file}`,
  };
}

/** `a as b,c` of `import{a as b,c}from"./x.js"`, as a pattern: `a:b,c`. */
function importedNames(text: string, { type, importStart, importEnd }: Import): string {
  const statement = text.slice(importStart, importEnd);
  const [found, names = ""] = /^import\s*(?:\{([\w$\s,]*)\}\s*from\s*)?["'][^"']*["']$/.exec(statement) ?? [];
  if (found === undefined || type !== "static") throw unexpected(text, importStart);
  return names.replaceAll(/\s+as\s+/g, ":");
}

/** Under which name, and what it is called inside. */
function exportedName(text: string, exported: Export): readonly [string, string] {
  if (exported.type !== "direct" || exported.localName === undefined) throw unexpected(text, exported.start);
  return [exported.name, exported.localName];
}

function unexpected(text: string, at: number): Error {
  return new Error(
    `found ${JSON.stringify(text.slice(at, at + 60))}, expected imports and one export by names`,
  );
}

function stubOf(file: string, modules: readonly string[], names: readonly string[]): string {
  return [
    'import { readFileSync } from "node:fs";',
    'import { brotliDecompressSync } from "node:zlib";',
    ...modules.map((specifier, at) => `import * as m${at} from ${JSON.stringify(specifier)};`),
    `const packed = readFileSync(new URL(${JSON.stringify(file)}, import.meta.url));`,
    "const evaluate = (0, eval)(brotliDecompressSync(packed).toString());",
    `const all = await evaluate({ meta: import.meta, modules: [${modules.map((_, at) => `m${at}`)}] });`,
    ...names.map((name, at) => `const e${at} = all.${name};`),
    `export { ${names.map((name, at) => `e${at} as ${name}`).join(", ")} };`,
    "",
  ].join("\n");
}
