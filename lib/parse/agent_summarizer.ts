import { define } from "./agent_definition.ts";
import type { StepAction } from "./agent_file.ts";
import { mapping } from "./agent_mapping.ts";
import { JUDGE_FIELDS, judgeFields } from "./agent_model.ts";
import { oneOf } from "./agent_scalar.ts";
import { withDefault } from "./agent_shape.ts";

const FIELDS = { ...JUDGE_FIELDS, type: withDefault(oneOf(["append", "replace"]), "append") };

/** What a step says in which a model sums up the conversation. */
export const SUMMARIZER_BODY = define<Extract<StepAction, { readonly kind: "summarizer" }>>(
  "SummarizerBody",
  mapping({ what: `"summarizer"`, fields: FIELDS }, (take) => ({
    kind: "summarizer",
    type: take(FIELDS.type),
    ...judgeFields(take),
  })),
);
