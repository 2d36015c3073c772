import type { AnyGadget, Gadget, GadgetCall } from "./gadget.ts";
import type { Json } from "./json.ts";

/** No program can have it: a `format` that it writes gives its text at once. */
export const LATE_FORMAT: unique symbol = Symbol("late format");

/** A gadget that runs elsewhere: what a model reads of a result is asked for there, and comes later. Its `format` is never called. */
export interface LateFormatGadget extends Gadget {
  readonly [LATE_FORMAT]: (result: Json, call: GadgetCall) => Promise<string>;
}

/** Whether a gadget is one, also a copy of one. */
export function hasLateFormat(gadget: AnyGadget): gadget is LateFormatGadget {
  return LATE_FORMAT in gadget;
}
