import type { Gadget, GadgetContext, Schema } from "../core/gadget.ts";
import { checkGadget } from "./check_gadget.ts";
import type { InputOf } from "./input_type.ts";

/** A gadget as it is written: the type of `run`'s input follows from `input`. */
export interface GadgetDefinition<S extends Schema, Input = InputOf<S>>
  extends Omit<Gadget<Input>, "input" | "run"> {
  /** A JSON Schema, or a Standard Schema such as Zod's. Without one every input is taken. */
  readonly input?: S;
  /**
   * Gives any JSON value, or text as it comes (an async iterable). Without `run` the gadget is declared only.
   */
  run?(input: Input, context: GadgetContext): unknown;
}

/**
 * Defines a gadget, with types (gadgets.md 1): `run` gets its input as the schema says, a JSON Schema literal
 * included. The gadget given is checked, frozen and returned.
 *
 * ```ts
 * import { defineGadget } from "orrery";
 *
 * const repeat = defineGadget({
 *   name: "Repeat",
 *   description: "Repeats a text.",
 *   input: {
 *     type: "object",
 *     properties: { text: { type: "string" }, times: { type: "integer", default: 2 } },
 *     required: ["text"],
 *   },
 *   run: ({ text, times }) => text.repeat(times),
 * });
 * console.log(repeat.name, Object.isFrozen(repeat)); // => Repeat true
 * ```
 *
 * @throws {TypeError} when a field is wrong or unknown: the message names the gadget and the field, and says
 * what was found and what was expected.
 */
export function defineGadget<const S extends Schema = Readonly<Record<never, unknown>>>(
  gadget: GadgetDefinition<S>,
): Gadget<InputOf<S>> {
  checkGadget(gadget, "defineGadget");
  const frozen: unknown = Object.freeze(gadget);
  return frozen as Gadget<InputOf<S>>; // the same object, of which every field has just been checked
}
