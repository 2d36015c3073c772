import { workingFolder } from "../../host/paths.ts";
import { parseGadgetGrants } from "../../policy/gadget_grants.ts";
import {
  NO_POLICY_FLAGS,
  parsePolicyFlags,
  type PolicyFlag,
  type PolicySettings,
} from "../../policy/policy_settings.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";

const GRANTS = [
  "allow-read",
  "allow-write",
  "allow-net",
  "allow-run",
  "allow-env",
  "deny-read",
  "deny-write",
  "deny-net",
  "deny-run",
  "deny-env",
] as const;

type ResumeFlags = ParsedCommand<typeof COMMANDS.resume>["flags"];

/** The flags by which a user allows something. */
export type GrantFlags = Pick<
  ResumeFlags,
  | typeof GRANTS[number]
  | "allow-all"
  | "gadget"
  | "trust"
  | "allow-gadget"
  | "frozen"
  | "trust-project"
  | "trust-code"
>;

/** What the flags of a command allow. @throws {SourceError} that names the flag whose list cannot be read. */
export function grantsOf(
  { ephemeral = false, timeout, model, ...flags }: GrantFlags & {
    readonly ephemeral?: boolean;
    readonly model?: string;
    readonly timeout?: number;
  },
): RunGrants {
  checkGadgetGrants(flags["allow-gadget"]);
  return {
    settings: model === undefined ? settingsOf(flags) : { ...settingsOf(flags), ownModel: model },
    flags: {
      gadget: flags.gadget,
      trust: flags.trust,
      "allow-gadget": flags["allow-gadget"],
      frozen: flags.frozen,
      "trust-project": flags["trust-project"],
      "trust-code": flags["trust-code"],
      ...(ephemeral && { ephemeral }),
      timeout,
    },
  };
}

/** A mistake is told before anything runs. */
function checkGadgetGrants(values: readonly string[]): void {
  if (values.length === 0) return;
  parseGadgetGrants(values, { cwd: workingFolder() });
}

function settingsOf(flags: GrantFlags): PolicySettings {
  const given: PolicyFlag[] = GRANTS.flatMap((name) => flags[name].map((value) => ({ name, value })));
  if (flags["allow-all"]) given.push({ name: "allow-all", value: true });
  if (given.length === 0) return NO_POLICY_FLAGS;
  return parsePolicyFlags(given);
}
