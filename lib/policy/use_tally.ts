import type { GadgetUse, UsedPermission } from "../core/gadget_lock.ts";
import type { PermissionKind, Permissions, Policy } from "../core/world.ts";
import { holdingEntries, MAX_USED_VALUES } from "./minimised.ts";
import { PERMISSION_KINDS } from "./policy_settings.ts";

type Asked = Pick<UsedPermission, "kind" | "value">;

/** Counts what a gadget does with a grant: of each entry as many values as it takes to know that the entry itself is needed. */
export class UseTally {
  readonly granted: Permissions;
  readonly #root: string;
  readonly #used = new Map<string, UsedPermission>();
  /** How many values of an entry there are. */
  readonly #values = new Map<string, number>();
  #calls = 0;

  constructor(granted: Permissions, { root }: { readonly root: string }) {
    this.granted = granted;
    this.#root = root;
  }

  /** What was counted. */
  get use(): GadgetUse {
    return { calls: this.#calls, used: [...this.#used.values()] };
  }

  called(): void {
    this.#calls++;
  }

  used({ kind, value }: Asked, count = 1): void {
    const key = `${kind}\0${value}`;
    const known = this.#used.get(key);
    if (known === undefined && !this.#isNeeded(kind, value)) return;
    this.#used.set(key, { kind, value, count: (known?.count ?? 0) + count });
  }

  /** Names that it was given at once: which of them it looked at is not seen. */
  given(kind: PermissionKind, names: readonly string[]): void {
    const granted = this.granted[kind];
    const said = granted === undefined || granted === true ? [] : granted;
    for (const value of new Set([...names, ...said])) this.used({ kind, value });
  }

  add({ calls, used }: GadgetUse): void {
    this.#calls += calls;
    used.forEach((each) => this.used(each, each.count));
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
