import { join } from "node:path";
import {
  isInside,
  LOCK_FILE,
  pathFromFolder,
  type PermissionKind,
  PermissionRefused,
  type PermissionRequest,
  type Permissions,
  type Policy,
} from "../core/core.ts";
import { maybeIpAddress, type NetRules, netRules, privateRange } from "./net_rule.ts";
import { leadsOut, permissionLines } from "./permission_sets.ts";
import { absoluteEntry, type PolicyRules, type PolicySettings, rulesByKind } from "./policy_settings.ts";
import { flagValue, maybeRefusal, refusal, type RefusalOptions, shellWord } from "./refusal.ts";
import { commandRules, type KindRules, nameRules, type PathResolving, pathRules } from "./rules.ts";

/** Where a policy holds. */
export interface PolicyOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  /** The working folder, which the paths of flags are relative to: absolute. */
  readonly cwd: string;
  /** Gives the real path of an absolute one; without it the paths of flags are taken as they are. */
  readonly realPath?: (path: string) => string;
}

/**
 * What a run may do by its flags, on top of the defaults of gadgets.md 3: read the project root, write its `.orrery/`,
 * and nothing else. A `--deny` flag wins over everything. A private address is refused unless `--allow-net=LIST` names
 * the address, or `localhost`; neither a name that leads to it nor `--allow-net` alone nor `--allow-all` does.
 */
export function createPolicy(settings: PolicySettings, options: PolicyOptions): Policy {
  const { root, cwd, realPath = (path: string) => path } = options;
  const { allowAll, allow, deny } = settings;
  const paths = { cwd, realPath };
  return rulePolicy({
    rules: {
      read: pathRules({ allow: allow.read, deny: deny.read }, { ...paths, defaults: [root] }),
      write: pathRules({ allow: allow.write, deny: deny.write }, {
        ...paths,
        defaults: [join(root, ".orrery")],
      }),
      ...plainRules(allow, deny, paths),
    },
    deny,
    isAll: allowAll,
    asked: { cwd, runsByGrant: settings.runsByGrant },
    isWide: allowAll || allow.net.all,
    whyOurs: ({ kind, value }) =>
      DOING.has(kind) && isJournal(value, root)
        ? `it is the journal of Orrery, which nothing a run does may ${kind}`
        : undefined,
    describe: () => SHOWN_KINDS.map((kind) => `${kind}: ${wordsFor(kind, settings)}`),
  });
}

/** Where the policy of a gadget holds. */
export interface GadgetPolicyOptions extends PolicyOptions {
  /** The flags of the run: what they deny holds for every gadget; what they allow is for the run's own effects. */
  readonly settings: PolicySettings;
  /** Folders that no gadget writes, whatever it was granted, such as those of the user's settings and state: real and absolute. */
  readonly sealed?: readonly string[];
  /** What names the gadget, and no other, on the command line. Default: its name. */
  readonly word?: string;
}

/**
 * What one gadget may do: what it was granted, and nothing else, not even reading the project (gadgets.md 3). A `--deny` flag of the run
 * wins over every grant, a private address has to be granted outright, and what Orrery itself believes is never written.
 *
 * @param granted paths absolute, or relative to the project root
 */
export function gadgetPolicy(name: string, granted: Permissions, options: GadgetPolicyOptions): Policy {
  const { cwd, settings: { deny, runsByGrant }, root, word = name } = options;
  const { realPath = (path: string) => path } = options;
  const allow = rulesByKind((kind) => {
    const list = granted[kind] ?? [];
    if (list === true) return { all: true, list: [] };
    // Absolute: a grant is seen from the root, a flag from the working folder.
    return { all: false, list: list.map((entry) => absoluteEntry(entry, { kind, cwd: root })) };
  });
  // Whoever granted a folder of the project did not mean what a link there leads to, outside.
  const inside = (path: string) => {
    const real = realPath(path);
    return leadsOut(path, real, root) ? path : real;
  };
  const paths = { cwd, realPath };
  return rulePolicy({
    rules: {
      read: pathRules({ allow: allow.read, deny: deny.read }, { ...paths, inside, defaults: [] }),
      write: pathRules({ allow: allow.write, deny: deny.write }, { ...paths, inside, defaults: [] }),
      ...plainRules(allow, deny, paths),
    },
    deny,
    asked: { cwd, gadget: name, word, runsByGrant },
    whyOurs: (request) => maybeOurs(request, options),
    describe: () => permissionLines(granted, { root }),
  });
}

/**
 * What a module may do while it is loaded to be described: nothing, whatever the gadget is granted later. No flag would help.
 */
export function loadingPolicy({ cwd }: { readonly cwd: string }): Policy {
  const check = (request: PermissionRequest): never => {
    throw refusal(request, { cwd, isLoading: true });
  };
  return { check, permit: check, describe: () => [] };
}

type Rules = { readonly [kind in Exclude<PermissionKind, "net">]: KindRules } & { readonly net: NetRules };

/** A policy that goes by rules. */
interface RuleOptions extends Pick<Policy, "describe"> {
  readonly rules: Rules;
  readonly deny: PolicyRules;
  /** The rules say only what is denied: everything else is allowed. */
  readonly isAll?: boolean;
  /** What refusals say. */
  readonly asked: RefusalOptions;
  /** All hosts are allowed at once, which opens no private address. */
  readonly isWide?: boolean;
  /** Why nobody may do it, whatever was allowed. */
  readonly whyOurs: (request: PermissionRequest) => string | undefined;
}

function rulePolicy({ rules, deny, isAll = false, asked, isWide, whyOurs, describe }: RuleOptions): Policy {
  const check = (request: PermissionRequest): void => {
    const { kind, value, address } = request;
    const ours = whyOurs(request);
    if (ours !== undefined) {
      const shown = JSON.stringify(pathFromFolder(value, asked.cwd));
      throw new PermissionRefused(`${DOING.get(kind)} ${shown} is not allowed: ${ours}`, {
        request,
        flag: "",
      });
    }
    const denied = rules[kind].maybeDenied(value, address);
    if (deny[kind].all) throw refusal(request, { ...asked, deniedBy: `--deny-${kind}` });
    if (denied !== undefined) {
      throw refusal(request, { ...asked, deniedBy: shellWord(`--deny-${kind}=${flagValue(denied)}`) });
    }
    if (!isAll && !rules[kind].isAllowed(value)) throw refusal(request, asked);
    const closed = kind === "net" ? rules.net.maybePrivate(value, address) : undefined;
    if (closed === undefined) return;
    const wide = isWide ? "-A and --allow-net alone open public addresses only; " : "";
    throw refusal(request, { ...asked, ...closed, reason: wide + closed.reason });
  };
  return { check, permit: check, describe };
}

function plainRules(allow: PolicyRules, deny: PolicyRules, paths: PathResolving) {
  const pair = (kind: PermissionKind) => ({ allow: allow[kind], deny: deny[kind] });
  return {
    net: netRules(pair("net")),
    run: commandRules(pair("run"), paths),
    env: nameRules(pair("env")),
    sys: nameRules(pair("sys")),
  };
}

/** What is done with files. */
const DOING: ReadonlyMap<PermissionKind, string> = new Map([["read", "Reading"], ["write", "Writing"]]);

/**
 * What survives there is not for a run to change, whatever it may write; nor to read: other runs are in it, and beside it the token of a
 * server, who has which may do what no run may.
 */
function isJournal(path: string, root: string): boolean {
  const beginning = join(root, ".orrery", "orrery.db");
  // Where case does not count, "Orrery.db" is the same file.
  return path.slice(0, beginning.length).toLowerCase() === beginning.toLowerCase();
}

/** The journal, what is known of gadgets, what they were allowed, and the user's own settings: who writes them grants itself anything. */
function maybeOurs(
  { kind, value }: PermissionRequest,
  { root, sealed = [] }: GadgetPolicyOptions,
): string | undefined {
  if (kind === "read" && isJournal(value, root)) {
    return "it is the journal of Orrery, which no gadget may read";
  }
  if (kind !== "write") return undefined;
  // Where case does not count, "Orrery.lock" is the same file.
  const path = value.toLowerCase();
  const files = OURS.map((file) => join(root, file).toLowerCase());
  const folders = sealed.map((folder) => folder.toLowerCase());
  if (files.some((file) => path.startsWith(file)) || folders.some((each) => isInside(path, each))) {
    return "it is what Orrery itself believes, which no gadget may write";
  }
  // Removing or renaming a folder does it to what is inside.
  return [...files, ...folders].some((each) => isInside(each, path))
    ? "in it is what Orrery itself believes, which no gadget may write"
    : undefined;
}

/** Beginnings, since a database has further files beside it. */
const OURS: readonly string[] = [
  join(".orrery", "orrery.db"),
  join(".orrery", "gadgets"),
  LOCK_FILE,
];

const SHOWN_KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env"];

function wordsFor(kind: PermissionKind, settings: PolicySettings): string {
  const { allow, deny } = settings;
  if (deny[kind].all) return `nothing (--deny-${kind})`;
  const denied = deny[kind].list.length === 0 ? "" : `, but never ${deny[kind].list.join(", ")}`;
  return allowedWords(kind, settings.allowAll || allow[kind].all, allow[kind].list) + denied;
}

function allowedWords(kind: PermissionKind, all: boolean, list: readonly string[]): string {
  if (all) return kind === "net" ? ["every public address", ...list].join(", ") : "everything";
  const defaults = kind === "read" ? ["the project"] : kind === "write" ? ["the project's .orrery/"] : [];
  return [...defaults, ...list].join(", ") || "nothing";
}

/**
 * A policy with a further bound: nobody is asked about what is beyond it.
 *
 * @param against the end of a sentence that says what is against a request; undefined when nothing is
 */
export function narrowedPolicy(
  policy: Policy,
  against: (request: PermissionRequest) => string | undefined,
): Policy {
  return {
    check(request) {
      refuseBeyond(request, against);
      policy.check(request);
    },
    permit(request) {
      refuseBeyond(request, against);
      return policy.permit(request);
    },
    describe: () => policy.describe(),
  };
}

/** Passes what nothing is against. @throws {PermissionRefused} without a flag, since none would help */
export function refuseBeyond(
  request: PermissionRequest,
  against: (request: PermissionRequest) => string | undefined,
): void {
  const why = against(request);
  if (why === undefined) return;
  const { kind, value } = request;
  throw new PermissionRefused(`${JSON.stringify(value)} needs ${kind} permission, ${why}`, {
    request,
    flag: "",
  });
}

/** Says whether something that no flag allows may be done all the same, for the rest of the run. */
export type Approve = (refused: PermissionRefused) => Promise<boolean>;

/**
 * A policy that asks before it refuses (turn.md 2.6). What a `--deny` flag forbids is not asked about, and what was allowed is not asked
 * again; a host that was allowed by its name is asked about again when it turns out to be a private address.
 */
export function approvingPolicy(policy: Policy, approve: Approve): Policy {
  const approved = new Set<string>();
  /** Of several that want the same at once, the first one's answer counts. */
  const asking = new Map<string, Promise<boolean>>();
  const refusalOf = (request: PermissionRequest): PermissionRefused | undefined =>
    approved.has(nameOf(request)) ? undefined : maybeRefusal(policy, request);
  return {
    check(request) {
      const refused = refusalOf(request);
      if (refused !== undefined) throw refused;
    },
    async permit(request) {
      const refused = refusalOf(request);
      if (refused === undefined) return;
      if (refused.flag === "") throw refused;
      const name = nameOf(request);
      const asked = asking.get(name) ?? approve(refused).finally(() => asking.delete(name));
      asking.set(name, asked);
      if (!await asked) throw refused;
      approved.add(name);
    },
    describe: () => policy.describe(),
  };
}

function nameOf({ kind, value, address }: PermissionRequest): string {
  const ip = address === undefined ? undefined : maybeIpAddress(address);
  const isPublic = address === undefined || (ip !== undefined && privateRange(ip) === undefined);
  const isAsWritten = value === address ||
    address !== undefined && (value.startsWith(`${address}:`) || value.startsWith(`[${address}]`));
  return `${kind} ${value}${isPublic || isAsWritten ? "" : ` at ${address}`}`;
}
