import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isInside, isRecord } from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { privateFolder } from "../host/files/private_folder.ts";
import { importModule, maybeLibrary } from "../host/process.ts";
import { facadeFile } from "../sandbox/facade_modules.ts";
import { mapStack } from "../sandbox/gate/map_stack.ts";
import { prepareModules } from "../sandbox/gate/prepare_modules.ts";

/**
 * Loads a module of the user's own into this process, with all that it may do: types, `orrery` and imports beside it work under `deno run`
 * and in the compiled binary alike, packages under `deno run` alone.
 *
 * @param path absolute
 * @param root of the project: what a module in it may import in the binary lies there too; of one elsewhere beside it
 * @param cwd what files in messages are relative to; default: the root
 * @throws {SourceError} in the binary at an import that cannot be there, and what the module throws
 */
export async function importOwn(
  path: string,
  { root, cwd = root }: { readonly root: string; readonly cwd?: string },
): Promise<unknown> {
  const library = await maybeLibrary();
  if (isRecord(library)) {
    return await importPrepared(path, { root: isInside(path, root) ? root : dirname(path), cwd, library });
  }
  return await importModule(pathToFileURL(path).href);
}

// A module whose code is trusted, in the compiled binary: its types are stripped and its imports found as those of a gadget are
// (sandbox/gate), and then it runs in this process, as under `deno run`. What it cannot have here are packages.

/** Where a module is, and what it gets. */
interface PreparedImport {
  /** Real and absolute: it may import what lies below. */
  readonly root: string;
  /** What files in messages are relative to. Default: the root. */
  readonly cwd?: string;
  /** What "orrery" exports. */
  readonly library: Readonly<Record<string, unknown>>;
}

/** Modules of Node with effects: trusted code has them as they are. */
const NODE_NAMES: readonly string[] = [
  "node:child_process",
  "node:dns",
  "node:dns/promises",
  "node:fs",
  "node:fs/promises",
  "node:http",
  "node:https",
  "node:net",
  "node:os",
  "node:process",
  "node:readline",
  "node:readline/promises",
  "node:sqlite",
  "node:tls",
];

const LIBRARY = "orrery.library";

/**
 * Loads a module of the project and gives its exports.
 *
 * @param path absolute
 * @throws {SourceError} at an import that cannot be here, or what the module throws, with the places of its source
 */
export async function importPrepared(
  path: string,
  { root, cwd = root, library }: PreparedImport,
): Promise<unknown> {
  const facades = facadeTexts(library);
  const disk = hostFiles({ root });
  const graph = await prepareModules(path, { disk, cwd, compiled: true, facades, folder: root });
  offer(library);
  using folder = privateFolder();
  const files = Object.entries(facades).map(([name, text]) => [facadeFile(name), text]);
  folder.write(Object.fromEntries([...graph.modules.map(({ output, code }) => [output, code]), ...files]));
  const folderUrl = `${pathToFileURL(folder.path).href}/`;
  try {
    const [exported] = await loadAll(graph.modules.map(({ output }) => join(folder.path, output)));
    return exported;
  } catch (error) {
    if (error instanceof Error) error.stack = mapStack(error.stack ?? "", { graph, folderUrl, cwd });
    throw error;
  }
}

/** All of them, also those of an `import()` that comes later: the folder is gone then. */
async function loadAll(paths: readonly string[]): Promise<readonly unknown[]> {
  const loaded: unknown[] = [];
  for (const path of paths) loaded.push(await importModule(pathToFileURL(path).href));
  return loaded;
}

function facadeTexts(library: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const asItIs = (name: string) => `export * from "${name}";\nexport { default } from "${name}";\n`;
  return {
    ...Object.fromEntries(NODE_NAMES.map((name) => [name, asItIs(name)])),
    orrery: `export const { ${Object.keys(library).join(", ")} } = globalThis[Symbol.for("${LIBRARY}")];\n`,
  };
}

/** Puts what prepared modules ask for where they look for it. */
function offer(library: Readonly<Record<string, unknown>>): void {
  const global: unknown = globalThis;
  if (!isRecord(global) || Symbol.for(LIBRARY) in global) return;
  Object.defineProperty(global, Symbol.for(LIBRARY), { value: library });
  const metaOf = ([url = ""]: readonly string[]) => ({
    url,
    main: false,
    resolve: (name: string) => new URL(name, url).href,
  });
  const importFrom = (_url: string, name: unknown) =>
    Promise.reject(
      new Error(
        `Cannot import ${JSON.stringify(name)}: the compiled orrery imports names that are written out`,
      ),
    );
  Object.defineProperty(global, "__orreryGadget", { value: { metaOf, importFrom } });
}
