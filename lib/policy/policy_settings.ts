import { resolve } from "node:path";
import { messageOf, type PermissionKind, SourceError } from "../core/core.ts";
import { parseNetRule } from "./net_rule.ts";
import type { PolicyRule } from "./rules.ts";

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
const NO_RULES: PolicyRules = {
  read: NOTHING,
  write: NOTHING,
  net: NOTHING,
  run: NOTHING,
  env: NOTHING,
  sys: NOTHING,
};

/** No flags at all: the defaults of a run. */
export const NO_POLICY_FLAGS: PolicySettings = { allowAll: false, allow: NO_RULES, deny: NO_RULES };

/** Divides a list at single commas, as Deno does: `a,,b,c` is `a,b` and `c`. */
export function entriesOf(value: string): string[] {
  const entries = [""];
  for (const part of value.matchAll(/,,|,|[^,]+/g)) {
    if (part[0] === ",") entries.push("");
    else entries.push((entries.pop() ?? "") + (part[0] === ",," ? "," : part[0]));
  }
  return entries;
}

/**
 * What is wrong with an entry of a list of permissions; undefined when nothing is.
 *
 * @param all how everything of the kind is written: `write --allow-run alone`
 */
export function entryProblem(entry: string, kind: PermissionKind, all: string): string | undefined {
  if (entry === "") return `a value of the list is empty: ${all} for everything, or a list divided by commas`;
  if (entry.includes("\0")) return "a value holds a NUL character";
  if (kind === "net") return netProblem(entry);
  if (kind === "run" && entry === "*") return `"*" is no command: ${all} for every command`;
  if (kind === "env" && !/^[^=*]*\*?$/.test(entry)) {
    return `expected the name of a variable, or its beginning with "*" at the end, found "${entry}"`;
  }
  return undefined;
}

function netProblem(entry: string): string | undefined {
  try {
    parseNetRule(entry);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** An entry as it is seen from `cwd`, written so that it is the same from everywhere. */
export function absoluteEntry(
  entry: string,
  { kind, cwd }: { readonly kind: PermissionKind; readonly cwd: string },
): string {
  return isPathEntry(entry, kind) ? resolve(cwd, entry) : entry;
}

/** Whether it names a file, and not a host, a variable or a program by its name. */
export function isPathEntry(entry: string, kind: PermissionKind): boolean {
  return kind === "read" || kind === "write" || kind === "run" && entry.includes("/");
}

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
