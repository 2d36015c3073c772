import { PermissionRefused } from "../core/world.ts";
import type { PermissionRequest, Policy } from "../core/world.ts";

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
