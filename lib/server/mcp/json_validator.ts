import type { jsonSchemaValidator } from "@modelcontextprotocol/server";
import { issuesText } from "../../schema/validate.ts";
import { validateInput } from "../../schema/validate.ts";

/** Checks values as everything else here does, without a second validator. */
export const jsonValidator: jsonSchemaValidator = {
  getValidator<Value>(schema: object) {
    return (input: unknown) => {
      const checked = validateInput({ ...schema }, input);
      const problem = checked instanceof Promise
        ? "cannot be checked"
        : checked.ok
        ? undefined
        : issuesText(checked.issues);
      return fits<Value>(input, problem)
        ? { valid: true, data: input, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problem ?? "" };
    };
  },
};

function fits<Value>(_input: unknown, problem: string | undefined): _input is Value {
  return problem === undefined;
}
