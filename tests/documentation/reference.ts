// The part of README.md that is made from the flag table. `deno task reference` writes it; tests/long/readme_test.ts compares.

import { join } from "node:path";
import { commandReference } from "../../lib/cli/help.ts";
import { PROJECT_ROOT } from "../_run.ts";

const START = "<!-- reference: made from the flag table; `deno task reference` writes it -->\n";
const END = "<!-- /reference -->\n";

/** README.md as it should be. @throws {Error} when the two comments that hold the reference are not there. */
export function withReference(readme: string): string {
  const start = readme.indexOf(START);
  const end = readme.indexOf(END);
  if (start < 0 || end < start) throw new Error("README.md has no place for the command reference");
  return `${readme.slice(0, start)}${START}\n${commandReference()}\n${readme.slice(end)}`;
}

if (import.meta.main && Deno.args.includes("--write")) {
  const path = join(PROJECT_ROOT, "README.md");
  await Deno.writeTextFile(path, withReference(await Deno.readTextFile(path)));
}
