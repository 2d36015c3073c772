// On the path of `orrery --version`: two tiny modules and no npm package, so that it starts as fast as an empty script.
// `deno run` reads everything that a literal import() names before it starts anything, which costs 10 ms; `as string` hides the
// name from it. A bundler drops the types first, and so still finds the module.

import { printShort, printShortError } from "../host/process.ts";
import type { Kind } from "../service/kinds/kind.ts";
import { VERSION } from "../core/version.ts";

/** Runs the command that was typed; gives the exit code of the process (cli.md). @param kinds of files and runs, besides those of Orrery */
export async function main(args: readonly string[], kinds: readonly Kind[] = []): Promise<number> {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    printShort(`orrery ${VERSION}\n`);
    return 0;
  }
  if (args.length === 1 && args[0] === "gadget-process") {
    const { serveGadget }: typeof import("../sandbox/inside/inside.ts") = await import(
      "../sandbox/inside/inside.ts" as string
    );
    return await serveGadget();
  }
  const loaded = await loadDispatch();
  return typeof loaded === "string" ? printProblem(loaded) : await loaded.dispatch(args, kinds);
}

/** The code of the commands, or why it cannot be read: Deno reads what a hidden import() names only where it may read files. */
async function loadDispatch(): Promise<typeof import("./dispatch.ts") | string> {
  try {
    return await import("./dispatch.ts" as string);
  } catch (error) {
    const folder = decodeURIComponent(new URL("../..", import.meta.url).pathname);
    const isRead = error instanceof Error && error.message.includes("read access");
    if (!isRead) throw error;
    return `error: Deno may not read Orrery's own code: add --allow-read=${folder} before main.ts\n`;
  }
}

function printProblem(text: string): number {
  printShortError(text);
  return 2;
}
