import { systemClock } from "../core/clock.ts";
import type { PermissionRequest, User, World } from "../core/world.ts";
import { exactFiles } from "../host/exact_files.ts";
import { hostHttp } from "../host/http.ts";
import { realPath } from "../host/paths.ts";
import { hostShell } from "../host/shell.ts";
import { approvingPolicy } from "../policy/approving_policy.ts";
import type { Approve } from "../policy/approving_policy.ts";
import { guardWorld } from "../policy/guard.ts";
import { narrowedPolicy } from "../policy/narrowed_policy.ts";
import { createPolicy } from "../policy/policy.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";

/** What a world is made from. */
export interface WorldOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  /** The working folder, which the paths of flags are relative to: absolute. */
  readonly cwd: string;
  readonly settings: PolicySettings;
  readonly user: User;
  /** Asked about what no flag allows. Default: it is refused. */
  readonly approve?: Approve;
  /** What bounds it further: the end of a sentence that says why a request is refused. Default: nothing. */
  readonly against?: (request: PermissionRequest) => string | undefined;
}

/** This machine, with the policy of the flags in front of every effect. What flags mean is settled before anything runs that could change where a link leads. */
export function createWorld({ root, cwd, settings, user, approve, against }: WorldOptions): World {
  const policy = createPolicy(settings, { root, cwd, realPath });
  const asking = approve === undefined ? policy : approvingPolicy(policy, approve);
  const guarded = guardWorld(
    { root, files: exactFiles({ root }), shell: hostShell(), http: hostHttp },
    against === undefined ? asking : narrowedPolicy(asking, against),
  );
  return { ...guarded, user, clock: systemClock, wallTime: () => Date.now() };
}
