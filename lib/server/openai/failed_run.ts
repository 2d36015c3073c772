import type { RunState } from "../../service/service.ts";
import { HttpProblem } from "../problem.ts";

/** What is told of a run that has not ended well; undefined for all others. */
export function maybeFailedRun(
  { id, status, error, reason = "" }: Pick<RunState, "id" | "status" | "error" | "reason">,
): HttpProblem | undefined {
  if (status !== "failed" && status !== "stopped") return undefined;
  const [code, text] = FAILURES.get(reason) ?? [reason === "" ? "run_failed" : reason, 422];
  const what = error ?? (status === "stopped" ? "it was stopped" : "it failed");
  return new HttpProblem(text, code, {
    detail: `Run ${id}: ${what}`,
    more: { run: id },
    headers: NO_RETRY, // what it has done so far is done
  });
}

/** Clients of OpenAI ask again by themselves at most errors, unless they are told not to. */
export const NO_RETRY = { "x-should-retry": "false" } as const;

/** By reason; every other one is the run's own, and a request that was understood. */
const FAILURES: ReadonlyMap<string, readonly [code: string, status: number]> = new Map([
  ["provider", ["provider_error", 502]],
  ["timeout", ["timeout", 504]],
  ["permission", ["permission_denied", 403]],
  ["interrupted", ["stopping", 503]],
]);
