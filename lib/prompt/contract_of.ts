import type { JsonSchema, Schema } from "../core/gadget.ts";
import { formatContract } from "./format_contract.ts";
import type { ParseCtx } from "./parser.ts";
import type { AnyPrompt } from "./prompt_type.ts";

/** What an answer to a prompt has to be. */
export interface Contract {
  /** What the provider is told of it. */
  readonly request: { readonly json?: true; readonly schema?: JsonSchema };
  /** The value of an answer. @throws {ParseError} when it breaks the contract, and whatever else a parser of the user's throws. */
  parse(text: string, context: ParseCtx): unknown;
}

/** By the format: the prompts that a handler makes of one prompt have the same. */
const contracts = new WeakMap<Schema, Contract>();

/** The contract of a prompt: its parser, its format, or none (prompts.md 3). */
export function contractOf({ parser, format }: AnyPrompt): Contract {
  if (parser !== null) return { request: {}, parse: (text, context) => parser.parse(text, context) };
  return format === null ? ANY_TEXT : contractOfFormat(format);
}

const ANY_TEXT: Contract = { request: {}, parse: (raw) => ({ raw }) };

function contractOfFormat(format: Schema): Contract {
  const known = contracts.get(format);
  if (known !== undefined) return known;
  const { schema, parse } = formatContract(format);
  const contract: Contract = {
    request: { json: true, ...(schema === undefined ? {} : { schema }) },
    parse: (text) => parse(text),
  };
  contracts.set(format, contract);
  return contract;
}
