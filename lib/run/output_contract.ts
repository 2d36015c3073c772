import { type JsonSchema, jsonSchemaOf, type Schema } from "../core/gadget.ts";
import { type Json, toJson } from "../core/json.ts";
import { replyJson } from "../prompt/contract.ts";
import { issuesText, validateInput } from "../schema/validate.ts";

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
