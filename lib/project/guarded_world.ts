import type { PermissionRequest, Policy, User } from "../core/world.ts";
import { exactFiles } from "../host/exact_files.ts";
import { realPath } from "../host/paths.ts";
import { guardWorld } from "../policy/guard.ts";
import type { GuardedWorld } from "../policy/guard.ts";
import { createPolicy } from "../policy/policy.ts";
import type { Approve } from "../policy/approving_policy.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";
import { lazyHttp, lazyShell } from "./lazy_ports.ts";

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

/** The files, commands and hosts of this machine behind the policy of the flags. */
export async function guardedWorld(
  { root, cwd, settings, approve, against }: WorldOptions,
): Promise<GuardedWorld> {
  const policy = createPolicy(settings, { root, cwd, realPath });
  const asking = approve === undefined ? policy : await askingFirst(policy, approve);
  return guardWorld(
    { root, files: exactFiles({ root }), shell: lazyShell, http: lazyHttp },
    against === undefined ? asking : await narrowed(asking, against),
  );
}

async function narrowed(policy: Policy, against: NonNullable<WorldOptions["against"]>): Promise<Policy> {
  const { narrowedPolicy }: typeof import("../policy/narrowed_policy.ts") = await import(
    "../policy/narrowed_policy.ts" as string
  );
  return narrowedPolicy(policy, against);
}

async function askingFirst(policy: Policy, approve: NonNullable<WorldOptions["approve"]>): Promise<Policy> {
  const { approvingPolicy }: typeof import("../policy/approving_policy.ts") = await import(
    "../policy/approving_policy.ts" as string
  );
  return approvingPolicy(policy, approve);
}
