import { byPlace, isJsonObject, isRecord, type JsonObject, messageOf, toJson } from "../../core/core.ts";
import { type DocumentMapping, readDocumentMapping } from "./mapping.ts";
import { didYouMean, FARTHEST, nearWord } from "./near.ts";
import {
  type FieldsOf,
  type GotoFields,
  type ImportFields,
  type InputValue,
  type LlmFields,
  type OperationFields,
  type OperationName,
  parametersOf,
  REQUIRED,
  type ReturnFields,
  type RunFields,
  type ShellFields,
  takes,
} from "./operation.ts";
import {
  anyFields,
  FROM_ONE,
  mergeFields,
  notText,
  ParameterReader,
  type Part,
  readHeader,
  readReferences,
  TEMPERATURE,
} from "./parameters.ts";
import type { DocumentProblem, OperationNode } from "./tree.ts";

const DEFAULT_RETRIES = 2;
const RETRIES = {
  isFine: (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 10,
  wanted: "a whole number from 0 to 10",
};

/** The parameters of `@llm`; those that cannot be used are left out. */
function readLlm(reader: ParameterReader): LlmFields {
  return {
    name: "llm",
    ...anyFields(reader),
    ...mergeFields(reader),
    useHeader: readHeader(reader),
    prompt: reader.text("prompt"),
    blocks: reader.references("block"),
    isGeneratedRun: reader.flag("run-generated") ?? false,
    isAmbient: reader.word("context", ["auto", "none"]) !== "none",
    media: readMedia(reader),
    isHeaderAligned: reader.flag("header-auto-align") ?? false,
    stopSequences: readStopSequences(reader),
    retries: reader.number("retries", RETRIES) ?? DEFAULT_RETRIES,
    saveToFile: reader.text("save-to-file"),
    provider: reader.text("provider"),
    model: reader.text("model"),
    temperature: reader.number("temperature", TEMPERATURE),
    tools: reader.tools(),
    toolsTurnsMax: reader.number("tools-turns-max", FROM_ONE),
    schema: readSchema(reader),
  };
}

function readMedia(reader: ParameterReader): readonly string[] {
  const value = reader.value("media");
  if (value === undefined) return [];
  const problem = "media must be a list of paths";
  return (Array.isArray(value) ? reader.part("media", texts(value, () => problem)) : undefined) ??
    reader.refuse("media", problem) ?? [];
}

function readStopSequences(reader: ParameterReader): readonly string[] {
  const key = "stop-sequences";
  const value = reader.value(key);
  if (value === undefined) return [];
  if (isRecord(value)) return reader.refuse(key, `${key} must be text or a list of texts`) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return reader.part(key, texts(list, (item) => item === "" ? `${key} is empty` : notText(key, item))) ?? [];
}

/** A list of texts that are not empty. @param problem what is wrong with an item */
function texts(items: readonly unknown[], problem: (item: unknown) => string): Part<readonly string[]> {
  const fine = items.flatMap((item) => typeof item === "string" && item !== "" ? [item] : []);
  const wrong = items.find((item) => typeof item !== "string" || item === "");
  return fine.length === items.length ? { value: fine } : { problem: problem(wrong) };
}

function readSchema(reader: ParameterReader): JsonObject | string | undefined {
  const value = reader.value("schema");
  if (value === undefined) return undefined;
  if (isRecord(value)) return reader.part("schema", jsonObject(value));
  if (typeof value === "string" && /\.json$/i.test(value)) return value;
  return reader.refuse("schema", "schema must be a JSON Schema as a mapping, or the path of a .json file");
}

function jsonObject(value: Readonly<Record<string, unknown>>): Part<JsonObject> {
  try {
    const json = toJson(value);
    return isJsonObject(json) ? { value: json } : { problem: "schema must be a mapping" };
  } catch (thrown) {
    return { problem: `schema is ${messageOf(thrown)}` };
  }
}

/** What became of the parameters of an operation. */
export interface ReadOperation {
  /** Absent when there is any error, or a parameter that the parser has refused. */
  readonly fields?: OperationFields;
  /** In the order of the lines; warnings too. */
  readonly problems: readonly DocumentProblem[];
}

const MOST_UNKNOWN = 20;

/**
 * Reads and checks the parameters of an operation (documents.md 4). Names of parameters that it does not have are the parser's
 * to tell where they begin a line; those of an indented body are told here.
 */
export async function readOperation(node: OperationNode): Promise<ReadOperation> {
  const { name, line } = node;
  const mapping = await readDocumentMapping(node.body === "" ? "" : `${node.body}\n`, {
    linesAbove: line,
    notMapping: `Found no parameters under @${name}, expected lines such as ${parametersOf(name)[0]}: VALUE`,
    keyName: "parameter",
  });
  const reader = new ParameterReader(mapping);
  const fields = OPERATION_READERS[name](reader);
  if (mapping.indent > 0) tellUnknown(name, { mapping, reader });
  const keys = [...mapping.values.keys()];
  const missing = mapping.isRead ? missingIn(name, keys) : undefined;
  const problems = [
    ...missing === undefined ? [] : [{ severity: "error" as const, line, column: 1, message: missing }],
    ...mapping.problems,
    ...reader.problems,
  ].sort(byPlace);
  const isFine = keys.every((key) => takes(name, key)) &&
    problems.every(({ severity }) => severity !== "error");
  return fields !== undefined && isFine ? { fields, problems } : { problems };
}

function tellUnknown(
  name: OperationName,
  { mapping, reader }: { readonly mapping: DocumentMapping; readonly reader: ParameterReader },
): void {
  const unknown = [...mapping.values.keys()].filter((key) => !takes(name, key));
  for (const key of unknown.slice(0, MOST_UNKNOWN)) {
    const near = didYouMean(key, parametersOf(name));
    reader.refuse(key, `@${name} has no parameter ${JSON.stringify(key.slice(0, 200))}${near}`);
  }
}

function missingIn(name: OperationName, keys: readonly string[]): string | undefined {
  const required = REQUIRED[name];
  // A misspelt one is told as such, and is not missing as well.
  const isThere = (key: string) =>
    required.includes(takes(name, key) ? key : nearWord(key, parametersOf(name), FARTHEST) ?? "");
  if (keys.some(isThere)) return undefined;
  return `@${name} needs ${required.map((key) => `"${key}"`).join(" or ")}`;
}

const SECONDS = {
  isFine: (value: number): boolean => value > 0 && Number.isFinite(value),
  wanted: "a number of seconds above 0",
};

/** How the parameters of each operation are read: undefined where what is required is missing, or cannot be used. */
const OPERATION_READERS: {
  readonly [Name in OperationName]: (reader: ParameterReader) => FieldsOf<Name> | undefined;
} = {
  import: readImport,
  llm: readLlm,
  shell: readShell,
  run: readRun,
  return: readReturn,
  goto: readGoto,
};

function readImport(reader: ParameterReader): ImportFields | undefined {
  const fields = { ...anyFields(reader), ...mergeFields(reader), blocks: reader.references("block") };
  const file = reader.text("file");
  return file === undefined ? undefined : { name: "import", file, ...fields };
}

function readShell(reader: ParameterReader): ShellFields | undefined {
  const fields = {
    ...anyFields(reader),
    ...mergeFields(reader),
    useHeader: readHeader(reader),
    isGeneratedRun: reader.flag("run-generated") ?? false,
    env: readInputValues(reader, "env"),
    timeoutS: reader.number("timeout", SECONDS),
  };
  const prompt = reader.text("prompt");
  if (prompt?.includes("\0")) reader.refuse("prompt", "prompt holds a NUL character, which no command can");
  return prompt === undefined ? undefined : { name: "shell", prompt, ...fields };
}

function readRun(reader: ParameterReader): RunFields | undefined {
  const fields = {
    ...anyFields(reader),
    ...mergeFields(reader),
    useHeader: readHeader(reader),
    prompt: reader.text("prompt"),
    blocks: reader.references("block"),
    isGeneratedRun: reader.flag("run-generated") ?? false,
    inputs: readInputValues(reader, "inputs"),
  };
  const file = reader.text("file");
  if (reader.has("use-header") && !reader.has("prompt")) {
    reader.warn("use-header", "use-header has no effect without prompt");
  }
  return file === undefined ? undefined : { name: "run", file, ...fields };
}

function readReturn(reader: ParameterReader): ReturnFields {
  return {
    name: "return",
    ...anyFields(reader),
    useHeader: readHeader(reader),
    prompt: reader.text("prompt"),
    blocks: reader.references("block"),
  };
}

function readGoto(reader: ParameterReader): GotoFields | undefined {
  const fields = { ...anyFields(reader), isRunOnce: reader.flag("run-once") ?? false };
  const [block, second] = reader.references("block") ?? [];
  if (block === undefined) return undefined;
  if (second === undefined && !block.endsWith("*")) return { name: "goto", block, ...fields };
  return reader.refuse("block", "@goto takes one block without /*");
}

// The parameters `env` and `inputs`: a mapping of names to scalars or blocks.

const MOST = 1000;

/** The values by their names; empty when there are none, or none that can be used. */
function readInputValues(
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
