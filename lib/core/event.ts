import type { Json } from "./json.ts";

/** Why a call did not give a result; decides the exit code of a run. */
export type CallErrorCode =
  | "parse" // the block could not be read
  | "unknown-gadget"
  | "not-trusted" // the gadget's module was not loaded (exit code 5)
  | "unavailable" // the gadget's module could not be loaded, or has no `run`
  | "input" // the parameters do not fit the gadget's schema
  | "permission" // the policy refused an effect (exit code 5)
  | "timeout"
  | "abort"
  | "result" // the result is not JSON
  | "failed"; // the gadget threw

/** How a run ended. */
export type RunStatus = "done" | "failed" | "stopped";

/** Everything a run tells the outside, without the three fields that every event has. */
export type RunEventBody =
  | { readonly type: "run-start"; readonly kind: "calls"; readonly file?: string }
  | {
    readonly type: "run-end";
    readonly status: RunStatus;
    readonly value?: Json;
    readonly error?: string;
    readonly reason?: string;
    /** Tokens of all model calls. */
    readonly usage: { readonly input: number; readonly output: number };
  }
  | { readonly type: "text-delta"; readonly step: string; readonly text: string }
  | {
    readonly type: "call-open";
    readonly invocationId: string;
    readonly gadgetName: string;
    readonly dependencies: readonly string[];
    readonly line: number;
  }
  | { readonly type: "call-run"; readonly invocationId: string; readonly line: number }
  | { readonly type: "call-log"; readonly invocationId: string; readonly line: number; readonly text: string }
  | {
    readonly type: "call-progress";
    readonly invocationId: string;
    readonly line: number;
    readonly done: number;
    readonly total?: number;
  }
  | {
    readonly type: "call-result";
    readonly invocationId: string;
    readonly line: number;
    readonly result: Json;
  }
  | {
    readonly type: "call-error";
    readonly invocationId: string;
    readonly line: number;
    readonly error: string;
    readonly code: CallErrorCode;
    /** For a refusal: the flag that would allow it. */
    readonly flag?: string;
  }
  | {
    readonly type: "call-skip";
    readonly invocationId: string;
    readonly line: number;
    readonly reason: string;
  }
  | {
    readonly type: "warning";
    readonly text: string;
    readonly file?: string;
    readonly line?: number;
    readonly column?: number;
  };

/** One event of a run (events.md): plain JSON, `seq` from 1, `at` in ms since the run's start. */
export type RunEvent = RunEventBody & { readonly seq: number; readonly at: number; readonly run: string };
