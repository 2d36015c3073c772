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
  const refuse = (request: PermissionRequest): void => {
    const why = against(request);
    if (why === undefined) return;
    const { kind, value } = request;
    throw new PermissionRefused(`${JSON.stringify(value)} needs ${kind} permission, ${why}`, {
      request,
      flag: "",
    });
  };
  return {
    check(request) {
      refuse(request);
      policy.check(request);
    },
    permit(request) {
      refuse(request);
      return policy.permit(request);
    },
    describe: () => policy.describe(),
  };
}
