import { isInside, pathFromFolder, type PermissionKind, type Permissions, shownWord } from "../core/core.ts";
import { relative, resolve } from "node:path";
import {
  endsOf,
  type IpRange,
  isLocalName,
  isWithin,
  type NetRule,
  parseNetRule,
  privateRange,
} from "./net_rule.ts";
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
  return isInside(path, root) && !isInside(real, root);
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
      return isInside(resolve(root, other), resolve(root, entry));
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

// Permissions as they are shown to the person who is asked. What stands in a manifest comes from the gadget: nothing of it may look like
// words of ours.

/** How it is said. */
interface PermissionWordsOptions extends PermissionPlace {
  /** How many of one kind; that there are more is said. Default 100: whoever is asked is to see all of them. */
  readonly most?: number;
}

/** Each permission in words, a line each: `read data and everything in it`. What opens most stands first. */
export function permissionLines(
  permissions: Permissions,
  place: PermissionWordsOptions,
): readonly string[] {
  const all = PERMISSION_KINDS.filter((kind) => permissions[kind] === true).map((kind) => ALL[kind]);
  return [
    ...all,
    ...PERMISSION_KINDS.flatMap((kind) => {
      const list = permissions[kind];
      return list === undefined || list === true ? [] : listLines(kind, list, place);
    }),
  ];
}

/** What is not as it was, a line each: `now also: …`, `no longer: …`; none when nothing changed. */
export function permissionChanges(
  before: Permissions,
  now: Permissions,
  place: PermissionPlace,
): readonly string[] {
  const added = permissionLines(missingPermissions(now, before, place), place);
  const gone = permissionLines(missingPermissions(before, now, place), place);
  return [...added.map((line) => `now also: ${line}`), ...gone.map((line) => `no longer: ${line}`)];
}

const ALL: { readonly [kind in PermissionKind]: string } = {
  read: "read every file that you can read",
  write: "write, change and delete every file that you can",
  net: "connect to every public host",
  run: "run every program, which can do whatever you can",
  env: "read every variable of the environment, keys and passwords too",
  sys: "ask the system for everything that it tells",
};

function listLines(
  kind: PermissionKind,
  list: readonly string[],
  { most = 100, ...place }: PermissionWordsOptions,
): readonly string[] {
  const lines = [...new Set(list)].map((entry) => entryWords(kind, entry, place));
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most), `and ${lines.length - most} more of ${kind}, ${lines.length} in all`];
}

function entryWords(kind: PermissionKind, entry: string, place: PermissionPlace): string {
  switch (kind) {
    case "read":
      return pathWords("read", entry, place);
    case "write":
      return pathWords("write, change and delete", entry, place);
    case "net":
      return hostWords(entry);
    case "run":
      return `run ${commandWord(entry, place)}, which can do whatever you can`;
    case "env":
      return entry.endsWith("*")
        ? `read every variable that begins with ${shownWord(entry.slice(0, -1))}`
        : `read the variable ${shownWord(entry)}`;
    case "sys":
      return `ask the system for ${shownWord(entry)}`;
    default:
      return kind satisfies never;
  }
}

function pathWords(verb: string, entry: string, { root, sightOf }: PermissionPlace): string {
  const path = resolve(root, entry);
  if (isInside(root, path)) {
    return path === root
      ? `${verb} everything in the project`
      : `${verb} everything in ${shownWord(path)}, far more than the project`;
  }
  const shown = (each: string) => shownWord(pathFromFolder(each, root));
  const { real, isFile, named } = sightOf?.(path) ?? { real: path, isFile: false, named: [] };
  if (leadsOut(path, real, root)) {
    return `${verb} ${shown(path)}, which leads to ${
      shown(real)
    }: nothing, since that link leads out of the project`;
  }
  const leads = real === path ? "" : `, which leads to ${shown(real)}`;
  const where = isFile ? leads : `${leads}${leads && ","} and everything in it`;
  const [first] = named;
  const others = first === undefined
    ? ""
    : isFile
    ? "; it has another name elsewhere too (a hard link)"
    : `; files in it have other names elsewhere too (hard links), such as ${shown(resolve(path, first))}`;
  return `${verb} ${shown(path)}${where}${isInside(path, root) ? "" : ", outside the project"}${others}`;
}

/** Where a link leads is told, and it is followed: `.venv/bin/python` leads out of the project, and a program may do anything anyway. */
function commandWord(entry: string, { root, sightOf }: PermissionPlace): string {
  if (!entry.includes("/")) return shownWord(entry);
  const path = resolve(root, entry);
  const real = sightOf?.(path).real ?? path;
  const leads = real === path ? "" : `, which leads to ${shownWord(real)}`;
  return `${shownWord(isInside(path, root) ? `./${relative(root, path)}` : path)}${leads}`;
}

function hostWords(entry: string): string {
  const rule = maybeNetRule(entry);
  if (rule === undefined) return `connect to ${shownWord(entry)}`;
  const port = rule.port === undefined ? "" : `, port ${rule.port} only`;
  const { host } = rule;
  switch (host.kind) {
    case "name":
      return `connect to ${shownWord(host.name)}${isLocalName(host.name) ? ", on this machine" : ""}${port}`;
    case "domain":
      return `connect to ${shownWord(host.name)} and every host below it${port}`;
    case "range":
      return `connect to ${shownWord(entryHost(entry))}${rangeWords(host.range)}${port}`;
    default:
      return host satisfies never;
  }
}

function entryHost(entry: string): string {
  return entry.replace(/(?<=\]|^[^:]*):\d+$/, "");
}

function rangeWords(range: IpRange): string {
  const [first, last] = endsOf(range).map(privateRange);
  if (first === undefined && last === undefined) return "";
  return `, which is not public (${
    [...new Set([first, last].filter((name) => name !== undefined))].join(", ")
  })`;
}
