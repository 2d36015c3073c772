// Test files that share an isolate. Deno gives each test file one of its own, in which it fills an array of 80 MB first, and in which all modules
// of the program are read, compiled and warmed up anew: half the time of most files. So each file of `together/KIND/` runs its share of the files
// of that kind, every n-th, one after the other. By itself a file runs as ever: `deno test tests/yaml_test.ts`.

import { readdirSync } from "node:fs";

/** Says the same in every version of Deno, and stands beside its folder. */
const ARCHITECTURE = "tests/architecture_test.ts";

/** The test files of each kind, from the folder of the project. */
const KINDS: Readonly<Record<string, () => readonly string[]>> = {
  fast: () => testsIn("tests/").filter((path) => path !== ARCHITECTURE),
  browser: () => testsIn("tests/page/"),
};

/**
 * Registers the tests of the files that are the share of a file of `together/KIND/`.
 *
 * @param entry its `import.meta.url`
 */
export async function together(entry: string): Promise<void> {
  const kind = new URL(".", entry).pathname.split("/").at(-2) ?? "";
  const entries = testsIn(`tests/together/${kind}/`).map((path) => atProject(path).href);
  const files = KINDS[kind]?.() ?? [];
  if (files.length === 0) {
    throw new Error(`${entry}: there are tests of ${Object.keys(KINDS).join(", ")} only`);
  }
  const share = files.filter((_, at) => at % entries.length === entries.indexOf(entry));
  for (const path of share) await import(atProject(path).href);
}

/** In the order of their names; a helper begins with `_`. */
function testsIn(folder: string): readonly string[] {
  const names = readdirSync(atProject(folder)).filter((name) =>
    name.endsWith("_test.ts") && !name.startsWith("_")
  );
  return names.sort().map((name) => folder + name);
}

function atProject(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
