// What a gadget touches, guarded by what it may do. Loaded with the first effect that one asks for.

import type { Policy } from "../core/world.ts";
import { exactFiles } from "../host/exact_files.ts";
import { hostFileChanges } from "../host/file_changes.ts";
import { guardWorld } from "../policy/guard.ts";
import { guardFileChanges } from "../policy/guard_file_changes.ts";
import { performEffect } from "../sandbox/effects.ts";
import type { PerformEffect } from "../sandbox/gadget_effects.ts";
import type { SandboxOptions } from "./gadget_place.ts";

/** Performs the effects that the policy lets pass. */
export function guardedEffects(
  policy: Policy,
  { root, shell, http }: Pick<SandboxOptions, "root" | "shell" | "http">,
): PerformEffect {
  const files = exactFiles({ root });
  const world = guardWorld({ root, files, shell, http }, policy);
  const changes = guardFileChanges(hostFileChanges({ root }), { policy, root, files });
  return (op, bytes, { signal }) => performEffect(op, bytes, { world, changes, signal });
}
