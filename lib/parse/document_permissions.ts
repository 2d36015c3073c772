import { isRecord } from "../core/json.ts";
import { isTexts } from "./check_fields.ts";
import { didYouMean } from "./document_near.ts";
import type { DocumentSettings } from "./operation_fields.ts";
import type { ParameterReader } from "./parameter_reader.ts";

const NAMES = ["read", "write", "net", "run"] as const;

/** The permissions of a front matter; those that cannot be used count as not given. */
export function readDocumentPermissions(reader: ParameterReader): DocumentSettings["permissions"] {
  const written = reader.value("permissions");
  if (written === undefined) return {};
  if (!isRecord(written)) return reader.refuse("permissions", "permissions must be a mapping") ?? {};
  for (const name of Object.keys(written)) {
    if (NAMES.some((known) => known === name)) continue;
    reader.refuse("permissions", `unknown permission ${JSON.stringify(name)}${didYouMean(name, NAMES)}`);
  }
  const read = scopeOf(reader, ["read", written.read]);
  const write = scopeOf(reader, ["write", written.write]);
  const net = scopeOf(reader, ["net", written.net]);
  const { run } = written;
  if (run !== undefined && typeof run !== "boolean") {
    reader.refuse("permissions", "permissions.run must be true or false");
  }
  return {
    ...(read !== undefined && { read }),
    ...(write !== undefined && { write }),
    ...(net !== undefined && { net }),
    ...(typeof run === "boolean" && { run }),
  };
}

function scopeOf(
  reader: ParameterReader,
  [name, value]: readonly [string, unknown],
): boolean | readonly string[] | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  if (isTexts(value) && !value.includes("")) return value;
  return reader.refuse("permissions", `permissions.${name} must be true, false or a list of texts`);
}
