// What the answer to a step of a conversation has to be: text, or JSON of a schema.
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  jsonSchemaOf,
  type Schema,
  toJson,
} from "../../core/core.ts";
import { replyJson } from "../../prompt/contract.ts";
import { placed, WRAPPERS } from "../../schema/failure.ts";
import { toPointer } from "../../schema/issue.ts";
import { JsonValidator } from "../../schema/json_validator.ts";
import { type PreparedSchema, prepareSchema } from "../../schema/prepare_schema.ts";
import { issuesText, validateInput } from "../../schema/validate.ts";

/** What a contract says of an answer. */
export type ContractResult =
  | { readonly ok: true; readonly value: Json }
  /** `error` is for the model: what is wrong and what is wanted. */
  | { readonly ok: false; readonly error: string };

/** What the last answer of a turn has to be. */
export interface OutputContract {
  /** Told to the model, where the provider can hold it to that, and in the system text where there are blocks. */
  readonly schema?: JsonSchema;
  check(text: string): ContractResult | Promise<ContractResult>;
}

/**
 * The contract of a schema: the answer is JSON that fits it, bare or in one code fence.
 *
 * ```ts
 * import { schemaContract } from "orrery";
 *
 * const contract = schemaContract({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
 * console.log(await contract.check('{"n": 3}')); // => { ok: true, value: { n: 3 } }
 * ```
 */
export function schemaContract(schema: Schema): OutputContract {
  const json = jsonSchemaOf(schema);
  return {
    schema: json,
    async check(text) {
      const read = replyJson(text);
      if ("problem" in read) {
        const what = read.isNumber ? "cannot be read" : "is not JSON";
        return { ok: false, error: `The answer ${what}: ${read.problem}. Answer with the JSON value alone.` };
      }
      const checked = await validateInput(schema, read.json);
      return checked.ok
        ? { ok: true, value: toJson(checked.value) }
        : { ok: false, error: `The answer does not fit its schema:\n${issuesText(checked.issues)}` };
    },
  };
}

const ANY_TYPE = ["object", "array", "string", "number", "boolean", "null"];

/** What an answer has to be. */
export interface AnswerContract {
  /** The JSON of an answer, and its text; or why it is none: `it is not JSON`, `/items/0: type`. */
  check(answer: string): { readonly value: Json; readonly text: string } | { readonly why: string };
}

/**
 * The contract of an @llm with a `schema` (documents.md 7.10): the answer, out of one enclosing fence, is JSON that fits it.
 *
 * @throws {Error} for a schema that cannot be used; the message has the JSON pointer into it
 */
export function answerContract(schema: JsonObject): AnswerContract {
  const prepared = preparedOrThrow(schema);
  return {
    check(answer) {
      const read = replyJson(answer);
      if ("problem" in read) return { why: read.isNumber ? read.problem : "it is not JSON" };
      const { text, json } = read;
      const validator = new JsonValidator(prepared, { size: text.length });
      const failures = placed(validator.failuresOf(json));
      const [first] = failures;
      if (first === undefined) return { value: json, text };
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

/** What an answer has to be. */
export interface AnswerForm<Value> {
  /** Absent: text. */
  readonly schema?: JsonObject;
  /** What the answer means, or why it is no answer, for the model: `it is not JSON`. */
  read(text: string): { readonly value: Value } | { readonly why: string };
}

/** Any text is an answer. */
export const textForm: AnswerForm<string> = { read: (text) => ({ value: text }) };

/** JSON that fits the schema. @throws {Error} for a schema that cannot be used; the message has the JSON pointer into it */
export function schemaForm(schema: JsonObject): AnswerForm<Json> {
  return { schema, read: answerContract(schema).check };
}

/** A JSON object; the schema is for the model, and `read` says what fits. */
export function objectForm<Value>(
  schema: JsonObject,
  read: (answer: JsonObject) => ReturnType<AnswerForm<Value>["read"]>,
): AnswerForm<Value> {
  return {
    schema,
    read(text) {
      const any = ANY_OBJECT.read(text);
      if ("why" in any) return any;
      return isJsonObject(any.value) ? read(any.value) : { why: "it is not a JSON object" };
    },
  };
}

const ANY_OBJECT = schemaForm({ type: "object" });
