// On the path of `orrery --version`: two tiny modules and no npm package, so that it starts as fast as an empty script.
// `deno run` reads everything that a literal import() names before it starts anything, which costs 10 ms; `as string` hides the
// name from it. A bundler drops the types first, and so still finds the module.

import { printShort } from "../host/process.ts";
import { VERSION } from "./version.ts";

/** Runs the command that was typed; gives the exit code of the process (cli.md). */
export async function main(args: readonly string[]): Promise<number> {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    printShort(`orrery ${VERSION}\n`);
    return 0;
  }
  const { dispatch }: typeof import("./dispatch.ts") = await import("./dispatch.ts" as string);
  return await dispatch(args);
}
