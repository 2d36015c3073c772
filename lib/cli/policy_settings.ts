import { parsePolicyFlags } from "../policy/policy_flags.ts";
import type { PolicyFlag, PolicySettings } from "../policy/policy_flags.ts";
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

/** What the permission flags of `run` say. @throws {SourceError} that names the flag whose list cannot be read. */
export function policySettings(flags: ParsedCommand<typeof COMMANDS.run>["flags"]): PolicySettings {
  const given: PolicyFlag[] = GRANTS.flatMap((name) => flags[name].map((value) => ({ name, value })));
  return parsePolicyFlags(flags["allow-all"] ? [...given, { name: "allow-all", value: true }] : given);
}
