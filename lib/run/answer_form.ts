// What the answer to a step of a conversation has to be: text, or JSON of a schema.

import { isJsonObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { answerContract } from "./answer_contract.ts";

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
  const contract = answerContract(schema);
  return {
    schema,
    read(text) {
      const checked = contract.check(text);
      if ("why" in checked) return checked;
      const value: Json = JSON.parse(checked.text);
      return { value };
    },
  };
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
