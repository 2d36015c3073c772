import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";
import type { ProblemPlace } from "./problem_list.ts";

/** Whether the schema of an answer, or the file that it is in, can be used. */
export async function checkSchema(
  fields: LlmFields,
  placed: PlacedOperation,
  context: CheckContext,
): Promise<void> {
  const { schema } = fields;
  if (schema === undefined) return;
  const place = placeOf(placed, "schema");
  if (typeof schema !== "string") return tellSchema(schema, { name: "schema", place, context });
  const path = context.readable(schema, { ...placed, place });
  if (path === undefined) return;
  const read = await context.files.text(path);
  if ("failure" in read) {
    return context.tellFailure(read.failure, { place, written: schema, document: placed.document });
  }
  const name = `schema "${schema}"`;
  const json = jsonOf(read.value);
  if ("problem" in json) return context.problems.error(place, `${name} is not JSON: ${json.problem}`);
  if (!isRecord(json.value)) return context.problems.error(place, `${name} must be a JSON object`);
  await tellSchema(json.value, { name, place, context });
}

function jsonOf(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, "")) };
  } catch (thrown) {
    return { problem: messageOf(thrown) };
  }
}

async function tellSchema(
  schema: Readonly<Record<string, unknown>>,
  { name, place, context }: {
    readonly name: string;
    readonly place: ProblemPlace;
    readonly context: CheckContext;
  },
): Promise<void> {
  const { schemaProblems }: typeof import("../prompt/schema_problems.ts") = await import(
    "../prompt/schema_problems.ts" as string
  );
  for (const { message } of schemaProblems(schema)) {
    context.problems.error(place, `${name} cannot be used${message}`);
  }
}
