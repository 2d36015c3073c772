import type { Json } from "./json.ts";
import type { Usage } from "./model.ts";

/** Why a call did not give a result; decides the exit code of a run. */
export type CallErrorCode =
  | "parse" // the block could not be read
  | "unknown-gadget"
  | "not-trusted" // the gadget's server was not started (exit code 5)
  | "unavailable" // the gadget's module could not be loaded, or has no `run`
  | "input" // the parameters do not fit the gadget's schema
  | "permission" // the policy refused an effect (exit code 5)
  | "timeout"
  | "abort"
  | "result" // the result is not JSON
  | "unverified" // it was started by a process that died, and may not be done twice unasked
  | "crash" // what the gadget runs in, its process or its server, ended or does not answer
  | "failed"; // the gadget threw: that is what it says to a call it cannot do

/** What a run runs. */
export type RunKind = "calls" | "ask" | "chat" | "prompt" | "document" | "conversation";

/** How a run ended; a turn of a conversation that did not fail ends as `held` or `completed`. */
export type RunStatus = "done" | "failed" | "stopped" | "held" | "completed";

/** Everything a run tells the outside, without the three fields that every event has. */
export type RunEventBody =
  | { readonly type: "run-start"; readonly kind: RunKind; readonly file?: string }
  | {
    readonly type: "run-end";
    readonly status: RunStatus;
    readonly value?: Json;
    readonly error?: string;
    /** `turns`, `tokens`, `cost`, `time`, `contract`, `provider`, `interrupted`, `unverified`, …: what ended it early. */
    readonly reason?: string;
    /** Of a document: its text as the run left it, also where it failed. */
    readonly document?: string;
    /** Of all model calls. */
    readonly usage: Usage;
  }
  | {
    readonly type: "step-start";
    readonly key: string;
    readonly kind: StepKind;
    readonly name: string;
    readonly attempt: number;
  }
  | {
    readonly type: "step-end";
    readonly key: string;
    readonly ms: number;
    readonly outcome?: Json;
    readonly error?: StepError;
    /** Of a model whose answer broke off or was stopped: what it had said, and that is in no outcome. */
    readonly partial?: string;
  }
  | { readonly type: "text-delta"; readonly step: string; readonly text: string }
  /** What a model thinks before it answers: no part of the answer. The outcome of its step has all of it. */
  | { readonly type: "reasoning-delta"; readonly step: string; readonly text: string }
  /** A whole text of a model: the `n`th of its step, from 1. Of a conversation: its place in the log. */
  | { readonly type: "message"; readonly step: string; readonly n: number; readonly text: string }
  | ({ readonly type: "usage"; readonly step: string; readonly model: string } & Usage)
  | {
    readonly type: "permission-ask";
    /** The key of the step that waits; absent where that is not known. */
    readonly step?: string;
    /** The call that waits for the answer, or the step. */
    readonly subject: string;
    /** In words, a line each. */
    readonly permissions: readonly string[];
    readonly reason: string;
  }
  | {
    readonly type: "permission-answer";
    readonly step?: string;
    readonly subject: string;
    readonly permissions: readonly string[];
    readonly allowed: boolean;
    /** Who answered: `terminal`, `policy`, `nobody`, … */
    readonly reason: string;
  }
  /** A header is complete, so that a view can show a call while it is written. A block that an abort leaves open has no outcome. */
  | {
    readonly type: "call-open";
    /** Of the model step that wrote the call, since each may use the same ids; absent when the run's own source did. In every event of a call. */
    readonly step?: string;
    readonly invocationId: string;
    readonly gadgetName: string;
    readonly dependencies: readonly string[];
    /** Tells two calls of one id apart; 0 where no block of a text is the call. */
    readonly line: number;
  }
  | {
    readonly type: "call-run";
    readonly step?: string;
    readonly invocationId: string;
    readonly line: number;
  }
  | {
    readonly type: "call-log";
    readonly step?: string;
    readonly invocationId: string;
    readonly line: number;
    readonly text: string;
  }
  | {
    readonly type: "call-progress";
    readonly step?: string;
    readonly invocationId: string;
    readonly line: number;
    readonly done: number;
    readonly total?: number;
  }
  | {
    readonly type: "call-result";
    readonly step?: string;
    readonly invocationId: string;
    readonly line: number;
    readonly result: Json;
  }
  | {
    readonly type: "call-error";
    readonly step?: string;
    readonly invocationId: string;
    readonly line: number;
    readonly error: string;
    readonly code: CallErrorCode;
    /** For a refusal: the flag that would allow it. */
    readonly flag?: string;
  }
  | {
    readonly type: "call-skip";
    readonly step?: string;
    readonly invocationId: string;
    readonly line: number;
    readonly reason: string;
  }
  /** An operation is not done: a condition does not hold, or it may run only once. */
  | {
    readonly type: "step-skip";
    readonly step: string;
    /** As a `step-start` would name it. */
    readonly name?: string;
    readonly condition: string;
  }
  | { readonly type: "jump"; readonly from: string; readonly to: string }
  /** A slot of a conversation has a new value. */
  | {
    readonly type: "slot-set";
    /** The step that did it. */
    readonly step: string;
    readonly destination: "conversation" | "session" | "module" | "global";
    readonly name: string;
    readonly value: Json;
  }
  /** A conversation waits for its person: the next message answers the step. */
  | { readonly type: "hold"; readonly step: string }
  /** A document has changed. */
  | {
    readonly type: "block-merge";
    /** The operation that did it. */
    readonly step: string;
    readonly mode: "append" | "prepend" | "replace";
    /** The block that it was done to, as a reference; absent: the operation itself. */
    readonly target?: string;
    /** What is gone, as text. */
    readonly removed: string;
    /** What is new, as text. */
    readonly inserted: string;
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

/** What an effect is. */
export type StepKind = "model" | "gadget" | "shell" | "http" | "read" | "write" | "ask" | "source" | "step";

/** Why a step ended badly; `code` and `flag` as in events. */
export interface StepError {
  readonly message: string;
  readonly code?: string;
  readonly flag?: string;
}

/** It is told and not kept: what comes later has the whole. */
export function isPassing({ type }: Pick<RunEvent, "type">): boolean {
  return type === "text-delta" || type === "reasoning-delta" || type === "call-progress";
}
