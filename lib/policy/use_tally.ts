import type { GadgetUse, UsedPermission } from "../core/gadget_lock.ts";
import type { PermissionKind, Permissions, Policy } from "../core/world.ts";
import { holdingEntries, MAX_USED_VALUES, standsForPaths } from "./minimised.ts";
import { entryHolds } from "./permission_sets.ts";
import { PERMISSION_KINDS } from "./policy_settings.ts";
import { countPath, foldPaths, type PathCounts } from "./used_paths.ts";

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

/** What was written of a use; undefined for what is none. */
export function maybeUsed(kind: unknown, value: unknown, count: unknown): UsedPermission | undefined {
  const known = PERMISSION_KINDS.find((each) => each === kind);
  if (known === undefined || typeof value !== "string" || typeof count !== "number") return undefined;
  return { kind: known, value, count };
}
