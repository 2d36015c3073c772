import { FileError, type Files, isInside, type LockedGadget } from "../../core/core.ts";
import { dirname, resolve } from "node:path";
import { lookAt, realPath } from "../../host/paths.ts";
import { linkChanges, lockedPath, lockedTarget, moduleChanges } from "../../policy/decide_grant.ts";

/** Where a path of a grant leads, when it is a link in the project, or lies behind one. */
export function linkTarget(entry: string, root: string): string | undefined {
  const path = resolve(root, entry);
  const real = isInside(path, root) ? realPath(path) : path;
  return real === path ? undefined : real;
}

/**
 * What of the modules and links of an entry of a lock is not as it was, a line each, without loading any: a module that came new is imported
 * by one that was changed.
 */
export async function changedModules(
  { modules, links = {} }: LockedGadget,
  { root, disk }: { readonly root: string; readonly disk: Files },
): Promise<readonly string[]> {
  const now = await Promise.all(
    Object.keys(modules).map(async (name) => [name, await maybeHash(resolve(root, name), disk)] as const),
  );
  const linksNow = Object.keys(links).flatMap((entry) => {
    const to = linkTarget(entry, root);
    return to === undefined ? [] : [[entry, lockedTarget(to, { root })]];
  });
  return [
    ...moduleChanges(
      modules,
      Object.fromEntries(now.flatMap(([name, hash]) => hash === undefined ? [] : [[name, hash]])),
    ),
    ...linkChanges(links, Object.fromEntries(linksNow)),
  ];
}

/** A text in code that may be the path of a file beside it. */
const BESIDE = /(["'`])((?:\.{1,2}\/|\/|file:\/)[^"'`\n]*?\.(?:[cm]?[jt]sx?|json))(?:[?#][^"'`\n]*)?\1/g;

/** The SHA-256 of these modules, and of all code that they name by its path, as a lock has both. What a module makes a path of is not seen. */
export async function sourceHashes(
  paths: readonly string[],
  { root, disk }: { readonly root: string; readonly disk: Files },
): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  const left = [...paths];
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const name = lockedPath(path, { root });
    if (Object.hasOwn(hashes, name) || lookAt(path) !== "file") continue;
    const bytes = await disk.readBytes(path);
    hashes[name] = await hashOfBytes(bytes);
    for (const [, , word = ""] of new TextDecoder().decode(bytes).matchAll(BESIDE)) {
      left.push(word.startsWith("file:") ? new URL(word).pathname : resolve(dirname(path), word));
    }
  }
  return hashes;
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
