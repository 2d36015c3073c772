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
import { join } from "node:path";
import { netRules } from "./net_rule.ts";
import { leadsOut, permissionLines } from "./permission_sets.ts";
import { isJournal, type PolicyOptions } from "./policy.ts";
import { absoluteEntry, type PolicySettings } from "./policy_settings.ts";
import { flagValue, refusal, shellWord } from "./refusal.ts";
import { commandRules, type KindRules, nameRules, pathRules, type PolicyRule } from "./rules.ts";

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
  const { cwd, settings, root, word = name } = options;
  const asked = { cwd, gadget: name, word, runsByGrant: settings.runsByGrant };
  const rules = rulesOf(granted, options);
  const policy: Policy = {
    check(request) {
      refuseOurs(request, options);
      const deniedBy = maybeDenyFlag(request, rules[request.kind], settings);
      if (deniedBy !== undefined) throw refusal(request, { ...asked, deniedBy });
      if (!rules[request.kind].isAllowed(request.value)) throw refusal(request, asked);
      const closed = request.kind === "net"
        ? rules.net.maybePrivate(request.value, request.address)
        : undefined;
      if (closed !== undefined) throw refusal(request, { ...asked, ...closed });
    },
    permit: (request) => policy.check(request),
    describe: () => permissionLines(granted, { root }),
  };
  return policy;
}

/**
 * What a module may do while it is loaded to be described: nothing, whatever the gadget is granted later. No flag would help.
 */
export function loadingPolicy({ cwd }: { readonly cwd: string }): Policy {
  const policy: Policy = {
    check(request) {
      throw refusal(request, { cwd, isLoading: true });
    },
    permit: (request) => policy.check(request),
    describe: () => [],
  };
  return policy;
}

function rulesOf(granted: Permissions, options: GadgetPolicyOptions) {
  const { root, cwd, settings, realPath = (path: string) => path } = options;
  const pathsOf = (kind: PermissionKind): PolicyRule => {
    const { all, list } = ruleOf(granted[kind]);
    // Absolute: a grant is seen from the root, a flag from the working folder.
    return { all, list: list.map((entry) => absoluteEntry(entry, { kind, cwd: root })) };
  };
  const deny = settings.deny;
  // Whoever granted a folder of the project did not mean what a link there leads to, outside.
  const inside = (path: string) => {
    const real = realPath(path);
    return leadsOut(path, real, root) ? path : real;
  };
  const paths = { cwd, realPath };
  return {
    read: pathRules({ allow: pathsOf("read"), deny: deny.read }, { ...paths, inside, defaults: [] }),
    write: pathRules({ allow: pathsOf("write"), deny: deny.write }, { ...paths, inside, defaults: [] }),
    net: netRules({ allow: ruleOf(granted.net), deny: deny.net }),
    run: commandRules({ allow: pathsOf("run"), deny: deny.run }, paths),
    env: nameRules({ allow: ruleOf(granted.env), deny: deny.env }),
    sys: nameRules({ allow: ruleOf(granted.sys), deny: deny.sys }),
  };
}

function ruleOf(granted: true | readonly string[] | undefined): PolicyRule {
  return granted === true ? { all: true, list: [] } : { all: false, list: granted ?? [] };
}

function maybeDenyFlag(
  { kind, value, address }: PermissionRequest,
  rules: KindRules,
  settings: PolicySettings,
): string | undefined {
  if (settings.deny[kind].all) return `--deny-${kind}`;
  const entry = rules.maybeDenied(value, address);
  return entry === undefined ? undefined : shellWord(`--deny-${kind}=${flagValue(entry)}`);
}

/** The journal, what is known of gadgets, what they were allowed, and the user's own settings: who writes them grants itself anything. */
function refuseOurs(
  request: PermissionRequest,
  { root, cwd, sealed = [] }: GadgetPolicyOptions,
): void {
  if (request.kind === "read" && isJournal(request.value, root)) {
    throw refusedOurs(request, { cwd, why: JOURNAL });
  }
  if (request.kind !== "write") return;
  // Where case does not count, "Orrery.lock" is the same file.
  const path = request.value.toLowerCase();
  const files = OURS.map((file) => join(root, file).toLowerCase());
  const folders = sealed.map((folder) => folder.toLowerCase());
  const isOurs = files.some((file) => path.startsWith(file)) || folders.some((each) => isInside(path, each));
  // Removing or renaming a folder does it to what is inside.
  const isAbove = [...files, ...folders].some((each) => isInside(each, path));
  if (!isOurs && !isAbove) return;
  const what = isOurs ? "it is what Orrery itself believes" : "in it is what Orrery itself believes";
  throw refusedOurs(request, { cwd, why: `${what}, which no gadget may write` });
}

/** The token of a server is beside it. */
const JOURNAL = "it is the journal of Orrery, which no gadget may read";

function refusedOurs(
  request: PermissionRequest,
  { cwd, why }: { readonly cwd: string; readonly why: string },
): PermissionRefused {
  const { kind, value } = request;
  const shown = JSON.stringify(pathFromFolder(value, cwd));
  const doing = kind === "read" ? "Reading" : "Writing";
  return new PermissionRefused(`${doing} ${shown} is not allowed: ${why}`, { request, flag: "" });
}

/** Beginnings, since a database has further files beside it. */
const OURS: readonly string[] = [
  join(".orrery", "orrery.db"),
  join(".orrery", "gadgets"),
  LOCK_FILE,
];
