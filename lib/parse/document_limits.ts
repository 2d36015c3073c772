import { isRecord } from "../core/json.ts";
import { didYouMean } from "./document_near.ts";
import type { DocumentSettings } from "./operation_fields.ts";
import { FROM_ONE, type ParameterReader } from "./parameter_reader.ts";

const DEFAULTS: Readonly<Record<string, number>> = { goto: 30, "tool-turns": 8, "shell-timeout": 120 };

/** The limits of a front matter; those that are not given, or cannot be used, have their defaults. */
export function readLimits(reader: ParameterReader): DocumentSettings["limits"] {
  const written = reader.value("limits");
  const limits = new Map(Object.entries(DEFAULTS));
  if (written !== undefined && !isRecord(written)) reader.refuse("limits", "limits must be a mapping");
  for (const [name, value] of isRecord(written) ? Object.entries(written) : []) {
    if (!limits.has(name)) {
      const near = didYouMean(name, limits.keys());
      reader.refuse("limits", `unknown limit ${JSON.stringify(name)}${near}`);
    } else if (typeof value === "number" && FROM_ONE.isFine(value)) limits.set(name, value);
    else reader.refuse("limits", `limits.${name} must be ${FROM_ONE.wanted}`);
  }
  const limit = (name: string) => limits.get(name) ?? 1;
  return { goto: limit("goto"), toolTurns: limit("tool-turns"), shellTimeoutS: limit("shell-timeout") };
}
