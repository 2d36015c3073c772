import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { completeMarkers } from "../parse/call_header.ts";
import type { Markers } from "../parse/call_header.ts";
import type { CallLimits } from "../run/call_graph.ts";

/** The markers as a run has kept them. */
export function markersFrom(kept: Json | undefined): Markers {
  const { start, end, arg } = kept !== undefined && isJsonObject(kept) ? kept : {};
  return completeMarkers({
    ...(typeof start === "string" && { start }),
    ...(typeof end === "string" && { end }),
    ...(typeof arg === "string" && { arg }),
  });
}

/** The bounds as a run has kept them. */
export function limitsFrom(kept: Json | undefined): CallLimits {
  const { concurrency, timeoutMs, resultBytes } = kept !== undefined && isJsonObject(kept) ? kept : {};
  return {
    ...(typeof concurrency === "number" && { concurrency }),
    ...(typeof timeoutMs === "number" && { timeoutMs }),
    ...(typeof resultBytes === "number" && { resultBytes }),
  };
}
