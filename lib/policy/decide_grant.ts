// Who has the say over a gadget (gadgets.md 3), without asking anybody and without touching anything.
import {
  changesByName,
  type GadgetToGrant,
  isInside,
  type LockedGadget,
  type Permissions,
  shownWord,
} from "../core/core.ts";
import { isAbsolute, relative, sep } from "node:path";
import type { WrittenGrant } from "./gadget_grants.ts";
import { isEmptyPermissions, joinedPermissions, permissionChanges } from "./permission_sets.ts";

/** Where a grant came from, in the order in which they are asked. */
export type GrantSource = "command line" | "your settings" | "the project" | "orrery.lock" | "your answer";

/** What is said of one gadget, each by who says it; absent where nothing is said. */
export interface GrantSources {
  /** `--trust` and `--allow-gadget`. */
  readonly commandLine?: readonly WrittenGrant[];
  /** `grants:` of the user's own settings. */
  readonly user?: readonly WrittenGrant[];
  /** `grants:` of a project that was accepted. */
  readonly project?: readonly WrittenGrant[];
  /** The entry of an `orrery.lock` that was accepted. */
  readonly locked?: LockedGadget;
  /** `--frozen`: nothing may differ from the lock, and nobody is asked. */
  readonly isFrozen?: boolean;
}

/** What came of it. */
export type GrantDecision =
  | {
    readonly kind: "granted";
    readonly permissions: Permissions;
    /** Empty for a gadget that asks for nothing and was granted nothing. */
    readonly from: readonly GrantSource[];
  }
  /** Nobody has said anything that counts: somebody has to be asked. */
  | { readonly kind: "open"; readonly changes: readonly string[] }
  /** `--frozen` forbids it. A line each, such as `gadgets/a.ts was changed`. */
  | { readonly kind: "frozen"; readonly changes: readonly string[] };

/**
 * What a gadget may do by what was said before. What is said outright, on the command line, in settings and in a lock that still fits, adds
 * up, and counts as it is said: who grants a gadget less than it asks for has answered too. A gadget that asks for nothing needs no grant.
 */
export function decideGrant(
  gadget: GadgetToGrant,
  sources: GrantSources,
  place: { readonly root: string },
): GrantDecision {
  const { locked, isFrozen = false } = sources;
  const changes = locked === undefined ? [] : lockChanges(gadget, locked, place);
  if (isFrozen && changes.length > 0) return { kind: "frozen", changes };
  const said = saidOf(gadget, sources, changes.length === 0 ? locked : undefined);
  if (said.length > 0 || isEmptyPermissions(gadget.permissions)) {
    return {
      kind: "granted",
      permissions: joinedPermissions(said.map(({ permissions }) => permissions)),
      from: [...new Set(said.map(({ from }) => from))],
    };
  }
  if (isFrozen) return { kind: "frozen", changes: [`${lockedPath(gadget.file, place)} is not in it`] };
  return { kind: "open", changes };
}

function saidOf(
  { permissions: asked }: GadgetToGrant,
  { commandLine = [], user = [], project = [] }: GrantSources,
  locked: LockedGadget | undefined,
): readonly { readonly from: GrantSource; readonly permissions: Permissions }[] {
  const meant = (from: GrantSource, grants: readonly WrittenGrant[]) =>
    grants.map((grant) => ({ from, permissions: grant === "trusted" ? asked : grant }));
  return [
    ...meant("command line", commandLine),
    ...meant("your settings", user),
    ...meant("the project", project),
    ...meant("orrery.lock", locked === undefined ? [] : [locked.permissions]),
  ];
}

/** The entry of a gadget: of its file, else of its name. */
export function maybeLocked(
  gadgets: readonly LockedGadget[],
  gadget: Pick<GadgetToGrant, "name" | "file">,
  place: { readonly root: string },
): LockedGadget | undefined {
  const file = lockedPath(gadget.file, place);
  return gadgets.find((each) => each.file === file && each.name === gadget.name) ??
    gadgets.find((each) => each.file === file) ?? gadgets.find((each) => each.name === gadget.name);
}

/** What of a gadget is not as it was when it was allowed, a line each; none when it is the same. */
function lockChanges(
  gadget: GadgetToGrant,
  locked: LockedGadget,
  place: { readonly root: string },
): readonly string[] {
  const now = lockedGadget(gadget, place);
  const changes = [
    ...(now.name === locked.name ? [] : [`it was called ${shownWord(locked.name)}`]),
    ...(now.file === locked.file ? [] : [`it was the gadget of ${shownWord(locked.file)}`]),
    ...moduleChanges(locked.modules, now.modules),
  ];
  const links = linkChanges(locked.links, now.links);
  // With the same code it asks for the same; what it was granted may be less.
  return changes.length === 0
    ? links
    : [...changes, ...links, ...permissionChanges(locked.permissions, gadget.permissions, place)];
}

/** Where a link leads, as a lock has it: what is outside of the project is the same from everywhere. */
export function lockedTarget(real: string, place: { readonly root: string }): string {
  return isInside(real, place.root) ? lockedPath(real, place) : real;
}

/** Of links what leads elsewhere than before, a line each. */
export function linkChanges(
  before: LockedGadget["links"] = {},
  now: LockedGadget["links"] = {},
): readonly string[] {
  return changesByName(before, now, (name, was, is) => {
    const leads = is === undefined ? "leads nowhere else" : `leads to ${shownWord(is)}`;
    return `${shownWord(name)} ${leads} now${was === undefined ? "" : `, and led to ${shownWord(was)}`}`;
  });
}

/** What is not as it was, a line each: `gadgets/a.ts was changed`. */
export function moduleChanges(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  return changesByName(before, now, (name, was, is) => {
    const how = is === undefined ? "is gone" : was === undefined ? "is new" : "was changed";
    return `${shownWord(name)} ${how}`;
  });
}

/** A gadget as a lock has it. */
export function lockedGadget(
  { name, file, permissions, modules, links = {} }: GadgetToGrant,
  place: { readonly root: string },
): LockedGadget {
  const leads = Object.entries(links).map(([entry, to]) => [entry, lockedTarget(to, place)]);
  return {
    name,
    file: lockedPath(file, place),
    permissions,
    modules: Object.fromEntries(modules.map(({ path, sha256 }) => [lockedPath(path, place), sha256])),
    ...(leads.length > 0 && { links: Object.fromEntries(leads) }),
  };
}

/** A path as a lock has it: from the project root, with `/` on every system. */
export function lockedPath(path: string, { root }: { readonly root: string }): string {
  const way = relative(root, path);
  return isAbsolute(way) ? path : way.replaceAll(sep, "/");
}
