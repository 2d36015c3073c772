import { parsePolicyFlags } from "../policy/policy_flags.ts";
import type { PolicyFlag } from "../policy/policy_flags.ts";
import type { RunGrants } from "../project/grants.ts";
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
  typeof GRANTS[number] | "allow-all" | "gadget" | "trust" | "trust-project" | "trust-code"
>;

/** What the flags of a command allow. @throws {SourceError} that names the flag whose list cannot be read. */
export function grantsOf(flags: GrantFlags): RunGrants {
  const given: PolicyFlag[] = GRANTS.flatMap((name) => flags[name].map((value) => ({ name, value })));
  return {
    settings: parsePolicyFlags(flags["allow-all"] ? [...given, { name: "allow-all", value: true }] : given),
    flags: {
      gadget: flags.gadget,
      trust: flags.trust,
      "trust-project": flags["trust-project"],
      "trust-code": flags["trust-code"],
    },
  };
}
