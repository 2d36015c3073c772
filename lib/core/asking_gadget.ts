import type { AnyGadget, Gadget } from "./gadget.ts";

/** No program can have it. */
export const PERMIT: unique symbol = Symbol("permit");

/** A gadget that somebody may have to be asked about before a call of it begins. */
export interface AskingGadget extends Gadget {
  /** Undefined when it may run. @throws {PermissionRefused} when it may not */
  readonly [PERMIT]: () => undefined | Promise<void>;
}

/** Whether a gadget is one, also a copy of one. */
export function isAsking(gadget: AnyGadget): gadget is AskingGadget {
  return PERMIT in gadget;
}
