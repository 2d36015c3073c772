import { idOf } from "./live_state.ts";
import type { LiveCall, LiveState } from "./live_state.ts";

/** Beyond this many calls the view shows no depths: it would cost more than it tells. */
const MAX_CALLS = 2000;

/** How many calls stand before each one on its longest way, by call; a cycle counts as if it began at its first call. */
export function callDepths(state: LiveState): ReadonlyMap<LiveCall, number> {
  const depths = new Map<LiveCall, number>();
  if (state.calls.size > MAX_CALLS) return depths;
  for (const call of state.calls.values()) depthOf(call, { state, depths, above: new Set() });
  return depths;
}

function depthOf(
  call: LiveCall,
  walk: { readonly state: LiveState; readonly depths: Map<LiveCall, number>; readonly above: Set<LiveCall> },
): number {
  const known = walk.depths.get(call);
  if (known !== undefined) return known;
  walk.above.add(call);
  let depth = 0;
  for (const id of call.dependencies) {
    const dependency = walk.state.byId.get(idOf(call.step, id));
    if (dependency !== undefined && !walk.above.has(dependency)) {
      depth = Math.max(depth, depthOf(dependency, walk) + 1);
    }
  }
  walk.above.delete(call);
  walk.depths.set(call, depth);
  return depth;
}
