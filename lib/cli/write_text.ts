import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";

/** Writes a text to the file that was named with `-o`, whole or not at all, or else to stdout. */
export async function writeText(
  text: string,
  { output, terminal }: { readonly output: string | undefined; readonly terminal: Terminal },
): Promise<void> {
  if (output === undefined) await terminal.stdout.write(text);
  else await hostFiles({ root: workingFolder() }).writeText(output, text);
}
