import { schemaOfText } from "../parse/schema_text.ts";
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
  const found = schemaOfText(read.value, schema);
  if ("problem" in found) return context.problems.error(place, found.problem);
  await tellSchema(found.value, { name: `schema "${schema}"`, place, context });
}

async function tellSchema(
  schema: Readonly<Record<string, unknown>>,
  { name, place, context }: {
    readonly name: string;
    readonly place: ProblemPlace;
    readonly context: CheckContext;
  },
): Promise<void> {
  const { prepareAnyType }: typeof import("../prompt/prepare_any_type.ts") = await import(
    "../prompt/prepare_any_type.ts" as string
  );
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) context.problems.error(place, `${name} cannot be used${prepared.broken}`);
}
