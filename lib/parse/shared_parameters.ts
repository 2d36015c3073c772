// The parameters that several operations have.
import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { headingLine } from "./heading_line.ts";
import type { Condition, ImportFields, OperationFields, ShellFields } from "./operation_fields.ts";
import { MERGE_MODES, type ParameterReader } from "./parameter_reader.ts";
import { notText, type Part } from "./part.ts";
import { readReferences } from "./references.ts";

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

// The parameter `if` (documents.md 9.5).

const TEXT_TESTS = ["equals", "not-equals", "contains", "matches"] as const;
type TextTest = (typeof TEXT_TESTS)[number];

const FORM = "if needs block and exactly one of equals, not-equals, contains, matches, exists";
const MOST = 1000;

/** All conditions of an operation; none when it has no `if`, or one that cannot be used. */
function readConditions(reader: ParameterReader): readonly Condition[] {
  const value = reader.value("if");
  if (value === undefined) return [];
  if (!Array.isArray(value)) return conditionsOf([readCondition(value, { reader, path: ["if"] })], reader);
  if (value.length === 0) reader.refuse("if", FORM);
  if (value.length > MOST) reader.refuse("if", `if has more than ${MOST} conditions`);
  const read = value.slice(0, MOST).map((item: unknown, index) =>
    readCondition(item, { reader, path: ["if", index] })
  );
  return conditionsOf(read, reader);
}

function conditionsOf(parts: readonly Part<Condition>[], reader: ParameterReader): readonly Condition[] {
  return parts.flatMap((part) => reader.part("if", part) ?? []);
}

interface ConditionPlace {
  readonly reader: ParameterReader;
  readonly path: readonly (string | number)[];
}

function readCondition(item: unknown, place: ConditionPlace): Part<Condition> {
  if (!isRecord(item) || !Object.hasOwn(item, "block") || Object.keys(item).length !== 2) {
    return { problem: FORM };
  }
  const blocks = readReferences(item.block ?? "", "block in if");
  if ("problem" in blocks) return blocks;
  const kind = TEXT_TESTS.find((kind) => Object.hasOwn(item, kind));
  const test = kind !== undefined
    ? textTest(kind, place)
    : Object.hasOwn(item, "exists")
    ? existsTest(item.exists)
    : { problem: FORM };
  return "problem" in test ? test : { value: { blocks: blocks.value, test: test.value } };
}

function existsTest(value: unknown): Part<Condition["test"]> {
  return typeof value === "boolean"
    ? { value: { kind: "exists", value } }
    : { problem: "exists in if must be true or false" };
}

function textTest(kind: TextTest, { reader, path }: ConditionPlace): Part<Condition["test"]> {
  const value = reader.writtenAt([...path, kind]);
  if (value === undefined) return { problem: `${kind} in if must be text` };
  if (kind !== "matches") return { value: { kind, value } };
  const problem = problemOfPattern(value);
  return problem === undefined ? { value: { kind, value } } : { problem };
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
