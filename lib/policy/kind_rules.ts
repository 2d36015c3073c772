/** What the flags say of one kind: all of it, and what is named. Both may be there: `--allow-net --allow-net=localhost`. */
export interface PolicyRule {
  readonly all: boolean;
  readonly list: readonly string[];
}

/** What the flags of one kind say about one value. */
export interface KindRules {
  /** The entry of the `--deny` list that forbids it. */
  maybeDenied(value: string, address?: string): string | undefined;
  /** Whether the `--allow` flags, or the defaults, allow it. */
  isAllowed(value: string): boolean;
}

/** The two flags of one kind. */
export interface RulePair {
  readonly allow: PolicyRule;
  readonly deny: PolicyRule;
}
