import { dirname } from "node:path";
import { FailedEffect, step, type Steps } from "./steps.ts";

/** What is at a path, as Orrery says it. */
export interface Look {
  readonly kind: string;
  readonly size: number;
  readonly modifiedMs: number | undefined;
  readonly createdMs: number | undefined;
  readonly mode: number | undefined;
}

/** An entry of a folder: `kind` is `file`, `folder`, `link` or `other`. */
export type Entry = readonly [name: string, kind: string];

/** What is at a path. @param isLink at a link itself */
export function* look(path: string, isLink: boolean): Steps<Look> {
  const { ok } = yield* step({ kind: "stat", path, isLink });
  return {
    kind: fieldOf(ok, "kind", isText) ?? "other",
    size: fieldOf(ok, "size", isNumber) ?? 0,
    modifiedMs: fieldOf(ok, "modifiedMs", isNumber),
    createdMs: fieldOf(ok, "createdMs", isNumber),
    mode: fieldOf(ok, "mode", isNumber),
  };
}

/** The same, undefined when nothing is there. */
export function* maybeLook(path: string, isLink: boolean): Steps<Look | undefined> {
  try {
    return yield* look(path, isLink);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an effect failed because nothing is at the path. */
export function isMissing(error: unknown): boolean {
  return error instanceof FailedEffect && ["not-found", "not-folder"].includes(error.failure.code);
}

/** The entries of a folder, sorted by name. */
export function* list(path: string): Steps<readonly Entry[]> {
  const { ok } = yield* step({ kind: "list", path });
  return Array.isArray(ok) ? ok.flatMap(entryOf) : [];
}

function entryOf(value: unknown): readonly Entry[] {
  if (!Array.isArray(value)) return [];
  const [name, kind]: readonly unknown[] = value;
  return isText(name) && isText(kind) ? [[name, kind]] : [];
}

/** `mkdir -p`; the first folder that was made, undefined when all were there. */
export function* makeFolders(path: string): Steps<string | undefined> {
  let first: string | undefined;
  for (let at = path; !(yield* isThere(at)); at = dirname(at)) {
    first = at;
    if (dirname(at) === at) break;
  }
  yield* step({ kind: "make-folder", path, isRecursive: true });
  return first;
}

/** What may not be looked at counts as there: a gadget that may write one folder need not know of those above. */
function* isThere(path: string): Steps<boolean> {
  try {
    return path === "." || (yield* maybeLook(path, false)) !== undefined;
  } catch (error) {
    if (error instanceof FailedEffect && error.failure.code === "refused") return true;
    throw error;
  }
}

/** Whether what is at a path is a folder, no link to one. */
export function* isFolder(path: string): Steps<boolean> {
  return (yield* maybeLook(path, true))?.kind === "folder";
}

/** A field of an object of JSON. */
export function fieldOf<Value>(
  object: unknown,
  name: string,
  is: (value: unknown) => value is Value,
): Value | undefined {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return undefined;
  const value: unknown = Reflect.get(object, name);
  return is(value) ? value : undefined;
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
