import { PermissionRefused } from "../core/world.ts";
import type { PermissionRequest, Policy } from "../core/world.ts";
import { maybeIpAddress } from "./ip_address.ts";
import { privateRange } from "./private_range.ts";

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
  const isAllowed = (request: PermissionRequest): PermissionRefused | undefined => {
    if (approved.has(nameOf(request))) return undefined;
    try {
      policy.check(request);
      return undefined;
    } catch (error) {
      if (error instanceof PermissionRefused) return error;
      throw error;
    }
  };
  return {
    check(request) {
      const refused = isAllowed(request);
      if (refused !== undefined) throw refused;
    },
    async permit(request) {
      const refused = isAllowed(request);
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
