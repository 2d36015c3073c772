import { systemClock } from "../core/clock.ts";
import type { World } from "../core/world.ts";
import type { GuardedWorld } from "../policy/guard.ts";
import type { WorldOptions } from "./guarded_world.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";

/**
 * This machine, with the policy of the flags in front of every effect. The policy and everything behind it are loaded before the
 * first effect: many runs have none. Where flags name paths it is loaded at once, so that what they mean is settled before
 * anything runs that could change where a link leads.
 */
export async function createWorld(options: WorldOptions): Promise<World> {
  let opened: Promise<GuardedWorld> | undefined;
  const open = () => opened ??= openGuarded(options);
  if (options.settings !== NO_POLICY_FLAGS) await open();
  return {
    root: options.root,
    user: options.user,
    clock: systemClock,
    wallTime: () => Date.now(),
    policy: { permit: async (request) => (await open()).policy.permit(request) },
    files: {
      resolve: async (...given) => (await open()).files.resolve(...given),
      stat: async (...given) => (await open()).files.stat(...given),
      readBytes: async (...given) => (await open()).files.readBytes(...given),
      readText: async (...given) => (await open()).files.readText(...given),
      writeText: async (...given) => (await open()).files.writeText(...given),
      list: async (...given) => (await open()).files.list(...given),
    },
    shell: { run: async (...given) => (await open()).shell.run(...given) },
    http: {
      fetch: async (...given) => (await open()).http.fetch(...given),
      open: async (...given) => (await open()).http.open(...given),
    },
  };
}

async function openGuarded(options: WorldOptions): Promise<GuardedWorld> {
  const { guardedWorld }: typeof import("./guarded_world.ts") = await import("./guarded_world.ts" as string);
  return await guardedWorld(options);
}
