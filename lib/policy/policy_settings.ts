import type { PermissionKind } from "../core/world.ts";
import type { PolicyRule } from "./kind_rules.ts";

/** What the user's `--allow-*` and `--deny-*` flags say, values as they were written. */
export interface PolicySettings {
  /** `--allow-all`: every kind. */
  readonly allowAll: boolean;
  readonly allow: PolicyRules;
  readonly deny: PolicyRules;
  /** The model that the user named himself: the file of its replies may be anywhere. */
  readonly ownModel?: string;
  /** The command has no `--allow-run`, and no flag for a gadget: a refusal names the grant that would allow it. */
  readonly runsByGrant?: true;
}

/** A rule for each kind. */
export type PolicyRules = { readonly [kind in PermissionKind]: PolicyRule };

/** The rules that `ruleOf` makes. */
export function rulesByKind(ruleOf: (kind: PermissionKind) => PolicyRule): PolicyRules {
  return {
    read: ruleOf("read"),
    write: ruleOf("write"),
    net: ruleOf("net"),
    run: ruleOf("run"),
    env: ruleOf("env"),
    sys: ruleOf("sys"),
  };
}

/** The kinds of permission, in the order in which they are shown. */
export const PERMISSION_KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];

const NOTHING: PolicyRule = { all: false, list: [] };

/** No rule of any kind. */
export const NO_RULES: PolicyRules = {
  read: NOTHING,
  write: NOTHING,
  net: NOTHING,
  run: NOTHING,
  env: NOTHING,
  sys: NOTHING,
};

/** No flags at all: the defaults of a run. */
export const NO_POLICY_FLAGS: PolicySettings = { allowAll: false, allow: NO_RULES, deny: NO_RULES };
