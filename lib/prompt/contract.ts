import {
  defineError,
  isRecord,
  isStandardSchema,
  type Json,
  type JsonSchema,
  messageOf,
  ParseError,
  parseJson,
  type Schema,
  type StandardSchema,
} from "../core/core.ts";
import { shown } from "../schema/issue.ts";
import { checkValue, issueLines, prepareAnyType } from "./check_value.ts";
import type { AnyPrompt, ParseCtx } from "./prompt.ts";

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

/** The JSON of an answer, and its text without what stood around it; or why there is none, in words and in those of documents. */
type ReplyJson =
  | { readonly json: Json; readonly text: string }
  | { readonly problem: string; readonly isNumber: boolean };

/**
 * Reads the JSON value that an answer of a model is, which may be in one code fence; blanks of all kinds and a byte order mark around it
 * do not count. It is the one reader of them: prompts, documents, conversations and `ask` take the same answers.
 */
export function replyJson(answer: string): ReplyJson {
  const text = unfenced(answer.trim()).trim();
  try {
    return { json: parseJson(text), text };
  } catch (error) {
    return { problem: messageOf(error), isNumber: error instanceof RangeError };
  }
}

/** The inside of a fence around everything; a word behind the opening run, and the rest of its line with it, are not of the value. */
function unfenced(text: string): string {
  const [fence = ""] = /^(?:`{3,}|~{3,})/.exec(text) ?? [];
  const [close = ""] = /(?:`{3,}|~{3,})$/.exec(text) ?? [];
  const end = text.length - close.length;
  if (fence === "" || end < fence.length || !close.startsWith(fence)) return text;
  const inside = text.slice(fence.length, end);
  const word = /^[ \t]*[\p{L}_][^\s`~]*/u.exec(inside)?.[0] ?? "";
  const lineEnd = word === "" ? -1 : inside.indexOf("\n");
  return lineEnd < 0 ? inside.slice(word.length) : inside.slice(lineEnd);
}

/** What a reply has to be when a prompt has a `format`. */
interface FormatContract {
  /** For the provider; absent when the schema has no form as a JSON Schema. */
  readonly schema?: JsonSchema;
  /** The value of a reply, defaults filled in. @throws {ParseError} when the reply breaks the contract. */
  parse(text: string): Promise<unknown>;
}

/**
 * The contract of a `format` (prompts.md 3): a reply is JSON that fits it, bare or in one code fence.
 *
 * @throws {PromptError} `define` when it is no schema, or a JSON Schema that cannot be used; the message does not name the prompt.
 */
export function formatContract(format: Schema): FormatContract {
  const schema = isStandardSchema(format) ? offeredSchema(format) : usable(format);
  return {
    schema,
    async parse(text) {
      const read = replyJson(text);
      if ("problem" in read) throw new ParseError(`Output is not valid JSON: ${read.problem}`);
      const checked = await checkValue(format, read.json);
      if ("value" in checked) return checked.value;
      throw new ParseError(
        `Output does not match the schema:\n${issueLines(checked.issues)}`,
        checked.issues,
      );
    },
  };
}

/** What has to be written: the schema of what goes in, not of what it is made to. */
function offeredSchema(schema: StandardSchema): JsonSchema | undefined {
  try {
    return schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // it has types that no JSON Schema can say, such as dates
  }
}

function usable(schema: unknown): JsonSchema {
  if (!isRecord(schema)) {
    throw defineError(`format must be a JSON Schema or a Standard Schema, found ${shown(schema)}`);
  }
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) throw defineError(`the JSON Schema of format is broken${prepared.broken}`);
  return schema;
}
