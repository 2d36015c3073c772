import { isStandardSchema, type JsonSchema, type Schema, type StandardSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { defineError, ParseError } from "../core/prompt_error.ts";
import { shown } from "../schema/issue.ts";
import { checkValue, issueLines } from "./check_value.ts";
import { prepareAnyType } from "./prepare_any_type.ts";
import { replyJson } from "./contract.ts";

export { checkValue } from "./check_value.ts";
export { issueLines } from "./check_value.ts";

/** What a reply has to be when a prompt has a `format`. */
export interface FormatContract {
  /** For the provider; absent when the schema has no form as a JSON Schema. */
  readonly schema?: JsonSchema;
  /** It is a Standard Schema, which can be more than what its JSON Schema says. */
  readonly isStandard: boolean;
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
    ...(schema === undefined ? {} : { schema }),
    isStandard: isStandardSchema(format),
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
