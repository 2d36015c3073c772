import { type PermissionKind, SourceError } from "../core/core.ts";
import {
  entriesOf,
  entryProblem,
  NO_RULES,
  PERMISSION_KINDS,
  type PolicySettings,
} from "./policy_settings.ts";
import type { PolicyRule } from "./rules.ts";

/** A flag without its dashes; `true` when it has no value. */
export interface PolicyFlag {
  readonly name: string;
  readonly value: string | true;
}

/**
 * Reads the flags that say what a run may do; their meaning is Deno's (gadgets.md 3). Repeated flags add up, a list is
 * divided by commas, and two commas stand for one in a value.
 *
 * @throws {SourceError} that names the flag and what is wrong with its value.
 */
export function parsePolicyFlags(flags: readonly PolicyFlag[]): PolicySettings {
  let allowAll = false;
  const allow: Rules = { ...NO_RULES };
  const deny: Rules = { ...NO_RULES };
  for (const flag of flags) {
    const kind = PERMISSION_KINDS.find((kind) =>
      flag.name === `allow-${kind}` || flag.name === `deny-${kind}`
    );
    if (flag.name === "allow-all" || flag.name === "A") allowAll = withoutValue(flag);
    else if (kind === undefined) {
      throw new SourceError(`--${flag.name}: no such permission flag`, { code: "E-flag" });
    } else addTo(flag.name.startsWith("allow-") ? allow : deny, kind, flag);
  }
  return { allowAll, allow, deny };
}

type Rules = { [kind in PermissionKind]: PolicyRule };

function withoutValue(flag: PolicyFlag): true {
  if (flag.value === true) return true;
  const text = flag.name === "A" ? "-A" : `--${flag.name}`;
  throw new SourceError(`${text} takes no value, found ${JSON.stringify(flag.value)}`, { code: "E-flag" });
}

function addTo(rules: Rules, kind: PermissionKind, flag: PolicyFlag): void {
  const { all, list } = rules[kind];
  if (flag.value === true) rules[kind] = { all: true, list };
  else {rules[kind] = {
      all,
      list: [...list, ...entriesOf(flag.value).map((entry) => checked(entry, kind, flag))],
    };}
}

function checked(entry: string, kind: PermissionKind, flag: PolicyFlag): string {
  const problem = entryProblem(entry, kind, `write --${flag.name} alone`);
  if (problem === undefined) return entry;
  throw new SourceError(`--${flag.name}=${flag.value}: ${problem}`, { code: "E-flag" });
}
