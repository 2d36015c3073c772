import { NO_POLICY_FLAGS, PERMISSION_KINDS } from "../policy/policy_settings.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";
import type { ProjectFlags } from "./project.ts";
import { logsToStderr } from "../host/logs_to_stderr.ts";

/** What the flags of a command allow a run. */
export interface RunGrants {
  readonly settings: PolicySettings;
  readonly flags: ProjectFlags;
  /** Of what was kept for a run: what each flag that trusts something was said for. Default: it was not said yet. */
  readonly said?: Said;
}

/** By flag, such as `--trust Fetch`: the SHA-256 of everything that it was said for, by name. */
export type Said = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Nothing beyond what every run may do. */
export const NO_GRANTS: RunGrants = {
  settings: NO_POLICY_FLAGS,
  flags: {
    gadget: [],
    trust: [],
    "allow-gadget": [],
    frozen: false,
    "trust-project": false,
    "trust-code": false,
  },
};

/** Whether there is nothing to be kept of them. */
export function grantsNothing({ settings, flags }: RunGrants): boolean {
  const hasRules = PERMISSION_KINDS.some((kind) =>
    [settings.allow[kind], settings.deny[kind]].some(({ all, list }) => all || list.length > 0)
  );
  return !hasRules && !settings.allowAll && !flags["trust-project"] && !flags["trust-code"] &&
    flags.gadget.length === 0 && flags.trust.length === 0 && (flags["allow-gadget"] ?? []).length === 0;
}

/** Before the catalogue is opened: what modules of gadgets tell the console goes to stderr, since stdout is for the result. */
export function keepStdout({ trust }: { readonly trust: readonly string[] }): void {
  if (trust.length > 0) logsToStderr(); // nothing else loads them
}
