import type { JsonObject } from "../core/json.ts";
import { replyJson } from "../prompt/contract.ts";
import { placed, WRAPPERS } from "../schema/failure.ts";
import { toPointer } from "../schema/issue.ts";
import { JsonValidator } from "../schema/json_validator.ts";
import { type PreparedSchema, prepareSchema } from "../schema/prepare_schema.ts";
import type { AnswerContract } from "./document_turn.ts";

const ANY_TYPE = ["object", "array", "string", "number", "boolean", "null"];

/**
 * The contract of an @llm with a `schema` (documents.md 7.10): the answer, out of one enclosing fence, is JSON that fits it.
 *
 * @throws {Error} for a schema that cannot be used; the message has the JSON pointer into it
 */
export function answerContract(schema: JsonObject): AnswerContract {
  const prepared = preparedOrThrow(schema);
  return {
    schema,
    check(answer) {
      const read = replyJson(answer);
      if ("problem" in read) return { why: read.isNumber ? read.problem : "it is not JSON" };
      const { text, json } = read;
      const validator = new JsonValidator(prepared, { size: text.length });
      const failures = placed(validator.failuresOf(json));
      const [first] = failures;
      if (first === undefined) return { text };
      const { where, keyword } = failures.find((failure) => !WRAPPERS.has(failure.keyword)) ?? first;
      return { why: `/${toPointer(where)}: ${keyword}` };
    },
  };
}

function preparedOrThrow(schema: JsonObject): PreparedSchema {
  // Elsewhere a schema without a type stands for an object.
  const prepared = prepareSchema(schema.type === undefined ? { ...schema, type: ANY_TYPE } : schema);
  if (!("broken" in prepared)) return prepared;
  const { pointer, message } = prepared.broken;
  throw new Error(`schema${pointer === "" ? "" : ` ${pointer}`}: ${message}`);
}
