// A bundler cuts code so that nothing is read that is not needed, and for a program of many commands that is a module for each few
// functions: a run of one call read 68. Here what every start reads becomes one module, and so does what every gadget's process reads.

import { isAbsolute, join } from "node:path";
import { rollup } from "rollup";
import type { GetManualChunk, GetModuleInfo, OutputOptions, Plugin } from "rollup";

/** The modules that begin what is read at once, by the name that the bundler has made of their file's. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  start: ["dispatch"],
  run: ["run"],
  gadget: ["inside"],
};

/**
 * Writes the bundle `from/main.js` again, with fewer modules.
 *
 * @param from folder of a bundle with its code split, from the project's folder
 * @param to folder that it is written to
 * @throws {Error} when the bundle is not as it was: what begins a start has another name, or packages are required in another way
 */
export async function joinStart(from: string, to: string): Promise<void> {
  const folder = await Deno.realPath(from);
  const files = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  const beginnings = Object.entries(BEGINNINGS).map(([name, modules]) => ({
    name,
    files: modules.map((module) => join(folder, splitFile(files, module))),
  }));
  const main = join(folder, "main.js");
  const late = lateRequire();
  const bundle = await rollup({
    input: main,
    external: (id) => !id.startsWith(".") && !isAbsolute(id), // what the first pass has left to be found when it is needed
    plugins: [late.plugin],
    treeshake: false, // the bundler has done that
    onLog: (_level, { message }) => console.error(`compile: ${message}`),
  });
  const output: OutputOptions = {
    dir: to,
    format: "es",
    chunkFileNames: "[name]-[hash].js",
    hoistTransitiveImports: false,
    manualChunks: grouping(main, beginnings),
  };
  await bundle.write(output);
  await bundle.close();
  if (late.found !== 1) {
    throw new Error(`${from}: packages are required in ${late.found} modules, expected 1`);
  }
}

/** The file that the bundler has made of a module. */
function splitFile(files: readonly string[], module: string): string {
  const found = files.filter((file) => new RegExp(`^${module}-[0-9A-Z]{8}\\.js$`).test(file));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw new Error(`the bundle has ${found.length} files ${module}-HASH.js, expected one`);
}

interface Beginning {
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * Which module a module becomes a part of. Undefined where it stays for itself: also main.js, which waits for its commands, so that
 * they may import nothing of it.
 */
function grouping(main: string, beginnings: readonly Beginning[]): GetManualChunk {
  const closures = new Map<string, ReadonlySet<string>>();
  return (id, { getModuleInfo }) => {
    const isRead = (file: string): boolean => {
      const known = closures.get(file) ?? closure(file, getModuleInfo);
      closures.set(file, known);
      return known.has(id);
    };
    if (id === main) return undefined;
    if (isRead(main)) return "door";
    const names = beginnings.filter(({ files }) => files.some(isRead)).map(({ name }) => name);
    return names.length === 0 ? undefined : names.join("_");
  };
}

/** A module and all that it imports before it begins. */
function closure(file: string, getModuleInfo: GetModuleInfo): ReadonlySet<string> {
  const reached = new Set([file]);
  for (const each of reached) for (const next of getModuleInfo(each)?.importedIds ?? []) reached.add(next);
  return reached;
}

const REQUIRE =
  /import \{ createRequire as (\w+) \} from "node:module";\s*var __require = \1\(import\.meta\.url\);/;

/** Nothing but a package's own code requires anything: `node:module`, and half of Node with it, is loaded when that is done first. */
function lateRequire(): { readonly plugin: Plugin; readonly found: number } {
  let found = 0;
  const plugin: Plugin = {
    name: "late require",
    transform(code) {
      if (!REQUIRE.test(code)) return null;
      found++;
      return {
        code: code.replace(
          REQUIRE,
          `var loadedRequire;
var __require = (name) => {
  loadedRequire ??= process.getBuiltinModule("node:module").createRequire(import.meta.url);
  return loadedRequire(name);
};`,
        ),
        map: null,
      };
    },
  };
  return {
    plugin,
    get found() {
      return found;
    },
  };
}
