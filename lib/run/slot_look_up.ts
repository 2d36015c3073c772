import type { LookUpSlot } from "../conversation/fill_template.ts";
import type { Slots } from "../conversation/slots.ts";
import type { JsonObject } from "../core/json.ts";

/** What a placeholder stands for (conversations.md 2.6): without a destination the slot of the conversation, then the constant. */
export function lookUpIn(slots: Slots, constants: JsonObject): LookUpSlot {
  return (name, destination) => {
    if (destination !== undefined) return slots.get({ destination, name });
    return slots.get({ destination: "conversation", name }) ??
      (Object.hasOwn(constants, name) ? constants[name] : undefined);
  };
}
