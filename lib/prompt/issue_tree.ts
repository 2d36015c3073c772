import type { ParseIssue } from "../core/prompt_error.ts";
import type { Fault } from "./fault.ts";

/**
 * Puts faults in the order in which they are read best: an object before its parts, and of these first the missing ones, then those
 * that are not allowed, then the others as they came. What is said twice of a place is told once.
 */
export class IssueTree {
  readonly #root = new Place();

  add({ where, kind, message }: Fault): void {
    let place = this.#root;
    for (const key of where) place = place.child(key);
    place.messages.add(message);
    if (kind === "missing") place.rank = 0;
    else if (kind === "unknown") place.rank = 1;
  }

  /** With paths that tell indexes of `value`'s arrays from names. */
  issues(value: unknown): readonly ParseIssue[] {
    const issues: ParseIssue[] = [];
    this.#root.tell(value, { path: [], issues });
    return issues;
  }
}

class Place {
  readonly messages = new Set<string>();
  readonly #children = new Map<string, Place>();
  rank: 0 | 1 | 2 = 2;

  child(key: string): Place {
    const found = this.#children.get(key) ?? new Place();
    this.#children.set(key, found);
    return found;
  }

  tell(
    value: unknown,
    { path, issues }: { readonly path: ParseIssue["path"]; readonly issues: ParseIssue[] },
  ): void {
    for (const message of this.messages) issues.push({ path, message });
    const children = [...this.#children].sort(([, a], [, b]) => a.rank - b.rank);
    for (const [key, place] of children) {
      const inside: unknown = Object.hasOwn(Object(value), key) ? Reflect.get(Object(value), key) : undefined;
      place.tell(inside, { path: [...path, Array.isArray(value) ? Number(key) : key], issues });
    }
  }
}
