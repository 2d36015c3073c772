import { join, relative } from "node:path";
import { type PermissionKind, PermissionRefused, type PermissionRequest, type Policy } from "../core/core.ts";
import { maybeIpAddress, type NetRules, netRules, privateRange } from "./net_rule.ts";
import type { PolicySettings } from "./policy_settings.ts";
import { flagValue, maybeRefusal, refusal, shellWord } from "./refusal.ts";
import { commandRules, type KindRules, nameRules, pathRules } from "./rules.ts";

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
  const { cwd } = options;
  const rules = rulesOf(settings, options);
  const policy: Policy = {
    check(request) {
      const doing = DOING.get(request.kind);
      if (doing !== undefined && isJournal(request.value, options.root)) {
        const reason = `it is the journal of Orrery, which nothing a run does may ${request.kind}`;
        throw new PermissionRefused(
          `${doing} ${JSON.stringify(relative(cwd, request.value))} is not allowed: ${reason}`,
          { request, flag: "" },
        );
      }
      const deniedBy = maybeDenyFlag(request, { settings, rules: rules[request.kind] });
      if (deniedBy !== undefined) throw refusal(request, { cwd, deniedBy });
      if (!settings.allowAll && !rules[request.kind].isAllowed(request.value)) {
        throw refusal(request, { cwd, runsByGrant: settings.runsByGrant });
      }
      const closed = request.kind === "net"
        ? rules.net.maybePrivate(request.value, request.address)
        : undefined;
      if (closed === undefined) return;
      const { reason } = closed;
      const isWide = settings.allowAll || settings.allow.net.all;
      const why = isWide ? `-A and --allow-net alone open public addresses only; ${reason}` : reason;
      throw refusal(request, { cwd, ...closed, reason: why });
    },
    permit: (request) => policy.check(request),
    describe: () => SHOWN_KINDS.map((kind) => `${kind}: ${wordsFor(kind, settings)}`),
  };
  return policy;
}

/** What is done with files. */
const DOING: ReadonlyMap<PermissionKind, string> = new Map([["read", "Reading"], ["write", "Writing"]]);

/**
 * What survives there is not for a run to change, whatever it may write; nor to read: other runs are in it, and beside it the token of a
 * server, who has which may do what no run may.
 */
export function isJournal(path: string, root: string): boolean {
  const beginning = join(root, ".orrery", "orrery.db");
  // Where case does not count, "Orrery.db" is the same file.
  return path.length >= beginning.length &&
    path.slice(0, beginning.length).toLowerCase() === beginning.toLowerCase();
}

type Rules = { readonly [kind in Exclude<PermissionKind, "net">]: KindRules } & { readonly net: NetRules };

function rulesOf(settings: PolicySettings, options: PolicyOptions): Rules {
  const { root, cwd, realPath = (path: string) => path } = options;
  const pair = (kind: PermissionKind) => ({ allow: settings.allow[kind], deny: settings.deny[kind] });
  return {
    read: pathRules(pair("read"), { cwd, realPath, defaults: [root] }),
    write: pathRules(pair("write"), { cwd, realPath, defaults: [join(root, ".orrery")] }),
    net: netRules(pair("net")),
    run: commandRules(pair("run"), { cwd, realPath }),
    env: nameRules(pair("env")),
    sys: nameRules(pair("sys")),
  };
}

function maybeDenyFlag(
  { kind, value, address }: PermissionRequest,
  { settings, rules }: { readonly settings: PolicySettings; readonly rules: KindRules },
): string | undefined {
  if (settings.deny[kind].all) return `--deny-${kind}`;
  const entry = rules.maybeDenied(value, address);
  return entry === undefined ? undefined : shellWord(`--deny-${kind}=${flagValue(entry)}`);
}

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
