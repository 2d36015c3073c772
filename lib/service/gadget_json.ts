import type { CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget, Schema } from "../core/gadget.ts";
import { jsonSchemaOf } from "../core/gadget.ts";

/** Everything about a gadget as plain data; a schema that offers no JSON Schema is left out. */
export function gadgetJson(entry: CatalogEntry, gadget: AnyGadget): unknown {
  const { timeoutMs, maxConcurrent, exclusive, untrusted, repeatable } = gadget;
  const idempotent = typeof gadget.idempotent === "function" ? "by input" : gadget.idempotent;
  return {
    name: gadget.name,
    source: entry.source,
    state: "ready",
    description: gadget.description ?? "",
    ...schemaJson("input", gadget.input),
    ...schemaJson("output", gadget.output),
    permissions: gadget.permissions ?? {},
    ...Object.fromEntries(
      Object.entries({ timeoutMs, maxConcurrent, exclusive, untrusted, repeatable, idempotent })
        .filter(([, value]) => value !== undefined),
    ),
    examples: gadget.examples ?? [],
    ...(entry.grant !== undefined && { grant: entry.grant() }),
    ...(entry.said !== undefined && { said: entry.said }),
  };
}

function schemaJson(name: string, schema: Schema | undefined): Record<string, unknown> {
  const json = schema === undefined ? undefined : jsonSchemaOf(schema);
  return json === undefined ? {} : { [name]: json };
}
