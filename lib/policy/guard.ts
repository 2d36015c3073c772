import type { Files, Http, Policy, Shell, World } from "../core/world.ts";
import { guardFiles } from "./guard_files.ts";
import { guardShell } from "./guard_shell.ts";

/** The parts of a world as they are, asking nobody. */
export interface RawWorld {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly files: Files;
  readonly shell: Shell;
  /** Built with the check, because only it knows every hop and the address it is about to dial. */
  readonly http: (options: { readonly check: Policy["permit"] }) => Http;
}

/** The parts of a world that ask the policy before every effect: what built-in gadgets get. */
export type GuardedWorld = Pick<World, "root" | "files" | "shell" | "http" | "policy">;

/** Puts a policy around the parts of a world; every effect that is not allowed throws a `PermissionRefused`. */
export function guardWorld(raw: RawWorld, policy: Policy): GuardedWorld {
  return {
    root: raw.root,
    policy,
    files: guardFiles(raw.files, { policy, root: raw.root }),
    shell: guardShell(raw.shell, { files: raw.files, policy, root: raw.root }),
    http: raw.http({ check: (request) => policy.permit(request) }),
  };
}
