// Steps beyond the format that others know (conversations.md 3): gadget and run.

import { define } from "./agent_definition.ts";
import type { StepAction } from "./agent_file.ts";
import { FLOW } from "./agent_flow.ts";
import { mapping } from "./agent_mapping.ts";
import { VALUE_TEMPLATE } from "./agent_request.ts";
import { NAME } from "./agent_scalar.ts";
import { optional, required } from "./agent_shape.ts";
import { SAVE_TARGET } from "./agent_slot_path.ts";

const TARGET = optional(SAVE_TARGET, { mistakenFor: ["store"] });

const GADGET_FIELDS = {
  name: required(NAME, { description: "Name of the gadget." }),
  input: optional(VALUE_TEMPLATE),
  target: TARGET,
  success: optional(FLOW),
  fail: optional(FLOW),
};

/** What a step says that calls a gadget. */
export const GADGET_BODY = define<Extract<StepAction, { readonly kind: "gadget" }>>(
  "GadgetBody",
  mapping({ what: `"gadget"`, fields: GADGET_FIELDS }, (take) => {
    const input = take(GADGET_FIELDS.input);
    const target = take(GADGET_FIELDS.target);
    const success = take(GADGET_FIELDS.success);
    const fail = take(GADGET_FIELDS.fail);
    return {
      kind: "gadget",
      name: take(GADGET_FIELDS.name),
      input: input === undefined ? {} : input, // null is an input too
      target,
      success,
      fail,
    };
  }),
);

const RUN_FIELDS = {
  file: required(NAME, { description: "A document, or the path of a prompt." }),
  input: optional(VALUE_TEMPLATE),
  target: TARGET,
};

/** What a step says that runs a document or a prompt. */
export const RUN_BODY = define<Extract<StepAction, { readonly kind: "run" }>>(
  "RunBody",
  mapping({ what: `"run"`, fields: RUN_FIELDS }, (take) => {
    const input = take(RUN_FIELDS.input);
    const target = take(RUN_FIELDS.target);
    return {
      kind: "run",
      file: take(RUN_FIELDS.file),
      input,
      target,
    };
  }),
);
