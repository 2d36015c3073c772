import type { Files } from "../core/world.ts";

const MAX_BYTES = 256 * 1024;

/**
 * The name that the text of a gadget module seems to give its gadget, read without running anything; undefined when none is seen.
 * It is only good for finding the file that a user means, and for messages: the text may lie.
 */
export async function declaredName(path: string, disk: Files): Promise<string | undefined> {
  try {
    if ((await disk.stat(path)).size > MAX_BYTES) return undefined;
    const text = await disk.readText(path);
    return /(?:^|[\s{,])name\s*:\s*(["'`])([A-Za-z_][A-Za-z0-9_-]{0,63})\1/.exec(text)?.[2];
  } catch {
    // A file that cannot be read has no name to tell; loading it will say why.
    return undefined;
  }
}
