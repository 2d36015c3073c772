// Steps that work on slots alone: set-slot, counter and retriever.

import { define } from "./agent_definition.ts";
import type { StepAction } from "./agent_file.ts";
import { listOf } from "./agent_list.ts";
import { mapping } from "./agent_mapping.ts";
import { VALUE_TEMPLATE } from "./agent_request.ts";
import { FLAG, PRINTABLE, wholeNumber } from "./agent_scalar.ts";
import { required, withDefault } from "./agent_shape.ts";
import { SAVE_TARGET, SLOT_PATH } from "./agent_slot_path.ts";

const PAIR_FIELDS = {
  path: required(SLOT_PATH),
  value: required({ ...VALUE_TEMPLATE, read: PRINTABLE.read }),
};

const PAIR = mapping({ what: "a value", fields: PAIR_FIELDS }, (take) => ({
  path: take(PAIR_FIELDS.path),
  value: take(PAIR_FIELDS.value),
}));

const SET_SLOT_FIELDS = { values: required(listOf(PAIR, { isFilled: true })) };

/** What a step says that writes slots. */
export const SET_SLOT_BODY = define<Extract<StepAction, { readonly kind: "set-slot" }>>(
  "SetSlotBody",
  mapping({ what: `"set-slot"`, fields: SET_SLOT_FIELDS }, (take) => ({
    kind: "set-slot",
    values: take(SET_SLOT_FIELDS.values),
  })),
);

const COUNTER_FIELDS = { slot: required(SLOT_PATH) };

/** What a step says that adds one to a slot. */
export const COUNTER_BODY = define<Extract<StepAction, { readonly kind: "counter" }>>(
  "CounterBody",
  mapping({ what: `"counter"`, fields: COUNTER_FIELDS }, (take) => ({
    kind: "counter",
    slot: take(COUNTER_FIELDS.slot),
  })),
);

const RETRIEVER_FIELDS = {
  query: required(SLOT_PATH),
  target: required(SAVE_TARGET, { mistakenFor: ["store"] }),
  limit: withDefault(wholeNumber(1), 4),
  secondary: withDefault(FLAG, true),
};

/** What a step says that looks passages up. */
export const RETRIEVER_BODY = define<Extract<StepAction, { readonly kind: "retriever" }>>(
  "RetrieverBody",
  mapping({ what: `"retriever"`, fields: RETRIEVER_FIELDS }, (take) => ({
    kind: "retriever",
    query: take(RETRIEVER_FIELDS.query),
    target: take(RETRIEVER_FIELDS.target),
    limit: take(RETRIEVER_FIELDS.limit),
    secondary: take(RETRIEVER_FIELDS.secondary),
  })),
);
