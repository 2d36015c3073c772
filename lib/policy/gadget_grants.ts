// What a user grants one gadget in words of their own (gadgets.md 3): `--allow-gadget NAME=KIND:VALUE,...`, and `grants:` of orrery.yaml.
import {
  didYouMean,
  pathFromFolder,
  type PermissionKind,
  type Permissions,
  SourceError,
} from "../core/core.ts";
import { resolve } from "node:path";
import { joinedPermissions, permissionsOf } from "./permission_sets.ts";
import { absoluteEntry, entriesOf, entryProblem, isPathEntry, PERMISSION_KINDS } from "./policy_settings.ts";
import { flagValue, shellWord } from "./refusal.ts";

/** What a name, a file or a stem is granted. */
export interface GadgetGrant {
  readonly name: string;
  readonly permissions: Permissions;
}

/** A grant as `orrery.yaml` has it: all that the gadget asks for, or these permissions. */
export type WrittenGrant = "trusted" | Permissions;

const FORM = "expected NAME=KIND:VALUE,... such as Fetch=net:example.com, or NAME=KIND for all of a kind";

/**
 * Reads the values of `--allow-gadget`: one kind each, `NAME=net:example.com,api.example.com` or `NAME=net` for all of it. A list is
 * divided as that of `--allow-net` is. Those of one name add up.
 *
 * @param cwd what paths are relative to; they come out absolute
 * @throws {SourceError} that names the flag, with what is wrong
 */
export function parseGadgetGrants(
  values: readonly string[],
  { cwd }: { readonly cwd: string },
): readonly GadgetGrant[] {
  const byName = new Map<string, Permissions>();
  for (const value of values) {
    const { name, permissions } = parseOne(value, cwd);
    byName.set(name, joinedPermissions([byName.get(name) ?? {}, permissions]));
  }
  return [...byName].map(([name, permissions]) => ({ name, permissions }));
}

/** The values of `--allow-gadget` that mean these grants, one for each kind; paths as they are there. */
export function gadgetGrantValues({ name, permissions }: GadgetGrant): readonly string[] {
  return PERMISSION_KINDS.flatMap((kind) => {
    const granted = permissions[kind];
    if (granted === undefined || granted !== true && granted.length === 0) return [];
    return [granted === true ? `${name}=${kind}` : `${name}=${kind}:${granted.map(flagValue).join(",")}`];
  });
}

/**
 * What a manifest asks for as flags, as they are typed: `--allow-gadget Fetch=net:example.com`.
 *
 * @param place the root that the paths of a manifest are relative to, and the working folder that those of flags are; absolute
 */
export function gadgetGrantFlags(
  { name, permissions }: GadgetGrant,
  place: { readonly root: string; readonly cwd: string },
): readonly string[] {
  const typed = permissionsOf((kind) => {
    const granted = permissions[kind];
    return granted === undefined || granted === true
      ? granted
      : granted.map((entry) => typedEntry(entry, { kind, ...place }));
  });
  return gadgetGrantValues({ name, permissions: typed }).map((value) => `--allow-gadget ${shellWord(value)}`);
}

/** An entry of a manifest as `--allow-gadget` reads it. */
function typedEntry(
  entry: string,
  { kind, root, cwd }: { readonly kind: PermissionKind; readonly root: string; readonly cwd: string },
): string {
  if (!isPathEntry(entry, kind)) return entry;
  const path = resolve(root, entry);
  const way = pathFromFolder(path, cwd);
  if (way === path) return path;
  // A bare word would be a command of PATH, or another kind.
  return kind === "run" || PERMISSION_KINDS.some((other) => way.startsWith(`${other}:`)) ? `./${way}` : way;
}

/** A mistake of a grant in `orrery.yaml`: where in the grant, and what. */
export interface GrantProblem {
  /** Below the gadget's name: `["net", 0]`. */
  readonly path: readonly [kind: PermissionKind, index: number];
  readonly problem: string;
}

/** What is wrong with the lists of a grant or a manifest, whose form was checked before. */
export function grantProblems(grant: WrittenGrant): readonly GrantProblem[] {
  if (grant === "trusted") return [];
  return PERMISSION_KINDS.flatMap((kind) => {
    const list = grant[kind];
    if (list === undefined || list === true) return [];
    return list.flatMap((entry, index) => {
      const problem = entryProblem(entry, kind, `write ${kind}: true`);
      return problem === undefined ? [] : [{ path: [kind, index] as const, problem }];
    });
  });
}

function parseOne(value: string, cwd: string): GadgetGrant {
  const fail = (problem: string): never => {
    throw new SourceError(`--allow-gadget ${shellWord(value)}: ${problem}`, { code: "E-flag" });
  };
  const parts = /^(?<name>[^=]+)=(?<kind>[^:]*)(?::(?<list>.*))?$/s.exec(value)?.groups;
  const { name, kind: word = "", list } = parts ?? {};
  if (name === undefined) return fail(`${FORM}; --trust NAME grants what the gadget asks for`);
  const kind = PERMISSION_KINDS.find((known) => known === word);
  if (kind === undefined) return fail(unknownKind(word, name));
  if (list === undefined) return { name, permissions: { [kind]: true } };
  const entries = entriesOf(list);
  for (const entry of entries) {
    const other = maybeOtherKind(entry, kind);
    if (other !== undefined) {
      fail(`${JSON.stringify(entry)} begins like another kind: give it a flag of its own${other(name)}`);
    }
    const problem = entryProblem(entry, kind, `write ${name}=${kind}`);
    if (problem !== undefined) fail(problem);
  }
  return { name, permissions: { [kind]: entries.map((entry) => absoluteEntry(entry, { kind, cwd })) } };
}

function unknownKind(word: string, name: string): string {
  const found = word === "" ? "no kind" : `the kind ${JSON.stringify(word)}`;
  const known = `expected one of ${PERMISSION_KINDS.join(", ")}`;
  if (word === "all") return `found ${found}, ${known}; --trust ${name} grants all that the gadget asks for`;
  if (word === "ffi") return `found ${found}, which no gadget can have; ${known}`;
  return `found ${found}, ${known}.${didYouMean(word, PERMISSION_KINDS)}`;
}

/** `net:a.com,read:data` would otherwise grant a file or a host that nobody meant. `read:80` of a net list is a host with its port. */
function maybeOtherKind(entry: string, kind: PermissionKind): ((name: string) => string) | undefined {
  const begins = PERMISSION_KINDS.some((other) => entry.startsWith(`${other}:`));
  if (!begins || kind === "net" && /^[a-z]+:\d+$/.test(entry)) return undefined;
  const isPath = kind === "read" || kind === "write" || kind === "run";
  return (name) => `, ${name}=${entry}${isPath ? `; a file of that name is ./${entry}` : ""}`;
}
