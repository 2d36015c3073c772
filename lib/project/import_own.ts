import { pathToFileURL } from "node:url";
import { isInside } from "../catalog/project_path.ts";
import { isRecord } from "../core/json.ts";
import { dirname } from "node:path";
import { importModule, maybeLibrary } from "../host/process.ts";
import { importPrepared } from "./import_prepared.ts";

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
