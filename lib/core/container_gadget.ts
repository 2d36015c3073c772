import type { Gadget } from "./gadget.ts";

/** What runs inside of a call: a prompt, a document, or a document that the calling document's own text goes into. */
export type Contained = "prompt" | "document" | "callee";

/**
 * A gadget whose call is no step of its own: what runs in it are steps of the run that calls, and its result follows from theirs. Only
 * Orrery brings such gadgets along; the engine of the run does what they stand for.
 */
export interface ContainerGadget<Input = never> extends Gadget<Input> {
  readonly contains: Contained;
}
