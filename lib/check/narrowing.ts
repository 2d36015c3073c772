import { isInside } from "../core/core.ts";
import { resolve } from "node:path";
import type { DocumentFile } from "../parse/document/document.ts";

/** The most that a document may use, said by its front matter and by those of the documents that run it (documents.md 13.2, 13.3). */
export interface Narrowing {
  readonly limits: readonly Limit[];
}

interface Limit {
  readonly kind: "read" | "write" | "net" | "run";
  /** Whose front matter says so. */
  readonly file: string;
  /** Paths, relative to the root or absolute, or hosts; empty: nothing at all. */
  readonly list: readonly string[];
}

export const NOT_NARROWED: Narrowing = { limits: [] };

/** The same with what the front matter of a document says. */
export function narrowedBy(
  { limits }: Narrowing,
  { path, settings }: Pick<DocumentFile, "path" | "settings">,
): Narrowing {
  const { read, write, net, run } = settings.permissions;
  const own = Object.entries({ read, write, net, run }).flatMap(([kind, value]): readonly Limit[] => {
    if (value === undefined || value === true || !isKind(kind)) return [];
    return [{ kind, file: path, list: value === false ? [] : value }];
  });
  const isNew = (limit: Limit): boolean =>
    !limits.some(({ kind, file }) => kind === limit.kind && file === limit.file);
  return { limits: [...limits, ...own.filter(isNew)] };
}

function isKind(text: string): text is Limit["kind"] {
  return text === "read" || text === "write" || text === "net" || text === "run";
}

/** The end of a sentence that says which front matter does not allow something; undefined when none is against it. */
export function narrowedAway(
  { limits }: Narrowing,
  { kind, ...wanted }: {
    readonly kind: Limit["kind"];
    readonly root: string;
    readonly path?: string;
    /** `host` or `host:port`. */
    readonly host?: string;
  },
): string | undefined {
  const against = limits.find((limit) => limit.kind === kind && !allows(limit, wanted));
  if (against === undefined) return undefined;
  return `which the front matter of ${against.file} does not allow (permissions.${kind})`;
}

/** The same as a whole sentence about a file. @param options.written the path as the document has it */
export function narrowedFile(
  narrowing: Narrowing,
  { kind, root, path, written }: {
    readonly kind: "read" | "write";
    readonly root: string;
    readonly path: string;
    readonly written: string;
  },
): string | undefined {
  const against = narrowedAway(narrowing, { kind, root, path });
  return against && `"${written}" needs ${kind} permission, ${against}`;
}

function allows(
  { list }: Limit,
  { root, path, host }: { readonly root: string; readonly path?: string; readonly host?: string },
): boolean {
  if (host !== undefined) return list.some((entry) => host === entry || host.startsWith(`${entry}:`));
  if (path === undefined) return list.length > 0;
  return list.some((entry) => isInside(resolve(root, path), resolve(root, entry)));
}
