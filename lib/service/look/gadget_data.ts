import type { CatalogEntry, EntryGrant } from "../../core/catalog.ts";
import type { Schema } from "../../core/gadget.ts";
import type { JsonObject } from "../../core/json.ts";
import { isJsonObject, toJson } from "../../core/json.ts";
import { jsonSchemaOf } from "../../core/gadget.ts";
import { loadedGadget } from "../loaded_gadget.ts";
import type { GadgetJson } from "./look.ts";

/** A gadget of the catalogue; one that cannot be loaded says why. */
export async function gadgetData(entry: CatalogEntry): Promise<GadgetJson> {
  const { gadget, problem } = await loadedGadget(entry);
  const state = problem !== undefined && entry.state === "ready" ? "broken" : entry.state;
  const { name, source, said } = entry;
  const grant = entry.grant?.();
  const [input, output] = [schemaData(gadget?.input), schemaData(gadget?.output)];
  return {
    name,
    source: { ...source },
    state,
    problem,
    description: gadget?.description ?? "",
    input,
    output,
    permissions: objectOf(gadget?.permissions ?? {}),
    timeoutMs: gadget?.timeoutMs,
    examples: (gadget?.examples ?? []).map((example) => toJson(example)),
    grant: grant && grantData(grant),
    said,
  };
}

function grantData({ permissions, ...grant }: EntryGrant): NonNullable<GadgetJson["grant"]> {
  return permissions === undefined ? grant : { ...grant, permissions: objectOf(permissions) };
}

/** Undefined for a schema that offers no JSON Schema. */
function schemaData(schema: Schema | undefined): JsonObject | undefined {
  const json = schema === undefined ? undefined : jsonSchemaOf(schema);
  return json === undefined ? undefined : objectOf(json);
}

/** A value that is known to be an object, as JSON. */
export function objectOf(value: object): JsonObject {
  const json = toJson(value);
  return isJsonObject(json) ? json : {};
}
