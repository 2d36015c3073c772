// Permissions as they are shown to the person who is asked. What stands in a manifest comes from the gadget: nothing of it may look like
// words of ours.
import { relative, resolve } from "node:path";
import { shownWord } from "../core/shown_word.ts";
import type { PermissionKind, Permissions } from "../core/world.ts";
import { endsOf, type IpRange } from "./ip_address.ts";
import { holdsPath } from "./path_rule.ts";
import { isLocalName } from "./net_rule.ts";
import { leadsOut, maybeNetRule, missingPermissions, type PermissionPlace } from "./permission_sets.ts";
import { PERMISSION_KINDS } from "./policy_settings.ts";
import { privateRange } from "./private_range.ts";

/** How it is said. */
export interface PermissionWordsOptions extends PermissionPlace {
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
  if (holdsPath(path, root)) {
    return path === root
      ? `${verb} everything in the project`
      : `${verb} everything in ${shownWord(path)}, far more than the project`;
  }
  const shown = (each: string) => shownWord(holdsPath(root, each) ? relative(root, each) || "." : each);
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
  return `${verb} ${shown(path)}${where}${holdsPath(root, path) ? "" : ", outside the project"}${others}`;
}

function commandWord(entry: string, { root, sightOf }: PermissionPlace): string {
  if (!entry.includes("/")) return shownWord(entry);
  const path = resolve(root, entry);
  const real = sightOf?.(path).real ?? path;
  const leads = real === path ? "" : `, which leads to ${shownWord(real)}`;
  return `${shownWord(holdsPath(root, path) ? `./${relative(root, path)}` : path)}${leads}`;
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
