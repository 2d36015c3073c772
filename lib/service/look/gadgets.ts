import {
  type AnyGadget,
  type CatalogEntry,
  type EntryGrant,
  type JsonObject,
  jsonSchemaOf,
  messageOf,
  type Schema,
  toJson,
  toJsonObject,
} from "../../core/core.ts";
import { containedBy } from "../../run/calls/gadget.ts";
import type { GadgetJson } from "./look.ts";

/** A gadget of the catalogue; one that cannot be loaded says why. */
export async function gadgetData(entry: CatalogEntry): Promise<GadgetJson> {
  const { gadget, problem, state } = await loadedGadget(entry);
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
    permissions: toJsonObject(gadget?.permissions),
    timeoutMs: gadget?.timeoutMs,
    examples: (gadget?.examples ?? []).map((example) => toJson(example)),
    grant: grant && grantData(grant),
    said,
  };
}

function grantData({ permissions, ...grant }: EntryGrant): NonNullable<GadgetJson["grant"]> {
  return permissions === undefined ? grant : { ...grant, permissions: toJsonObject(permissions) };
}

/** Undefined for a schema that offers no JSON Schema. */
function schemaData(schema: Schema | undefined): JsonObject | undefined {
  const json = schema && jsonSchemaOf(schema);
  return json && toJsonObject(json);
}

/** Everything about a gadget as plain data; what it does not say is undefined. */
export function gadgetJson(entry: CatalogEntry, gadget: AnyGadget): unknown {
  const { name, timeoutMs, maxConcurrent, exclusive, untrusted, repeatable, idempotent } = gadget;
  return {
    name,
    source: entry.source,
    state: "ready",
    description: gadget.description ?? "",
    input: schemaData(gadget.input),
    output: schemaData(gadget.output),
    permissions: gadget.permissions ?? {},
    timeoutMs,
    maxConcurrent,
    exclusive,
    untrusted,
    repeatable,
    idempotent: typeof idempotent === "function" ? "by input" : idempotent,
    examples: gadget.examples ?? [],
    grant: entry.grant?.(),
    said: entry.said,
  };
}

/** How long a call of it may take, ms: `Infinity` where what runs in it has limits of its own; undefined: as the run says. */
export function callTime(gadget: AnyGadget): number | undefined {
  return containedBy(gadget) === undefined ? gadget.timeoutMs : Infinity;
}

/** A gadget for whoever describes it, or why it is not to be had. */
export async function loadedGadget(
  entry: CatalogEntry,
): Promise<
  { readonly gadget?: AnyGadget; readonly problem?: string; readonly state: CatalogEntry["state"] }
> {
  const { state } = entry;
  if (state !== "ready") return { problem: entry.problem ?? state, state };
  try {
    return { gadget: await entry.load(), state };
  } catch (error) {
    return { problem: messageOf(error), state: "broken" };
  }
}
