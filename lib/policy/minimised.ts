import type { UsedPermission } from "../core/gadget_lock.ts";
import { relative, resolve } from "../core/path.ts";
import type { PermissionKind, Permissions } from "../core/world.ts";
import { entryHolds, maybeNetRule, permissionsOf } from "./permission_sets.ts";
import { holdsPath } from "./path_rule.ts";

/** With more than that of one entry the entry stays as it is: who used a hundred files of a folder uses the folder. */
export const MAX_USED_VALUES = 12;

/**
 * What is left of a grant when only what was used stays: the files, hosts and names themselves in place of a wider entry, as long as they are
 * few. Nothing is in it that was not granted.
 */
export function minimisedPermissions(
  granted: Permissions,
  used: readonly UsedPermission[],
  place: { readonly root: string },
): Permissions {
  return permissionsOf((kind) => {
    const values = [
      ...new Set(
        used.filter((each) => each.kind === kind).map(({ value }) => shortValue(kind, value, place)),
      ),
    ].sort();
    const given = granted[kind];
    if (given === undefined || values.length === 0) return undefined;
    if (given === true) {
      return values.length > MAX_USED_VALUES ? true : values.map((value) => publicValue(kind, value));
    }
    const list = minimisedList(given, values, { kind, ...place });
    return list.length === 0 ? undefined : list;
  });
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

/** A host that is named by itself may be a private address; as a domain it may not, as it could not before. */
function publicValue(kind: PermissionKind, value: string): string {
  return kind === "net" && maybeNetRule(value)?.host.kind === "name" ? `*.${value}` : value;
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
