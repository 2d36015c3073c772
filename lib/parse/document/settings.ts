// The front matter of a document (documents.md 3). It sets defaults, and grants nothing.
import { byPlace, EFFORTS, isRecord } from "../../core/core.ts";
import { isTexts } from "../yaml/check_fields.ts";
import { readDocumentMapping } from "./mapping.ts";
import { didYouMean, nearWord } from "./near.ts";
import type { DocumentInput, DocumentLimits, DocumentSettings } from "./operation.ts";
import { FROM_ONE, MERGE_MODES, notText, ParameterReader, TEMPERATURE } from "./parameters.ts";
import type { DocumentProblem, FrontMatterNode } from "./tree.ts";

/** In the order of the table, which decides between equally near names. */
const KEYS = [
  "model",
  "temperature",
  "effort",
  "tools",
  "mode",
  "limits",
  "permissions",
  "title",
  "description",
  "inputs",
] as const;

/** Reads and checks a front matter; what cannot be used is left out of the settings, and a problem. */
export async function readDocumentSettings(
  node: FrontMatterNode | undefined,
): Promise<{ readonly settings: DocumentSettings; readonly problems: readonly DocumentProblem[] }> {
  const mapping = await readDocumentMapping(node?.yaml ?? "", {
    linesAbove: node?.line ?? 1,
    notMapping: "front matter must be a mapping of keys to values",
    keyName: "front matter key",
  });
  const reader = new ParameterReader(mapping);
  const settings = readSettings(reader);
  // Keys of other programs are none of ours, unless one of ours is likely meant.
  reader.unknown((key) => {
    const near = KEYS.some((known) => known === key) ? undefined : nearWord(key.replace(/:.*/s, ""), KEYS);
    return near && `unknown front matter key ${JSON.stringify(key)} (did you mean "${near}"?)`;
  });
  const problems = [...mapping.problems, ...reader.problems]
    .sort(byPlace);
  return { settings, problems };
}

function readSettings(reader: ParameterReader): DocumentSettings {
  return {
    model: reader.text("model"),
    temperature: reader.number("temperature", TEMPERATURE),
    effort: reader.word("effort", EFFORTS),
    tools: reader.tools(),
    mode: reader.word("mode", MERGE_MODES),
    title: readNote(reader, "title"),
    description: readNote(reader, "description"),
    limits: readLimits(reader),
    permissions: readDocumentPermissions(reader),
    inputs: readDocumentInputs(reader),
    lines: reader.lines(KEYS),
  };
}

/** Text for people, which may be empty. */
function readNote(reader: ParameterReader, key: "title" | "description"): string | undefined {
  return reader.written(key) === null || reader.written(key) === "" ? undefined : reader.text(key);
}

const FIELDS: ReadonlyMap<string, keyof DocumentLimits> = new Map([
  ["goto", "goto"],
  ["tool-turns", "toolTurns"],
  ["shell-timeout", "shellTimeoutS"],
]);

/** The limits that a front matter gives, without those that cannot be used. */
function readLimits(reader: ParameterReader): Partial<DocumentLimits> {
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

const NAMES = ["read", "write", "net", "run"] as const;

/** The permissions of a front matter; those that cannot be used count as not given. */
function readDocumentPermissions(reader: ParameterReader): DocumentSettings["permissions"] {
  const written = reader.value("permissions");
  if (written === undefined) return {};
  if (!isRecord(written)) return reader.refuse("permissions", "permissions must be a mapping") ?? {};
  for (const name of Object.keys(written)) {
    if (NAMES.some((known) => known === name)) continue;
    reader.refuse("permissions", `unknown permission ${JSON.stringify(name)}${didYouMean(name, NAMES)}`);
  }
  const { read, write, net, run } = written;
  if (run !== undefined && typeof run !== "boolean") {
    reader.refuse("permissions", "permissions.run must be true or false");
  }
  return {
    read: scopeOf(reader, "read", read),
    write: scopeOf(reader, "write", write),
    net: scopeOf(reader, "net", net),
    run: typeof run === "boolean" ? run : undefined,
  };
}

function scopeOf(
  reader: ParameterReader,
  name: string,
  value: unknown,
): boolean | readonly string[] | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  if (isTexts(value) && !value.includes("")) return value;
  return reader.refuse("permissions", `permissions.${name} must be true, false or a list of texts`);
}

const INPUT_KEYS = ["name", "description", "default"] as const;
const NAME = /^[A-Za-z][\w-]*$/;
const MOST = 1000;

/** The inputs of a front matter, those that can be used, in their order. */
function readDocumentInputs(reader: ParameterReader): readonly DocumentInput[] {
  const written = reader.value("inputs");
  if (written === undefined) return [];
  if (!Array.isArray(written)) {
    return reader.refuse("inputs", "inputs must be a list of {name, description, default}") ?? [];
  }
  if (written.length > MOST) reader.refuse("inputs", `inputs has more than ${MOST} names`);
  // Their blocks have their names as ids, which are the same in any case.
  const names = new Set<string>();
  return written.slice(0, MOST).flatMap((item: unknown, index) => {
    const input = readInput(item, { reader, index });
    if (input === undefined) return [];
    const isNew = !names.has(input.name.toLowerCase());
    names.add(input.name.toLowerCase());
    return isNew ? [input] : reader.refuse("inputs", `input "${input.name}" is given twice`) ?? [];
  });
}

function readInput(
  item: unknown,
  { reader, index }: { readonly reader: ParameterReader; readonly index: number },
): DocumentInput | undefined {
  const refuse = (message: string) => reader.refuse("inputs", message);
  if (!isRecord(item)) return refuse("inputs must be a list of {name, description, default}");
  const { name, description } = item;
  if (name === undefined) return refuse(`input ${index + 1} needs "name"`);
  if (typeof name !== "string" || !NAME.test(name)) {
    const found = JSON.stringify(reader.writtenAt(["inputs", index, "name"])?.slice(0, 60) ?? "");
    return refuse(`input name ${found} must be a letter, then letters, digits, "_" and "-"`);
  }
  const other = Object.keys(item).find((key) => !INPUT_KEYS.some((known) => known === key));
  if (other !== undefined) {
    return refuse(`input "${name}" has no ${JSON.stringify(other)}${didYouMean(other, INPUT_KEYS)}`);
  }
  if (description !== undefined && description !== null && typeof description !== "string") {
    return refuse(notText(`description of input "${name}"`, description));
  }
  const hasDefault = Object.hasOwn(item, "default");
  const value = hasDefault ? reader.writtenAt(["inputs", index, "default"]) : undefined;
  if (hasDefault && value === undefined) {
    return refuse(`default of input "${name}" must be text, a number, true or false`);
  }
  return { name, description: typeof description === "string" ? description : undefined, default: value };
}
