import type { UsedPermission } from "../core/gadget_lock.ts";
import { dirname, relative, resolve } from "node:path";
import type { PermissionKind, Permissions } from "../core/world.ts";
import { entryHolds, maybeNetRule, permissionsOf } from "./permission_sets.ts";
import { isLocalName } from "./net_rule.ts";
import { holdsPath } from "./path_rule.ts";
import { countPath, foldPaths, type PathCounts } from "./used_paths.ts";

/** So many are shown and kept: of more hosts or names their entry stays as it is, of more files the folders that they are in. */
export const MAX_USED_VALUES = 12;

/**
 * What is left of a grant when only what was used stays: the files, hosts and names themselves in place of a wider entry, as long as they are
 * few; of many files their folders. Nothing is in it that was not granted.
 */
export function minimisedPermissions(
  granted: Permissions,
  used: readonly UsedPermission[],
  place: { readonly root: string },
): Permissions {
  return permissionsOf((kind) => {
    const ofKind = used.filter((each) => each.kind === kind);
    const values = [...new Set(ofKind.map(({ value }) => shortValue(kind, value, place)))].sort();
    const given = granted[kind];
    if (given === undefined || values.length === 0) return undefined;
    if (kind === "read" || kind === "write") return minimisedPaths(given, values, place);
    if (given === true) {
      return values.length > MAX_USED_VALUES ? true : values.map((value) => publicValue(kind, value));
    }
    const list = minimisedList(given, values, { kind, ...place });
    return list.length === 0 ? undefined : list;
  });
}

/**
 * Whether a folder may stand for what is in it: one that is in an entry of a grant. Of "every file" that is every folder but the one that
 * holds them all.
 */
export function standsForPaths(
  granted: true | readonly string[],
  folder: string,
  { root }: { readonly root: string },
): boolean {
  if (granted === true) return dirname(folder) !== folder;
  return granted.some((entry) => holdsPath(resolve(root, entry), folder));
}

function minimisedPaths(
  granted: true | readonly string[],
  values: readonly string[],
  place: { readonly root: string },
): true | readonly string[] | undefined {
  const { root } = place;
  const paths = values.map((value) => resolve(root, value));
  const isHeld = (path: string) => granted === true || standsForPaths(granted, path, place);
  const counts: PathCounts = new Map();
  paths.filter(isHeld).forEach((path) => countPath(counts, path, 1));
  foldPaths(counts, {
    most: MAX_USED_VALUES,
    mayBe: (folder) => standsForPaths(granted, folder, place),
  });
  if (granted === true && counts.size > MAX_USED_VALUES) return true; // all over the system
  // Such as a file behind a link: whichever entry stands for it has to stay.
  const unsure = paths.every(isHeld) || granted === true
    ? []
    : granted.filter((entry) => ![...counts.keys()].some((path) => holdsPath(resolve(root, entry), path)));
  const list = [...unsure, ...[...counts.keys()].map((path) => shortValue("read", path, place)).sort()];
  return list.length === 0 ? undefined : list;
}

/** The entries that a value stands under; itself where there is none, such as a file behind a link. Of `true` the one entry `*`. */
export function holdingEntries(
  granted: true | readonly string[],
  value: string,
  place: { readonly kind: PermissionKind; readonly root: string },
): readonly string[] {
  if (granted === true) return ["*"];
  const { kind } = place;
  const short = shortValue(kind, value, place);
  const found = granted.filter((entry) =>
    [short, publicValue(kind, short)].some((each) => entryHolds(entry, each, place))
  );
  return found.length === 0 ? [""] : found;
}

function minimisedList(
  entries: readonly string[],
  values: readonly string[],
  place: { readonly kind: PermissionKind; readonly root: string },
): readonly string[] {
  const found = entries.map((entry) => ({
    entry,
    held: values.flatMap((value) => {
      const fitting = [value, publicValue(place.kind, value)].find((each) => entryHolds(entry, each, place));
      return fitting === undefined ? [] : [{ value, fitting }];
    }),
  }));
  const known = new Set(found.flatMap(({ held }) => held.map(({ value }) => value)));
  // Such as a file behind a link: whichever entry stands for it has to stay.
  const isSure = values.every((value) => known.has(value));
  return [
    ...new Set(found.flatMap(({ entry, held }) => {
      if (held.length === 0) return isSure ? [] : [entry];
      return held.length > MAX_USED_VALUES ? [entry] : held.map(({ fitting }) => fitting);
    })),
  ];
}

/** `localhost` that is named by itself opens this machine; as a domain it does not, as it could not before. */
function publicValue(kind: PermissionKind, value: string): string {
  const host = kind === "net" ? maybeNetRule(value)?.host : undefined;
  return host?.kind === "name" && isLocalName(host.name) ? `*.${value}` : value;
}

/** As a manifest would have it: from the root what is inside it. */
function shortValue(kind: PermissionKind, value: string, { root }: { readonly root: string }): string {
  const isPath = kind === "read" || kind === "write" || kind === "run" && value.includes("/");
  if (!isPath) return value;
  const path = resolve(root, value);
  if (!holdsPath(root, path)) return path;
  const way = relative(root, path) || ".";
  return kind === "run" ? `./${way}` : way;
}
