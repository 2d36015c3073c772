import type { LockedGadget } from "../core/gadget_lock.ts";
import { resolve } from "../core/path.ts";
import { FileError, type Files } from "../core/world.ts";
import { moduleChanges } from "../policy/decide_grant.ts";

/**
 * What of the modules of an entry of a lock is not as it was, a line each, without loading any: a module that came new is imported by one
 * that was changed.
 */
export async function changedModules(
  { modules }: LockedGadget,
  { root, disk }: { readonly root: string; readonly disk: Files },
): Promise<readonly string[]> {
  const now = await Promise.all(
    Object.keys(modules).map(async (name) => [name, await maybeHash(resolve(root, name), disk)] as const),
  );
  return moduleChanges(
    modules,
    Object.fromEntries(now.flatMap(([name, hash]) => hash === undefined ? [] : [[name, hash]])),
  );
}

async function maybeHash(path: string, disk: Files): Promise<string | undefined> {
  try {
    return await hashOfBytes(await disk.readBytes(path));
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** The SHA-256 of a file's bytes, in hex. */
export async function hashOfBytes(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes.slice());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
