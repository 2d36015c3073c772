import type { AnyGadget } from "../core/gadget.ts";
import type { ToolSpec } from "../core/model.ts";
import { jsonSchemaOf } from "../core/gadget.ts";

/** A gadget as the provider's own calls want it. */
export function toolSpecOf({ name, description = "", input }: AnyGadget): ToolSpec {
  const schema = input === undefined ? undefined : jsonSchemaOf(input);
  return { name, description, input: { type: "object", ...schema } };
}
