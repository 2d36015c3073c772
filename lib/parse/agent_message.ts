import { define } from "./agent_definition.ts";
import type { StepAction } from "./agent_file.ts";
import { mapping } from "./agent_mapping.ts";
import { FLAG, TEXT } from "./agent_scalar.ts";
import { optional, required } from "./agent_shape.ts";

const FIELDS = {
  message: required(TEXT, { description: "What is said. It may have placeholders." }),
  hold: optional(FLAG, { description: "Wait for the user after this message." }),
};

/** What a step says that says something. */
export const MESSAGE_BODY = define<Extract<StepAction, { readonly kind: "message" }>>(
  "MessageBody",
  mapping({
    what: `"message"`,
    fields: FIELDS,
    noMapping: ({ value }) =>
      typeof value === "string"
        ? `must be a mapping; write "message:" with "message: <text>" below it`
        : undefined,
  }, (take) => ({ kind: "message", message: take(FIELDS.message), hold: take(FIELDS.hold) ?? false })),
);
