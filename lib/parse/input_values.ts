// The parameters `env` and `inputs`: a mapping of names to scalars or blocks.

import { isRecord } from "../core/json.ts";
import type { InputValue } from "./operation_fields.ts";
import type { ParameterReader } from "./parameter_reader.ts";
import type { Part } from "./part.ts";
import { readReferences } from "./references.ts";

const MOST = 1000;

/** The values by their names; empty when there are none, or none that can be used. */
export function readInputValues(
  reader: ParameterReader,
  key: "env" | "inputs",
): Readonly<Record<string, InputValue>> {
  const value = reader.value(key);
  if (value === undefined) return {};
  if (!isRecord(value)) {
    reader.refuse(key, `${key} must be a mapping of names to values`);
    return {};
  }
  const entries = Object.entries(value);
  if (entries.length > MOST) reader.refuse(key, `${key} has more than ${MOST} names`);
  return Object.fromEntries(
    entries.slice(0, MOST).flatMap(([name, part]): [string, InputValue][] => {
      const read = reader.part(key, readInputValue(part, { reader, path: [key, name] }));
      return read === undefined ? [] : [[name, read]];
    }),
  );
}

function readInputValue(
  part: unknown,
  { reader, path }: { readonly reader: ParameterReader; readonly path: readonly [string, string] },
): Part<InputValue> {
  const [key, name] = path;
  const label = `${JSON.stringify(name)} in ${key}`;
  if (key === "env" && !/^[^=\0]+$/.test(name)) {
    return { problem: `${label} cannot be the name of a variable` };
  }
  if (isRecord(part) && Object.keys(part).length === 1 && Object.hasOwn(part, "block")) {
    const blocks = readReferences(part.block ?? "", `block of ${label}`);
    return "problem" in blocks ? blocks : { value: { blocks: blocks.value } };
  }
  const value = reader.writtenAt(path);
  if (value === undefined) {
    return { problem: `${label} must be text, a number, true, false or {block: REFERENCE}` };
  }
  return key === "env" && value.includes("\0")
    ? { problem: `${label} holds a NUL character, which no variable can` }
    : { value };
}
