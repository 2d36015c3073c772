// Steps that call an HTTP API: api-call and sse-call.

import { define } from "./agent_definition.ts";
import type { RequestFields, StepAction } from "./agent_file.ts";
import { BRANCH_FIELDS } from "./agent_flow.ts";
import { JSON_PATH } from "./agent_json_path.ts";
import { listOf } from "./agent_list.ts";
import { mapping, type Take } from "./agent_mapping.ts";
import { TEMPLATE_TEXT } from "./agent_model.ts";
import { ANYTHING, NAME, oneOf, TEXT } from "./agent_scalar.ts";
import { optional, required, type Shape } from "./agent_shape.ts";
import { SAVE_TARGET } from "./agent_slot_path.ts";

/** RFC 9110, 5.6.2 */
const TOKEN = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

const HEADER_NAME: Shape<string> = {
  schema: { type: "string", pattern: TOKEN },
  read: (part) => {
    const name = TEXT.read(part);
    const isWrong = typeof part.value === "string" && !new RegExp(TOKEN).test(name);
    if (isWrong) part.refuse(`must be the name of a header, found ${JSON.stringify(name)}`);
    return name;
  },
};

const HEADER_FIELDS = { key: required(HEADER_NAME), value: required(TEMPLATE_TEXT) };

const HEADER = mapping({ what: "a header", fields: HEADER_FIELDS }, (take) => ({
  key: take(HEADER_FIELDS.key),
  value: take(HEADER_FIELDS.value),
}));

/** Any YAML; the texts in it may have placeholders. */
export const VALUE_TEMPLATE = define("ValueTemplate", ANYTHING);

const FIELDS = {
  url: required(NAME, { description: "Target URL. Placeholders are filled in, percent-encoded." }),
  method: required(oneOf(["GET", "POST", "PUT", "DELETE"])),
  headers: optional(listOf(HEADER)),
  body: optional(VALUE_TEMPLATE),
  "response-path": optional(JSON_PATH, {
    description: "JSONPath (RFC 9535) of what is wanted of the answer.",
  }),
};

function requestFields(take: Take): RequestFields {
  const body = take(FIELDS.body);
  const responsePath = take(FIELDS["response-path"]);
  return {
    url: take(FIELDS.url),
    method: take(FIELDS.method),
    headers: take(FIELDS.headers) ?? [],
    body,
    responsePath,
  };
}

const API_FIELDS = { ...FIELDS, target: required(SAVE_TARGET, { mistakenFor: ["store"] }), ...BRANCH_FIELDS };

/** What a step says that calls an API. */
export const API_BODY = define<Extract<StepAction, { readonly kind: "api-call" }>>(
  "ApiBody",
  mapping({ what: `"api-call"`, fields: API_FIELDS }, (take) => ({
    kind: "api-call",
    target: take(API_FIELDS.target),
    success: take(API_FIELDS.success),
    fail: take(API_FIELDS.fail),
    ...requestFields(take),
  })),
);

const SSE_FIELDS = { ...FIELDS, store: optional(SAVE_TARGET, { mistakenFor: ["target"] }) };

/** What a step says that streams an answer. */
export const SSE_BODY = define<Extract<StepAction, { readonly kind: "sse-call" }>>(
  "SseBody",
  mapping({ what: `"sse-call"`, fields: SSE_FIELDS }, (take) => {
    const store = take(SSE_FIELDS.store);
    return { kind: "sse-call", ...requestFields(take), store };
  }),
);
