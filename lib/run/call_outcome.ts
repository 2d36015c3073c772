import type { RunEventBody } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { CallFailure } from "./call_error.ts";

/** How a call ended. */
export type CallOutcome =
  | { readonly status: "result"; readonly result: Json }
  | { readonly status: "error"; readonly failure: CallFailure }
  | { readonly status: "skip"; readonly reason: string };

/** Which call an event tells of. */
export interface CallPlace {
  readonly step?: string;
  readonly invocationId: string;
  readonly line: number;
}

/** The event that tells of an outcome. */
export function outcomeEvent(outcome: CallOutcome, place: CallPlace): RunEventBody {
  switch (outcome.status) {
    case "result":
      return { type: "call-result", ...place, result: outcome.result };
    case "error":
      return { type: "call-error", ...place, ...outcome.failure };
    case "skip":
      return { type: "call-skip", ...place, reason: outcome.reason };
    default:
      return outcome satisfies never;
  }
}
