import {
  type FileAction,
  type FileChanges,
  FileError,
  fileProblem,
  type Files,
  type FolderEntry,
  isInside,
  PermissionRefused,
  type Policy,
} from "../core/core.ts";
import { basename, dirname, join, resolve } from "node:path";
import { maybeRefusal } from "./refusal.ts";

/**
 * Files that ask the policy about the real path, links followed, and then use that real path and no other. What a `--deny` flag forbids by
 * the way it is written stays forbidden, wherever a link on that way leads by then.
 *
 * @param raw follows no link on a path that it is given, as `exactFiles` of lib/host: somebody may put one there behind the judgement
 */
export function guardFiles(
  raw: Files,
  { policy, root }: { readonly policy: Policy; readonly root: string },
): Files {
  const { use } = judgedPaths({ policy, root, files: raw });
  /** What a link leads to is told only when it may be read. */
  const judged = async (entry: FolderEntry, path: string): Promise<FolderEntry> => {
    const real = await raw.resolve(path);
    const info = isAllowed(policy, "read", real) ? await raw.stat(real).catch(() => undefined) : undefined;
    return { ...entry, kind: info?.kind ?? "other" };
  };
  return {
    async resolve(path, options = {}) {
      refuseDenied(policy, { kind: options.for ?? "read", value: resolve(root, path) });
      const real = await raw.resolve(path);
      if (options.for === "write") await permitReal(policy, { kind: "write", path, real, root });
      else await permitEither(policy, { path, real, root });
      return real;
    },
    stat: (path) => use("read", path, (real) => raw.stat(real)),
    readBytes: (path, options) => use("read", path, (real) => raw.readBytes(real, options)),
    readText: (path, options) => use("read", path, (real) => raw.readText(real, options)),
    writeText: (path, text) => use("write", path, (real) => raw.writeText(real, text)),
    list: (path) =>
      use("read", path, async (real) => {
        const entries = await raw.list(real);
        return await Promise.all(
          entries.map((entry) => entry.link ? judged(entry, join(real, entry.name)) : entry),
        );
      }),
  };
}

/** Paths that the policy is asked about, as what they really are. */
function judgedPaths({ policy, root, files }: GuardChangesOptions) {
  /** Where a path leads, links followed; the policy has been asked. */
  const followed = async (path: string, kind: Kind): Promise<string> => {
    refuseDenied(policy, { kind, value: resolve(root, path) });
    const real = await files.resolve(path);
    await permitReal(policy, { kind, path, real, root });
    return real;
  };
  return {
    followed,
    /** The path itself in its real folder: a link there is not followed. */
    async itself(path: string, kinds: readonly Kind[]): Promise<string> {
      const absolute = resolve(root, path);
      for (const kind of kinds) refuseDenied(policy, { kind, value: absolute });
      const real = join(await files.resolve(dirname(absolute)), basename(absolute));
      for (const kind of kinds) await permitReal(policy, { kind, path, real, root });
      return real;
    },
    /** Does something where a path leads. */
    async use<T>(kind: Kind, path: string, work: (real: string) => Promise<T>): Promise<T> {
      const real = await followed(path, kind);
      return await namedAsGiven(path, real, () => work(real));
    },
  };
}

/** Only what is forbidden: whether it is allowed, the real path decides. */
function refuseDenied(policy: Policy, request: { readonly kind: Kind; readonly value: string }): void {
  const refused = maybeRefusal(policy, request);
  if (refused?.flag === "") throw refused;
}

/** A path that is asked for, and where it leads. */
interface AskedPath {
  readonly path: string;
  readonly real: string;
  /** What it is relative to. */
  readonly root: string;
}

/**
 * A refusal names the real path; when that is not what was asked for, such as a link or `..`, it says so. Where a link leads is for the user
 * to know, and not for a gadget that was refused.
 */
export async function permitReal(
  policy: Policy,
  { path, real, root, ...asked }: AskedPath & {
    readonly kind: "read" | "write" | "run";
    readonly detail?: string;
  },
): Promise<void> {
  try {
    await policy.permit({ ...asked, value: real });
  } catch (error) {
    if (!(error instanceof PermissionRefused) || resolve(root, path) === real && real.endsWith(path)) {
      throw error;
    }
    const { request, flag, isFinal } = error;
    const shown = JSON.stringify(path);
    const told = resolve(root, path) === real ? {} : { told: `${DOING[asked.kind]} ${shown} is not allowed` };
    throw new PermissionRefused(`${error.message} (${shown} leads there)`, {
      request,
      flag,
      isFinal,
      ...told,
    });
  }
}

const DOING = { read: "Reading", write: "Writing", run: "Running" } as const;

/** A path may be known by who may read it, and by who may write it. */
async function permitEither(policy: Policy, asked: AskedPath): Promise<void> {
  if (!isAllowed(policy, "write", asked.real)) await permitReal(policy, { kind: "read", ...asked });
}

function isAllowed(policy: Policy, kind: Kind, value: string): boolean {
  return maybeRefusal(policy, { kind, value }) === undefined;
}

/** An error about the real path is told of the path that was asked for. */
export async function namedAsGiven<T>(given: string, real: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileError) || error.path !== real) throw error;
    const { code, cause } = error;
    const message = error.message.replace(JSON.stringify(real), () => JSON.stringify(given));
    throw new FileError(message, { path: given, code, cause });
  }
}

type Kind = "read" | "write";

/** What a guard of changes is made with. */
interface GuardChangesOptions {
  readonly policy: Policy;
  /** What relative paths are relative to: real and absolute. */
  readonly root: string;
  /** Gives real paths, asking nobody. */
  readonly files: Pick<Files, "resolve">;
}

/**
 * Changes that ask the policy about the real path of both their ends, and then name that one and no other. Of a folder that is moved or
 * removed the policy is asked about everything in it: a `--deny` flag inside of it stays a wall.
 */
export function guardFileChanges(raw: FileChanges, options: GuardChangesOptions): FileChanges {
  const { policy, root, files } = options;
  const { followed, itself, use } = judgedPaths(options);

  /** Whoever may change everything in the project has still to leave it where it is. */
  function refuseRoot(
    path: string,
    { real, action }: { readonly real: string; readonly action: FileAction },
  ) {
    if (!isInside(root, real)) return;
    throw fileProblem(path, { action, code: "other", reason: "the project is in it, or is it" });
  }

  async function isFolder(real: string): Promise<boolean> {
    try {
      return (await raw.look(real, { isLink: true })).kind === "folder";
    } catch (error) {
      if (error instanceof FileError) return false;
      throw error;
    }
  }

  /** Everything in a folder, each folder before what is in it; no link is followed. Nothing of what is no folder. */
  async function below(real: string, action: FileAction): Promise<string[]> {
    if (!await isFolder(real)) return [];
    const found: string[] = [];
    const folders = [real];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of await raw.list(folder)) {
        const path = join(folder, entry.name);
        found.push(path);
        if (entry.kind === "folder") folders.push(path);
      }
      if (found.length > MAX_ENTRIES) {
        const reason = `it holds more than ${MAX_ENTRIES} files, too many to be judged one by one`;
        throw fileProblem(real, { action, code: "other", reason });
      }
    }
    return found;
  }

  return {
    async look(path, { isLink = false } = {}) {
      const real = isLink ? await itself(path, ["read"]) : await followed(path, "read");
      return await namedAsGiven(path, real, () => raw.look(real, { isLink }));
    },
    readBytes: (path, options) => use("read", path, (real) => raw.readBytes(real, options)),
    list: (path) => use("read", path, (real) => raw.list(real)),
    writeBytes: (path, bytes) => use("write", path, (real) => raw.writeBytes(real, bytes)),
    append: (path, bytes) => use("write", path, (real) => raw.append(real, bytes)),
    create: (path, bytes) => use("write", path, (real) => raw.create(real, bytes)),
    async makeFolder(path, options) {
      refuseDenied(policy, { kind: "write", value: resolve(root, path) });
      const real = await files.resolve(path);
      // `mkdir -p` of what is there changes nothing: it is enough to know of it.
      if (options.isRecursive && await isFolder(real)) {
        return await permitEither(policy, { path, real, root });
      }
      await permitReal(policy, { kind: "write", path, real, root });
      await namedAsGiven(path, real, () => raw.makeFolder(real, options));
    },
    async remove(path, { isRecursive }) {
      const real = await itself(path, ["write"]);
      refuseRoot(path, { real, action: "remove" });
      const inside = isRecursive ? await below(real, "remove") : [];
      for (const each of inside) policy.check({ kind: "write", value: each });
      // One by one, from the bottom: what came in after the look has not been judged, and its folder stays.
      for (const each of [...inside.reverse(), real]) {
        await namedAsGiven(path, real, () => raw.remove(each, { isRecursive: false }));
      }
    },
    async rename(path, to) {
      // What is moved can be read at its new place: it must be one that may be read where it is.
      const real = await itself(path, ["read", "write"]);
      const realTo = await itself(to, ["write"]);
      refuseRoot(path, { real, action: "rename" });
      for (const inside of await below(real, "rename")) {
        policy.check({ kind: "read", value: inside });
        policy.check({ kind: "write", value: inside });
        policy.check({ kind: "write", value: realTo + inside.slice(real.length) });
      }
      await namedAsGiven(to, realTo, () => namedAsGiven(path, real, () => raw.rename(real, realTo)));
    },
    copy: (path, to) => use("read", path, (real) => use("write", to, (realTo) => raw.copy(real, realTo))),
  };
}

/** More in one folder is not looked through. */
const MAX_ENTRIES = 100_000;
