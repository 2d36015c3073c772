import { join, resolve } from "node:path";
import { FileError, type Files, type FolderEntry, PermissionRefused, type Policy } from "../core/world.ts";

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
  async function use<T>(
    kind: "read" | "write",
    path: string,
    work: (real: string) => Promise<T>,
  ): Promise<T> {
    refuseDenied(policy, { kind, value: resolve(root, path) });
    const real = await raw.resolve(path);
    await permitReal(policy, { kind, path, real, root });
    return await namedAsGiven(path, real, () => work(real));
  }
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

  /** What a link leads to is told only when it may be read. */
  async function judged(entry: FolderEntry, path: string): Promise<FolderEntry> {
    const real = await raw.resolve(path);
    const info = isAllowed(policy, "read", real) ? await raw.stat(real).catch(() => undefined) : undefined;
    return { ...entry, kind: info?.kind ?? "other" };
  }
}

/** Only what is forbidden: whether it is allowed, the real path decides. */
export function refuseDenied(
  policy: Policy,
  request: { readonly kind: "read" | "write"; readonly value: string },
): void {
  try {
    policy.check(request);
  } catch (error) {
    if (!(error instanceof PermissionRefused) || error.flag === "") throw error;
  }
}

/** A path that is asked for, and where it leads. */
export interface AskedPath {
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
export async function permitEither(policy: Policy, asked: AskedPath): Promise<void> {
  if (!isAllowed(policy, "write", asked.real)) await permitReal(policy, { kind: "read", ...asked });
}

function isAllowed(policy: Policy, kind: "read" | "write", value: string): boolean {
  try {
    policy.check({ kind, value });
    return true;
  } catch (error) {
    if (error instanceof PermissionRefused) return false;
    throw error;
  }
}

/** An error about the real path is told of the path that was asked for. */
export async function namedAsGiven<T>(given: string, real: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileError) || error.path !== real) throw error;
    const { code, cause } = error;
    const message = error.message.replace(JSON.stringify(real), () => JSON.stringify(given));
    throw new FileError(message, { path: given, code, ...(cause === undefined ? {} : { cause }) });
  }
}
