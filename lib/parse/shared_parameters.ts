// The parameters that several operations have.

import { readConditions } from "./conditions.ts";
import { headingLine } from "./heading_line.ts";
import type { ImportFields, OperationFields, ShellFields } from "./operation_fields.ts";
import { MERGE_MODES, type ParameterReader } from "./parameter_reader.ts";
import { notText } from "./part.ts";

export function anyFields(
  reader: ParameterReader,
): Pick<OperationFields, "conditions" | "onError" | "lines"> {
  const onError = reader.word("on-error", ["stop", "continue"]);
  return {
    conditions: readConditions(reader),
    lines: reader.lines(),
    ...(onError !== undefined && { onError }),
  };
}

export function mergeFields(reader: ParameterReader): Pick<ImportFields, "isRunOnce" | "to" | "mode"> {
  const target = reader.value("to");
  const isText = target === undefined || typeof target === "string";
  if (!isText) reader.refuse("to", notText("to", target));
  const to = isText ? reader.references("to")?.[0] : undefined;
  const mode = reader.word("mode", MERGE_MODES);
  return {
    isRunOnce: reader.flag("run-once") ?? false,
    ...(to !== undefined && { to }),
    ...(mode !== undefined && { mode }),
  };
}

export function promptField(reader: ParameterReader): { readonly prompt?: string } {
  const prompt = reader.text("prompt");
  return prompt === undefined ? {} : { prompt };
}

export function blocksField(reader: ParameterReader): Pick<ImportFields, "blocks"> {
  const blocks = reader.references("block");
  return blocks === undefined ? {} : { blocks };
}

const EMPTY_HEADER =
  'use-header is empty: a value that begins with # must be quoted, as in use-header: "# Title"';
const NO_HEADER = 'use-header must be one heading line such as "# Title", or none';

export function headerField(reader: ParameterReader): Pick<ShellFields, "useHeader"> {
  const value = reader.written("use-header");
  if (value === undefined) return {};
  if (value === null) return reader.refuse("use-header", EMPTY_HEADER) ?? {};
  const header = typeof value === "string" ? value.replace(/\n+$/, "") : "";
  if (header.trim().toLowerCase() === "none") return { useHeader: "none" };
  if (headingLine(header) !== undefined) return { useHeader: header };
  return reader.refuse("use-header", NO_HEADER) ?? {};
}
