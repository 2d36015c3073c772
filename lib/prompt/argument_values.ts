import { isRecord } from "../core/json.ts";
import { RenderError } from "./render_error.ts";

/**
 * The values of these variables, in their order. A variable has to be an own property of the arguments: one that is
 * inherited, or undefined, is missing (prompts.md 2).
 *
 * @throws {RenderError} when the arguments are no object, or naming every variable that is missing.
 */
export function argumentValues(args: unknown, vars: readonly string[]): unknown[] {
  if (!isRecord(args)) throw new RenderError("arguments must be an object");
  const values: unknown[] = [];
  let isComplete = true;
  for (const name of vars) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined) isComplete = false;
    values.push(value);
  }
  if (isComplete) return values;
  const missing = vars.filter((_name, index) => values[index] === undefined);
  throw new RenderError(`missing variables: ${missing.join(", ")}`);
}
