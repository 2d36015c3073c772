import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { RenderError } from "./render_error.ts";

/**
 * The values of these variables, in their order. A variable has to be an own property of the arguments: one that is
 * inherited, or undefined, is missing (prompts.md 2).
 *
 * @throws {RenderError} when the arguments are no object, naming a variable that cannot be read, or every one that is missing.
 */
export function argumentValues(args: unknown, vars: readonly string[]): unknown[] {
  if (!isRecord(args)) throw new RenderError("arguments must be an object");
  const values: unknown[] = [];
  let isComplete = true;
  for (const name of vars) {
    const value = valueOf(args, name);
    if (value === undefined) isComplete = false;
    values.push(value);
  }
  if (isComplete) return values;
  const missing = vars.filter((_name, index) => values[index] === undefined);
  throw new RenderError(`missing variables: ${missing.join(", ")}`);
}

function valueOf(args: Readonly<Record<string, unknown>>, name: string): unknown {
  try {
    return Object.hasOwn(args, name) ? args[name] : undefined;
  } catch (cause) {
    throw new RenderError(`{${name}}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}
