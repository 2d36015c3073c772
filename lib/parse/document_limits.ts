import { isRecord } from "../core/json.ts";
import { didYouMean } from "./document_near.ts";
import type { DocumentLimits } from "./operation_fields.ts";
import { FROM_ONE, type ParameterReader } from "./parameter_reader.ts";

const FIELDS: ReadonlyMap<string, keyof DocumentLimits> = new Map([
  ["goto", "goto"],
  ["tool-turns", "toolTurns"],
  ["shell-timeout", "shellTimeoutS"],
]);

/** The limits that a front matter gives, without those that cannot be used. */
export function readLimits(reader: ParameterReader): Partial<DocumentLimits> {
  const written = reader.value("limits");
  const limits: { -readonly [Field in keyof DocumentLimits]?: number } = {};
  if (written !== undefined && !isRecord(written)) reader.refuse("limits", "limits must be a mapping");
  for (const [name, value] of isRecord(written) ? Object.entries(written) : []) {
    const field = FIELDS.get(name);
    if (field === undefined) {
      const near = didYouMean(name, FIELDS.keys());
      reader.refuse("limits", `unknown limit ${JSON.stringify(name)}${near}`);
    } else if (typeof value === "number" && FROM_ONE.isFine(value)) limits[field] = value;
    else reader.refuse("limits", `limits.${name} must be ${FROM_ONE.wanted}`);
  }
  return limits;
}
