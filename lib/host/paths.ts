import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isInside, pathFromFolder, type Sight } from "../core/core.ts";
import { denoGrants, hostEnv, program } from "./process.ts";

/** The working folder, absolute. */
export function workingFolder(): string {
  return program().cwd();
}

/**
 * What is at an absolute path, links followed. For the few places that every run looks at: most of them are not there, and an error for
 * each, made on another thread, would take longer than all the rest of the look.
 */
export function lookAt(path: string): Sight {
  if (!denoGrants({ name: "read", path })) return "closed";
  try {
    const { isFile, isDirectory } = Deno.statSync(path);
    return isFile ? "file" : isDirectory ? "folder" : "other";
  } catch (error) {
    const isNothing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
    return isNothing ? "nothing" : "closed";
  }
}

/** As many links in a row as Linux follows. */
const MAX_LINKS = 40;

/**
 * The real, absolute path of what is at `path`, links followed, also one that leads to nothing yet. For a path that does
 * not exist, or that Deno may not look at, that of its nearest folder that does, joined with the rest.
 */
export function realPath(path: string): string {
  return followed(isAbsolute(path) ? resolve(path, "") : resolve(program().cwd(), path), MAX_LINKS);
}

function followed(path: string, linksLeft: number): string {
  const parent = dirname(path);
  if (denoGrants({ name: "read", path })) {
    try {
      return Deno.realPathSync(path);
    } catch { /* not there, or a link that leads to nothing */ }
    const target = maybeLinkTarget(path);
    if (target !== undefined && linksLeft > 0) {
      return followed(resolve(followed(parent, linksLeft), target), linksLeft - 1);
    }
  }
  return parent === path ? path : join(followed(parent, linksLeft), basename(path));
}

function maybeLinkTarget(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}

/** So many files are looked at in a folder: whoever is asked is not to wait for more. */
const MOST_LOOKED_AT = 2_000;

/** Where a path leads, links followed, and which files in it have other names too (hard links), from it. */
export function sightOf(
  path: string,
): { readonly real: string; readonly isFile: boolean; readonly named: readonly string[] } {
  const real = realPath(path);
  const named: string[] = [];
  const left = [""];
  for (let looked = 0; looked < MOST_LOOKED_AT && named.length === 0; looked++) {
    const way = left.pop();
    if (way === undefined || lookAt(join(real, way)) === "closed") break;
    try {
      const { isDirectory, isFile, nlink } = Deno.lstatSync(join(real, way));
      if (isFile && (nlink ?? 1) > 1) named.push(way);
      if (isDirectory) {
        left.push(...[...Deno.readDirSync(join(real, way))].map(({ name }) => join(way, name)));
      }
    } catch { /* gone, or closed: nobody reads it either */ }
  }
  return { real, isFile: lookAt(real) === "file", named };
}

/** The user's home folder, when the environment says it. */
export function homeFolder(): string | undefined {
  return absoluteEnv("HOME") ?? absoluteEnv("USERPROFILE");
}

/**
 * The root of the project that a folder belongs to, real and absolute: the nearest folder with `orrery.yaml`, upwards; the search ends
 * silently at the home folder, at a folder with `.git`, and at one that may not be read, each of them looked at last. None: that of the
 * working folder when the folder is in it, so that what is kept of a run is found where it was started, else the folder itself (config.md).
 *
 * @param folder that of the file that is run, or the working folder
 */
export function projectRoot(folder: string, cwd: string): string {
  const [start, here, home] = [realPath(folder), realPath(cwd), realPath(homeFolder() ?? "/")];
  for (let at = start;; at = dirname(at)) {
    const config = lookAt(join(at, "orrery.yaml"));
    if (config === "file" || config === "other") return at;
    const isLast = config === "closed" || at === home || dirname(at) === at;
    if (isLast || lookAt(join(at, ".git")) !== "nothing") break;
  }
  return start !== here && isInside(start, here) ? projectRoot(here, here) : start;
}

/** The path of a file from the root of its project, links followed. @param word as it was typed */
export function pathInProject(
  word: string,
  { root, cwd }: { readonly root: string; readonly cwd: string },
): string {
  return pathFromFolder(realPath(resolve(cwd, word)), root);
}

/** Where the user's own settings are: `$XDG_CONFIG_HOME/orrery`, by default `~/.config/orrery`. */
export function configFolder(): string | undefined {
  return xdgFolder("XDG_CONFIG_HOME", ".config");
}

/** Where Orrery keeps what outlives a run: `$XDG_STATE_HOME/orrery`, by default `~/.local/state/orrery`. */
export function stateFolder(): string | undefined {
  return xdgFolder("XDG_STATE_HOME", join(".local", "state"));
}

/** Where Orrery keeps what it could find out again: `$XDG_CACHE_HOME/orrery`, by default `~/.cache/orrery`. */
export function cacheFolder(): string | undefined {
  return xdgFolder("XDG_CACHE_HOME", ".cache");
}

function xdgFolder(variable: string, underHome: string): string | undefined {
  const home = homeFolder();
  const base = absoluteEnv(variable) ?? (home === undefined ? undefined : join(home, underHome));
  return base === undefined ? undefined : join(base, "orrery");
}

/** A relative path in such a variable is ignored (XDG Base Directory Specification). */
function absoluteEnv(variable: string): string | undefined {
  const value = hostEnv(variable);
  return value !== undefined && isAbsolute(value) ? value : undefined;
}

/** The text of a file of the program itself, which a compiled one has inside. @returns undefined when it is not there */
export async function maybeOwnFile(url: URL): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/** The files of a folder of the program itself and of the folders in it, as paths from it, in order. */
export async function ownFiles(folder: URL): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    if (isFile) paths.push(name);
    if (isDirectory) {
      const below = await ownFiles(new URL(`${name}/`, folder));
      paths.push(...below.map((path) => `${name}/${path}`));
    }
  }
  return paths.sort();
}
