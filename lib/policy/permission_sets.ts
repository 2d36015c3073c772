import { resolve } from "node:path";
import type { PermissionKind, Permissions } from "../core/world.ts";
import { type IpRange, isWithin } from "./ip_address.ts";
import { isLocalName, type NetRule, parseNetRule } from "./net_rule.ts";
import { holdsPath } from "./path_rule.ts";
import { PERMISSION_KINDS } from "./policy_settings.ts";

/** What paths are relative to. */
export interface PermissionPlace {
  /** The project root: absolute. */
  readonly root: string;
  /** Where a path of a grant leads, and what in it has other names too (hard links). Default: nobody looks. */
  readonly sightOf?: (path: string) => PathSight;
}

/** What is at a path of a grant. */
export interface PathSight {
  /** Links followed. */
  readonly real: string;
  readonly isFile: boolean;
  /** Files in it that have other names, from it; as many as were found soon. */
  readonly named: readonly string[];
}

/** Whether a path in the project leads out of it: of such a link nothing is granted but what it leads to by its own name. */
export function leadsOut(path: string, real: string, root: string): boolean {
  return holdsPath(root, path) && !holdsPath(root, real);
}

/** Everything that any of them allows. */
export function joinedPermissions(all: readonly Permissions[]): Permissions {
  return permissionsOf((kind) => {
    const granted = all.map((each) => each[kind] ?? []);
    const lists = granted.filter((each) => each !== true);
    if (lists.length < granted.length) return true;
    const list = [...new Set(lists.flat())];
    return list.length === 0 ? undefined : list;
  });
}

/** Whether they allow nothing at all: an empty list is nothing. */
export function isEmptyPermissions(permissions: Permissions): boolean {
  return PERMISSION_KINDS.every((kind) => {
    const granted = permissions[kind];
    return granted === undefined || granted !== true && granted.length === 0;
  });
}

/** What of `asked` is not in `granted`: entries as they were written. */
export function missingPermissions(
  asked: Permissions,
  granted: Permissions,
  place: PermissionPlace,
): Permissions {
  return permissionsOf((kind) => {
    const [wanted, given] = [asked[kind], granted[kind]];
    if (wanted === undefined || given === true) return undefined;
    if (wanted === true) return true;
    const list = wanted.filter((entry) =>
      !(given ?? []).some((known) => entryHolds(known, entry, { kind, ...place }))
    );
    return list.length === 0 ? undefined : list;
  });
}

/** A permission for each kind that has one, in the order of the kinds. */
export function permissionsOf(
  of: (kind: PermissionKind) => true | readonly string[] | undefined,
): Permissions {
  const permissions: { [kind in PermissionKind]?: true | readonly string[] } = {};
  for (const kind of PERMISSION_KINDS) {
    const granted = of(kind);
    if (granted !== undefined) permissions[kind] = granted;
  }
  return permissions;
}

/** Whether an entry of a list allows all that another one does. */
export function entryHolds(
  entry: string,
  other: string,
  { kind, root }: PermissionPlace & { readonly kind: PermissionKind },
): boolean {
  if (entry === other) return true;
  switch (kind) {
    case "read":
    case "write":
      return holdsPath(resolve(root, entry), resolve(root, other));
    case "net": {
      const [wide, narrow] = [maybeNetRule(entry), maybeNetRule(other)];
      return wide !== undefined && narrow !== undefined && holdsHosts(wide, narrow);
    }
    case "run":
      return entry.includes("/") && other.includes("/") && resolve(root, entry) === resolve(root, other);
    case "env":
    case "sys":
      return entry.endsWith("*") && other.startsWith(entry.slice(0, -1));
    default:
      return kind satisfies never;
  }
}

/** A manifest may hold anything. */
export function maybeNetRule(entry: string): NetRule | undefined {
  try {
    return parseNetRule(entry);
  } catch {
    return undefined;
  }
}

function holdsHosts({ host, port }: NetRule, narrow: NetRule): boolean {
  if (port !== undefined && port !== narrow.port) return false;
  if (host.kind === "range") return narrow.host.kind === "range" && holdsRange(host.range, narrow.host.range);
  if (narrow.host.kind === "range") return false;
  if (host.kind === "name") return narrow.host.kind === "name" && narrow.host.name === host.name;
  // `localhost` by itself opens this machine too, which a domain never does.
  if (narrow.host.kind === "name" && isLocalName(narrow.host.name)) return false;
  return narrow.host.name === host.name || narrow.host.name.endsWith(`.${host.name}`);
}

/** A part of a range that is public as a whole may be private, and is then named outright only by itself. */
function holdsRange(wide: IpRange, narrow: IpRange): boolean {
  return wide.bits === narrow.bits && isWithin(narrow.base, wide);
}
