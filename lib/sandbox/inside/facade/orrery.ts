import { frozenCopy } from "../../../core/frozen_copy.ts";
import { isRecord } from "../../../core/json.ts";

/** `orrery` inside a gadget. Types are gone by then; what else the package has is for programs, and is not here. */
export function orreryFacade(): Readonly<Record<string, unknown>> {
  return { defineGadget };
}

/** What a gadget takes that says nothing of it. */
const NO_ARGUMENTS = { type: "object", properties: {}, additionalProperties: false };

/** A frozen copy, as `defineGadget` of the package gives. What is wrong with its fields is told when the module is described. */
function defineGadget(definition: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(definition)) {
    throw new TypeError("defineGadget takes an object with name, description, input and run");
  }
  const { input = NO_ARGUMENTS, ...fields } = definition;
  return Object.freeze({
    description: "",
    permissions: {},
    ...frozenCopy(fields),
    input: isRecord(input) && !("~standard" in input) ? frozenCopy(input) : input,
    kind: "gadget",
    linked: typeof fields.run === "function",
    link: (run: unknown) => defineGadget({ ...definition, run }),
  });
}
