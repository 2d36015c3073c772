import { join, relative } from "node:path";
import { PermissionRefused } from "../core/world.ts";
import type { PermissionKind, PermissionRequest, Policy } from "../core/world.ts";
import type { KindRules } from "./kind_rules.ts";
import { commandRules, nameRules } from "./name_rule.ts";
import { type NetRules, netRules } from "./net_rule.ts";
import { pathRules } from "./path_rule.ts";
import type { PolicySettings } from "./policy_settings.ts";
import { flagValue, refusal, shellWord } from "./refusal.ts";

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
