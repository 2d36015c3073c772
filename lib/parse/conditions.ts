// The parameter `if` (documents.md 9.5).

import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { Condition } from "./operation_fields.ts";
import type { ParameterReader } from "./parameter_reader.ts";
import type { Part } from "./part.ts";
import { readReferences } from "./references.ts";

const TEXT_TESTS = ["equals", "not-equals", "contains", "matches"] as const;
type TextTest = (typeof TEXT_TESTS)[number];

const FORM = "if needs block and exactly one of equals, not-equals, contains, matches, exists";
const MOST = 1000;

/** All conditions of an operation; none when it has no `if`, or one that cannot be used. */
export function readConditions(reader: ParameterReader): readonly Condition[] {
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
