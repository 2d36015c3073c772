import { isRecord, type Json, toJson } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { shown } from "../schema/issue.ts";
import { promptProblem } from "./prompt_problem.ts";

/** A field of a prompt that is a JSON object. @throws {PromptError} `define` */
export function jsonRecord(
  field: string,
  value: unknown,
  path: string,
): { readonly [key: string]: Json } {
  try {
    const json = toJson(value);
    if (isRecord(json)) return json;
  } catch (cause) {
    throw promptProblem(path, `${field} must be JSON: ${messageOf(cause).replace(/^not JSON: /, "")}`, {
      cause,
    });
  }
  throw promptProblem(path, `${field} must be an object, found ${shown(value)}`);
}
