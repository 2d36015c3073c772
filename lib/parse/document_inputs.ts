import { isRecord } from "../core/json.ts";
import { didYouMean } from "./document/near.ts";
import type { DocumentInput } from "./document/operation.ts";
import { notText, type ParameterReader, type Part } from "./document/parameters.ts";

const KEYS = ["name", "description", "default"] as const;
const NAME = /^[A-Za-z][\w-]*$/;
const MOST = 1000;

/** The inputs of a front matter, those that can be used, in their order. */
export function readDocumentInputs(reader: ParameterReader): readonly DocumentInput[] {
  const written = reader.value("inputs");
  if (written === undefined) return [];
  if (!Array.isArray(written)) {
    return reader.refuse("inputs", "inputs must be a list of {name, description, default}") ?? [];
  }
  if (written.length > MOST) reader.refuse("inputs", `inputs has more than ${MOST} names`);
  // Their blocks have their names as ids, which are the same in any case.
  const names = new Set<string>();
  return written.slice(0, MOST).flatMap((item: unknown, index) => {
    const input = reader.part("inputs", readInput(item, { reader, index }));
    if (input === undefined) return [];
    const isNew = !names.has(input.name.toLowerCase());
    names.add(input.name.toLowerCase());
    return isNew ? [input] : reader.refuse("inputs", `input "${input.name}" is given twice`) ?? [];
  });
}

function readInput(
  item: unknown,
  { reader, index }: { readonly reader: ParameterReader; readonly index: number },
): Part<DocumentInput> {
  if (!isRecord(item)) return { problem: "inputs must be a list of {name, description, default}" };
  const { name, description } = item;
  if (name === undefined) return { problem: `input ${index + 1} needs "name"` };
  if (typeof name !== "string" || !NAME.test(name)) {
    const found = JSON.stringify(reader.writtenAt(["inputs", index, "name"])?.slice(0, 60) ?? "");
    return { problem: `input name ${found} must be a letter, then letters, digits, "_" and "-"` };
  }
  const other = Object.keys(item).find((key) => !KEYS.some((known) => known === key));
  if (other !== undefined) {
    return { problem: `input "${name}" has no ${JSON.stringify(other)}${didYouMean(other, KEYS)}` };
  }
  if (description !== undefined && description !== null && typeof description !== "string") {
    return { problem: notText(`description of input "${name}"`, description) };
  }
  const hasDefault = Object.hasOwn(item, "default");
  const value = hasDefault ? reader.writtenAt(["inputs", index, "default"]) : undefined;
  if (hasDefault && value === undefined) {
    return { problem: `default of input "${name}" must be text, a number, true or false` };
  }
  return {
    value: {
      name,
      ...(typeof description === "string" && { description }),
      ...(value !== undefined && { default: value }),
    },
  };
}
