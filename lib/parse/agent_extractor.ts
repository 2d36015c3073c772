import { define } from "./agent_definition.ts";
import { EXTRACTION_VALUE } from "./agent_extraction.ts";
import type { ExtractionValue, StepAction } from "./agent_file.ts";
import { BRANCH_FIELDS } from "./agent_flow.ts";
import { listOf, tellTwice } from "./agent_list.ts";
import { mapping } from "./agent_mapping.ts";
import { JUDGE_FIELDS, judgeFields } from "./agent_model.ts";
import { required } from "./agent_shape.ts";

const VALUES = listOf(EXTRACTION_VALUE, {
  isFilled: true,
  check: (values) =>
    tellTwice(values, slotName, (value, slot) => {
      value.child("target")?.refuse(`two values write the same slot ${JSON.stringify(slot)}`);
    }),
});

function slotName({ target: { destination, name } }: ExtractionValue): string {
  return name === "" ? "" : `${destination}.${name}`;
}

const FIELDS = { values: required(VALUES), ...BRANCH_FIELDS, ...JUDGE_FIELDS };

/** What a step says in which a model fills slots with what was said. */
export const EXTRACTOR_BODY = define<Extract<StepAction, { readonly kind: "extractor" }>>(
  "ExtractorBody",
  mapping({ what: `"extractor"`, fields: FIELDS }, (take) => ({
    kind: "extractor",
    values: take(FIELDS.values),
    success: take(FIELDS.success),
    fail: take(FIELDS.fail),
    ...judgeFields(take),
  })),
);
