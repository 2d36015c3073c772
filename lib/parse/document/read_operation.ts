import {
  byPlace,
  EFFORTS,
  isRecord,
  type JsonObject,
  messageOf,
  objectOrEmpty,
  toJson,
} from "../../core/core.ts";
import { headingLine } from "./lines.ts";
import { isTexts } from "../yaml/check_fields.ts";
import { readDocumentMapping } from "./mapping.ts";
import { didYouMean, FARTHEST, nearWord } from "./near.ts";
import {
  type Condition,
  type InputValue,
  type OperationFields,
  type OperationName,
  parametersOf,
  REQUIRED,
  takes,
} from "./operation.ts";
import { FROM_ONE, MERGE_MODES, notText, ParameterReader, TEMPERATURE } from "./parameters.ts";
import type { DocumentProblem, OperationNode } from "./tree.ts";

const DEFAULT_RETRIES = 2;
const RETRIES = {
  isFine: (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 10,
  wanted: "a whole number from 0 to 10",
};
const SECONDS = {
  isFine: (value: number): boolean => value > 0 && Number.isFinite(value),
  wanted: "a number of seconds above 0",
};

/** What each parameter becomes among the fields of an operation. What cannot be used is left out, and a problem. */
const READERS: Readonly<Record<string, (reader: ParameterReader, name: OperationName) => object>> = {
  prompt: (reader, name) => ({ prompt: readPrompt(reader, name) }),
  block: (reader, name) =>
    name === "goto" ? { block: readTarget(reader) } : { blocks: reader.references("block") },
  file: (reader) => ({ file: reader.text("file") }),
  to: (reader) => ({ to: readPlace(reader) }),
  mode: (reader) => ({ mode: reader.word("mode", MERGE_MODES) }),
  "use-header": (reader, name) => ({ useHeader: readHeader(reader, name) }),
  "run-once": (reader) => ({ isRunOnce: reader.flag("run-once") ?? false }),
  if: (reader) => ({ conditions: readConditions(reader) }),
  "on-error": (reader) => ({ onError: reader.word("on-error", ["stop", "continue"]) }),
  "run-generated": (reader) => ({ isGeneratedRun: reader.flag("run-generated") ?? false }),
  context: (reader) => ({ isAmbient: reader.word("context", ["auto", "none"]) !== "none" }),
  media: (reader) => ({ media: readMedia(reader) }),
  "save-to-file": (reader) => ({ saveToFile: reader.text("save-to-file") }),
  "header-auto-align": (reader) => ({ isHeaderAligned: reader.flag("header-auto-align") ?? false }),
  provider: (reader) => ({ provider: reader.text("provider") }),
  model: (reader) => ({ model: reader.text("model") }),
  temperature: (reader) => ({ temperature: reader.number("temperature", TEMPERATURE) }),
  effort: (reader) => ({ effort: reader.word("effort", EFFORTS) }),
  "stop-sequences": (reader) => ({ stopSequences: readStopSequences(reader) }),
  tools: (reader) => ({ tools: reader.tools() }),
  "tools-turns-max": (reader) => ({ toolsTurnsMax: reader.number("tools-turns-max", FROM_ONE) }),
  retries: (reader) => ({ retries: reader.number("retries", RETRIES) ?? DEFAULT_RETRIES }),
  schema: (reader) => ({ schema: readSchema(reader) }),
  env: (reader) => ({ env: readInputValues(reader, "env") }),
  timeout: (reader) => ({ timeoutS: reader.number("timeout", SECONDS) }),
  inputs: (reader) => ({ inputs: readInputValues(reader, "inputs") }),
};

/** What became of the parameters of an operation. */
export interface ReadOperation {
  /** Absent when there is any error, or a parameter that the parser has refused. */
  readonly fields?: OperationFields;
  /** In the order of the lines; warnings too. */
  readonly problems: readonly DocumentProblem[];
}

/**
 * Reads and checks the parameters of an operation (documents.md 4). Names of parameters that it does not have are the parser's
 * to tell where they begin a line; those of an indented body are told here.
 */
export async function readOperation(node: OperationNode): Promise<ReadOperation> {
  const { name, line } = node;
  const parameters = parametersOf(name);
  const mapping = await readDocumentMapping(node.body === "" ? "" : `${node.body}\n`, {
    linesAbove: line,
    notMapping: `Found no parameters under @${name}, expected lines such as ${parameters[0]}: VALUE`,
    keyName: "parameter",
  });
  const reader = new ParameterReader(mapping);
  const fields = Object.assign({ name }, ...parameters.map((key) => READERS[key]?.(reader, name)), {
    lines: reader.lines(parameters),
  });
  if (mapping.indent > 0) {
    reader.unknown((key) =>
      takes(name, key)
        ? undefined
        : `@${name} has no parameter ${JSON.stringify(key.slice(0, 200))}${didYouMean(key, parameters)}`
    );
  }
  const keys = [...mapping.values.keys()];
  const missing = mapping.isRead ? missingIn(name, keys) : undefined;
  const problems = [
    ...missing === undefined ? [] : [{ severity: "error" as const, line, column: 1, message: missing }],
    ...mapping.problems,
    ...reader.problems,
  ].sort(byPlace);
  const isFine = keys.every((key) => takes(name, key)) &&
    problems.every(({ severity }) => severity !== "error");
  // Each field has been read by its parameter; one that is required and not there is an error.
  return isFine ? { fields: fields as OperationFields, problems } : { problems };
}

function missingIn(name: OperationName, keys: readonly string[]): string | undefined {
  const required = REQUIRED[name];
  // A misspelt one is told as such, and is not missing as well.
  const isThere = (key: string) =>
    required.includes(takes(name, key) ? key : nearWord(key, parametersOf(name), FARTHEST) ?? "");
  if (keys.some(isThere)) return undefined;
  return `@${name} needs ${required.map((key) => `"${key}"`).join(" or ")}`;
}

function readPrompt(reader: ParameterReader, name: OperationName): string | undefined {
  const prompt = reader.text("prompt");
  const isCut = name === "shell" && prompt?.includes("\0");
  return isCut ? reader.refuse("prompt", "prompt holds a NUL character, which no command can") : prompt;
}

/** The block that `@goto` leads to. */
function readTarget(reader: ParameterReader): string | undefined {
  const [block, second] = reader.references("block") ?? [];
  const isOne = block === undefined || second === undefined && !block.endsWith("*");
  return isOne ? block : reader.refuse("block", "@goto takes one block without /*");
}

/** The block that a result goes to. */
function readPlace(reader: ParameterReader): string | undefined {
  const target = reader.value("to");
  const isText = target === undefined || typeof target === "string";
  return isText ? reader.references("to")?.[0] : reader.refuse("to", notText("to", target));
}

const EMPTY_HEADER =
  'use-header is empty: a value that begins with # must be quoted, as in use-header: "# Title"';
const NO_HEADER = 'use-header must be one heading line such as "# Title", or none';

/** `use-header`: a heading line, or `none`. */
function readHeader(reader: ParameterReader, name: OperationName): string | undefined {
  const value = reader.written("use-header");
  if (value === undefined) return undefined;
  if (name === "run" && !reader.has("prompt")) {
    reader.warn("use-header", "use-header has no effect without prompt");
  }
  if (value === null) return reader.refuse("use-header", EMPTY_HEADER);
  const header = typeof value === "string" ? value.replace(/\n+$/, "") : "";
  if (header.trim().toLowerCase() === "none") return "none";
  return headingLine(header) === undefined ? reader.refuse("use-header", NO_HEADER) : header;
}

function readMedia(reader: ParameterReader): readonly string[] {
  const value = reader.value("media") ?? [];
  const isFine = isTexts(value) && !value.includes("");
  return isFine ? value : reader.refuse("media", "media must be a list of paths") ?? [];
}

function readStopSequences(reader: ParameterReader): readonly string[] {
  const key = "stop-sequences";
  const value = reader.value(key) ?? [];
  if (isRecord(value)) return reader.refuse(key, `${key} must be text or a list of texts`) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const wrong = list.find((item) => typeof item !== "string" || item === "");
  if (wrong !== undefined) reader.refuse(key, wrong === "" ? `${key} is empty` : notText(key, wrong));
  return wrong === undefined && isTexts(list) ? list : [];
}

function readSchema(reader: ParameterReader): JsonObject | string | undefined {
  const value = reader.value("schema");
  if (value === undefined || typeof value === "string" && /\.json$/i.test(value)) return value;
  if (!isRecord(value)) {
    return reader.refuse("schema", "schema must be a JSON Schema as a mapping, or the path of a .json file");
  }
  try {
    return objectOrEmpty(toJson(value));
  } catch (thrown) {
    return reader.refuse("schema", `schema is ${messageOf(thrown)}`);
  }
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
      const read = readInputValue(part, { reader, path: [key, name] });
      return read === undefined ? [] : [[name, read]];
    }),
  );
}

function readInputValue(
  part: unknown,
  { reader, path }: { readonly reader: ParameterReader; readonly path: readonly [string, string] },
): InputValue | undefined {
  const [key, name] = path;
  const label = `${JSON.stringify(name)} in ${key}`;
  if (key === "env" && !/^[^=\0]+$/.test(name)) {
    return reader.refuse(key, `${label} cannot be the name of a variable`);
  }
  if (isRecord(part) && Object.keys(part).length === 1 && Object.hasOwn(part, "block")) {
    const blocks = reader.references(key, part.block ?? "", `block of ${label}`);
    return blocks && { blocks };
  }
  const value = reader.writtenAt(path);
  if (value === undefined) {
    return reader.refuse(key, `${label} must be text, a number, true, false or {block: REFERENCE}`);
  }
  return key === "env" && value.includes("\0")
    ? reader.refuse(key, `${label} holds a NUL character, which no variable can`)
    : value;
}

// The parameter `if` (documents.md 9.5).

const TEXT_TESTS = ["equals", "not-equals", "contains", "matches"] as const;

const FORM = "if needs block and exactly one of equals, not-equals, contains, matches, exists";
/** All conditions of an operation; none when it has no `if`, or one that cannot be used. */
function readConditions(reader: ParameterReader): readonly Condition[] {
  const value = reader.value("if");
  if (value === undefined) return [];
  if (!Array.isArray(value)) return readCondition(value, reader, ["if"]);
  if (value.length === 0) reader.refuse("if", FORM);
  if (value.length > MOST) reader.refuse("if", `if has more than ${MOST} conditions`);
  return value.slice(0, MOST).flatMap((item: unknown, index) => readCondition(item, reader, ["if", index]));
}

function readCondition(
  item: unknown,
  reader: ParameterReader,
  path: readonly (string | number)[],
): readonly Condition[] {
  const refuse = (message: string) => reader.refuse("if", message) ?? [];
  if (!isRecord(item) || !Object.hasOwn(item, "block") || Object.keys(item).length !== 2) return refuse(FORM);
  const blocks = reader.references("if", item.block ?? "", "block in if");
  if (blocks === undefined) return [];
  const kind = TEXT_TESTS.find((kind) => Object.hasOwn(item, kind));
  if (kind === undefined) {
    if (!Object.hasOwn(item, "exists")) return refuse(FORM);
    const { exists: value } = item;
    return typeof value === "boolean"
      ? [{ blocks, test: { kind: "exists", value } }]
      : refuse("exists in if must be true or false");
  }
  const value = reader.writtenAt([...path, kind]);
  if (value === undefined) return refuse(`${kind} in if must be text`);
  const problem = kind === "matches" ? problemOfPattern(value) : undefined;
  return problem === undefined ? [{ blocks, test: { kind, value } }] : refuse(problem);
}

function problemOfPattern(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (thrown) {
    const message = messageOf(thrown);
    const why = message.slice(message.lastIndexOf("/u: ") + "/u: ".length);
    return `matches in if is not a regular expression: ${why.slice(0, 1).toLowerCase()}${why.slice(1)}`;
  }
}
