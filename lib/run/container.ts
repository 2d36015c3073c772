import type { Json } from "../core/json.ts";
import type { Run } from "./run.ts";

/** A call that something else runs in. */
export interface ContainerCall {
  readonly run: Run;
  /** Before the keys of the steps in it: `call:review/`. */
  readonly keyPrefix: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Aborted with the call. */
  readonly signal: AbortSignal;
}

/** Does what container gadgets stand for: its steps are steps of the run that calls. */
export interface Containers {
  /** Asks a prompt. @throws what the call is to fail with */
  prompt?(call: ContainerCall): Promise<Json>;
  /** Runs a document. @throws what the call is to fail with */
  document?(call: ContainerCall): Promise<Json>;
  /** Runs a document for the one that calls. @throws what the call is to fail with */
  callee?(call: ContainerCall): Promise<Json>;
}
