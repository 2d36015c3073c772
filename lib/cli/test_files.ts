import { join, relative, resolve } from "../core/path.ts";
import { hostFiles } from "../host/files.ts";
import { lookAt } from "../host/paths.ts";
import { UsageError } from "../service/exit_code.ts";
import { walkFiles } from "../service/walk_files.ts";

/**
 * The files of tests that the words of the command name: a file is itself, a folder all tests below it.
 *
 * @throws {UsageError} with every folder that has none, {FileError} for one that cannot be looked into
 */
export async function testFiles(
  words: readonly string[],
  { cwd, isTest }: { readonly cwd: string; isTest(name: string): boolean },
): Promise<readonly string[]> {
  const found = new Set<string>();
  const empty: string[] = [];
  for (const word of words) {
    const folder = resolve(cwd, word);
    if (lookAt(folder) !== "folder") {
      found.add(word);
      continue;
    }
    const paths = await walkFiles(folder, { files: hostFiles({ root: cwd }), isWanted: isTest });
    if (paths.length === 0) empty.push(`There are no tests in ${JSON.stringify(word)}`);
    for (const path of paths) found.add(join(word, relative(folder, path)));
  }
  if (empty.length > 0) throw new UsageError(empty, { command: "test" });
  return [...found];
}
