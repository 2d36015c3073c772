import { isInside } from "../catalog/paths.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";

/**
 * `AGENTS.md` of the project root: what its people want every model to know (cli.md); empty when there is none, or when it is a link that
 * leads out of the project.
 */
export async function agentsText(root: string): Promise<string> {
  const files = hostFiles({ root });
  try {
    const [real, realRoot] = await Promise.all([files.resolve("AGENTS.md"), files.resolve(root)]);
    return isInside(real, realRoot) ? (await files.readText(real)).trim() : "";
  } catch (error) {
    if (error instanceof FileError) return "";
    throw error;
  }
}
