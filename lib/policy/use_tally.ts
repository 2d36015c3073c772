import {
  type GadgetUse,
  isInside,
  pathFromFolder,
  type PermissionKind,
  type Permissions,
  type Policy,
  type UsedPermission,
} from "../core/core.ts";
import { dirname, resolve } from "node:path";
import { isLocalName } from "./net_rule.ts";
import { entryHolds, maybeNetRule, permissionsOf } from "./permission_sets.ts";

type Asked = Pick<UsedPermission, "kind" | "value">;

type PathKind = "read" | "write";

/**
 * Counts what a gadget does with a grant, in bounded memory: of files that are many their folders, of each other entry as many values as it
 * takes to know that the entry itself is needed.
 */
export class UseTally {
  readonly granted: Permissions;
  readonly #root: string;
  readonly #used = new Map<string, UsedPermission>();
  readonly #paths: { readonly [kind in PathKind]: PathCounts } = { read: new Map(), write: new Map() };
  /** How many values of an entry there are. */
  readonly #values = new Map<string, number>();
  #calls = 0;

  constructor(granted: Permissions, { root }: { readonly root: string }) {
    this.granted = granted;
    this.#root = root;
  }

  /** What was counted. */
  get use(): GadgetUse {
    const paths = (["read", "write"] as const).flatMap((kind) =>
      [...this.#paths[kind]].map(([value, count]) => ({ kind, value, count }))
    );
    return { calls: this.#calls, used: [...paths, ...this.#used.values()] };
  }

  called(): void {
    this.#calls++;
  }

  used({ kind, value }: Asked, count = 1): void {
    if (kind === "read" || kind === "write") return this.#path(kind, value, count);
    const key = `${kind}\0${value}`;
    const known = this.#used.get(key);
    if (known === undefined && !this.#isNeeded(kind, value)) return;
    this.#used.set(key, { kind, value, count: (known?.count ?? 0) + count });
  }

  /** What it says itself that it asked for: counted only where it was granted that. */
  told({ kind, value }: Asked): void {
    const granted = this.granted[kind] ?? [];
    const place = { kind, root: this.#root };
    if (granted === true || granted.some((entry) => entryHolds(entry, value, place))) {
      this.used({ kind, value });
    }
  }

  add({ calls, used }: GadgetUse): void {
    this.#calls += calls;
    used.forEach((each) => this.used(each, each.count));
  }

  #path(kind: PathKind, value: string, count: number): void {
    const counts = this.#paths[kind];
    const granted = this.granted[kind] ?? [];
    const place = { root: this.#root };
    const before = counts.size;
    countPath(counts, value, count);
    if (counts.size <= before) return;
    foldPaths(counts, { most: MAX_USED_VALUES, mayBe: (folder) => standsForPaths(granted, folder, place) });
    // Behind a link nothing stands for them: that there are some is enough to know.
    if (counts.size > MAX_USED_VALUES && granted !== true && !standsForPaths(granted, value, place)) {
      counts.delete(value);
    }
  }

  /** Whether a value that is new tells something: an entry with more values than are counted stays as it is. */
  #isNeeded(kind: PermissionKind, value: string): boolean {
    const keys = holdingEntries(this.granted[kind] ?? [], value, { kind, root: this.#root })
      .map((entry) => `${kind}\0${entry}`);
    const needed = keys.filter((key) => (this.#values.get(key) ?? 0) <= MAX_USED_VALUES);
    for (const key of needed) this.#values.set(key, (this.#values.get(key) ?? 0) + 1);
    return needed.length > 0;
  }
}

/** The policy, which tells of everything that it permits an effect. */
export function countedPolicy(policy: Policy, onUse: (asked: Asked) => void): Policy {
  return {
    check: (request) => policy.check(request), // asked about what may come to nothing
    permit(request) {
      const permitted = policy.permit(request);
      if (permitted === undefined) return onUse(request);
      return permitted.then(() => onUse(request));
    },
    describe: () => policy.describe(),
  };
}

/** So many are shown and kept: of more hosts or names their entry stays as it is, of more files the folders that they are in. */
const MAX_USED_VALUES = 12;

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
function standsForPaths(
  granted: true | readonly string[],
  folder: string,
  { root }: { readonly root: string },
): boolean {
  if (granted === true) return dirname(folder) !== folder;
  return granted.some((entry) => isInside(folder, resolve(root, entry)));
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
    : granted.filter((entry) => ![...counts.keys()].some((path) => isInside(path, resolve(root, entry))));
  const list = [...unsure, ...[...counts.keys()].map((path) => shortValue("read", path, place)).sort()];
  return list.length === 0 ? undefined : list;
}

/** The entries that a value stands under; itself where there is none, such as a file behind a link. Of `true` the one entry `*`. */
function holdingEntries(
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
  const way = pathFromFolder(path, root);
  return kind === "run" && way !== path ? `./${way}` : way;
}

// Files that were used, as somebody would grant them: a few as they are, and of many the folders that they are in. A path that is granted
// brings everything below it, so one that lies below another says nothing more.

/** How often paths were used, by path: absolute and real. */
type PathCounts = Map<string, number>;

/** Counts a path, with what is known of others: the one that holds it counts it, and it holds what lies below. */
function countPath(counts: PathCounts, path: string, count: number): void {
  for (const known of counts.keys()) {
    if (isInside(path, known)) return void counts.set(known, (counts.get(known) ?? 0) + count);
  }
  const below = [...counts].filter(([known]) => isInside(known, path));
  below.forEach(([known]) => counts.delete(known));
  counts.set(path, below.reduce((sum, [, each]) => sum + each, count));
}

/**
 * Puts folders in the place of what lies in them until no more than `most` are left: first the folder that most of them are in themselves.
 *
 * @param mayBe whether a folder may stand for what is in it: none that holds more than was granted
 */
function foldPaths(
  counts: PathCounts,
  { most, mayBe }: { readonly most: number; readonly mayBe: (folder: string) => boolean },
): void {
  while (counts.size > most) {
    const folder = fullestFolder([...counts.keys()], mayBe);
    if (folder === undefined) return;
    countPath(counts, folder, 0);
  }
}

/** The folder that most of the paths are in; of several that with the longest name, since it holds the least. */
function fullestFolder(
  paths: readonly string[],
  mayBe: (folder: string) => boolean,
): string | undefined {
  const own = new Map<string, number>();
  for (const path of paths) {
    const folder = dirname(path);
    if (folder !== path && mayBe(folder)) own.set(folder, (own.get(folder) ?? 0) + 1);
  }
  const ranked = [...own].sort(([a, ofA], [b, ofB]) => ofB - ofA || b.length - a.length || (a < b ? -1 : 1));
  return ranked[0]?.[0];
}
