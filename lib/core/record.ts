// What a record holds (turn.md 3): everything that came into a run from outside, in its order, and every event it told. A replay gives
// the engine the one and expects the other.

import type { RunEvent } from "./event.ts";
import type { RunStart, StepOutcome, StepStart } from "./journal.ts";
import type { Json } from "./json.ts";

/** A line of a record. */
export type RecordLine =
  /** The first line. */
  | ({ readonly type: "run"; readonly version: 1 } & RunStart & { readonly id: string })
  /** A piece of text of the run's own source. */
  | { readonly type: "source"; readonly text: string }
  /** The engine asked for an effect. */
  | ({ readonly type: "step" } & StepStart)
  /** Something came of an effect before its end: a part of a model's answer, a line a gadget logged. */
  | { readonly type: "part"; readonly key: string; readonly part: Json }
  | { readonly type: "outcome"; readonly key: string; readonly outcome: StepOutcome }
  | { readonly type: "event"; readonly event: RunEvent };

/** The part of a record that says that the run was interrupted. */
export const ABORT_KEY = "run/abort";
/** The part of a record that holds an event which came from outside the run. */
export const TOLD_KEY = "run/told";
/** The part of a record that says that the source of the run has ended. */
export const SOURCE_END_KEY = "source/end";
/** The part of a record that says that the source of the run broke off. */
export const SOURCE_ERROR_KEY = "source/error";

/** Where a record is written: a line at a time, in order. */
export interface Recorder {
  write(line: RecordLine): void;
}

/** A replay met something that is not in its record. */
export class ReplayError extends Error {
  override readonly name = "ReplayError";
}
