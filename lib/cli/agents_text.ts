import { hostFiles } from "../host/files.ts";
import { FileError } from "../core/world.ts";

/** `AGENTS.md` of the project root: what its people want every model to know (cli.md); empty when there is none. */
export async function agentsText(root: string): Promise<string> {
  const text = await hostFiles({ root }).readText("AGENTS.md").catch((error) => {
    if (error instanceof FileError) return "";
    throw error;
  });
  return text.trim();
}
