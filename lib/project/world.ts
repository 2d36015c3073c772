// Ports that most runs never touch are loaded at their first use: a run of one call is over before `http.ts` would be read.

import { systemClock } from "../core/clock.ts";
import type { Policy } from "../core/world.ts";
import type { Http, Shell, User, World } from "../core/world.ts";
import { hostEnv } from "../host/deno_grants.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { guardWorld } from "../policy/guard.ts";
import { createPolicy } from "../policy/policy.ts";
import type { PolicySettings } from "../policy/policy_flags.ts";

/** What a world is made from. */
export interface WorldOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  /** The working folder, which the paths of flags are relative to: absolute. */
  readonly cwd: string;
  readonly settings: PolicySettings;
  readonly user: User;
  /** Put in front of the policy of the flags, such as one that asks before it refuses. */
  readonly inFront?: (policy: Policy) => Policy;
}

/** This machine, with the policy of the flags in front of every effect. */
export function createWorld(
  { root, cwd, settings, user, inFront = (policy) => policy }: WorldOptions,
): World {
  const policy = inFront(createPolicy(settings, { root, cwd, realPath }));
  const guarded = guardWorld({
    root,
    files: hostFiles({ root }),
    shell: lazyShell(),
    http: lazyHttp,
    env: hostEnv,
  }, policy);
  return { ...guarded, user, clock: systemClock, wallTime: () => Date.now() };
}

function lazyShell(): Shell {
  return {
    async run(command, options) {
      const { hostShell }: typeof import("../host/shell.ts") = await import("../host/shell.ts" as string);
      return await hostShell().run(command, options);
    },
  };
}

function lazyHttp(options: { readonly check: Policy["permit"] }): Http {
  let http: Http | undefined;
  return {
    async fetch(url, fetchOptions) {
      const { hostHttp }: typeof import("../host/http.ts") = await import("../host/http.ts" as string);
      http ??= hostHttp(options);
      return await http.fetch(url, fetchOptions);
    },
  };
}
