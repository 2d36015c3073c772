// Whoever has no types would else be told by the first turn, or by a TypeError from inside.

import { defineError } from "../core/prompt_error.ts";
import { isRecord } from "../core/json.ts";
import { foundValue } from "../schema/issue.ts";

/**
 * Sees that the options of `createAgent` are what its types say; `makeAgent` looks at the rest of them.
 *
 * @throws {PromptError} `define`
 */
export function assertAgentOptions(options: unknown): void {
  if (!isRecord(options)) {
    throw defineError(
      `createAgent takes an object such as { name, model, system }, found ${foundValue(options)}`,
    );
  }
  const { name, model, port, gadgets } = options;
  if (typeof name !== "string" || name === "") {
    throw defineError(`createAgent: name must be a string that is not empty, found ${foundValue(name)}`);
  }
  const problem = modelProblem(model) ?? portProblem(port, model) ?? gadgetsProblem(gadgets);
  if (problem !== undefined) throw defineError(`agent "${name}": ${problem}`);
}

function modelProblem(model: unknown): string | undefined {
  if (typeof model === "string" ? model !== "" : hasMethod(model, "stream")) return undefined;
  const what = isRecord(model) ? "an object without stream()" : foundValue(model);
  return `model must be a name such as "provider/model", or a model, found ${what}`;
}

function portProblem(port: unknown, model: unknown): string | undefined {
  if (port === undefined) return undefined;
  if (hasMethod(port, "call")) return typeof model === "string" ? undefined : TWO_WAYS;
  const what = isRecord(port) ? "an object without call()" : foundValue(port);
  return `port must be an object with a function call(request), found ${what}`;
}

const TWO_WAYS =
  "give either a model or a port: beside a port, model is the name that the port is asked for, found a model that would be asked itself";

function gadgetsProblem(gadgets: unknown): string | undefined {
  if (gadgets === undefined) return undefined;
  if (!Array.isArray(gadgets)) return `gadgets must be a list of gadgets, found ${foundValue(gadgets)}`;
  const index = gadgets.findIndex((gadget) => !isRecord(gadget) || typeof gadget.name !== "string");
  if (index === -1) return undefined;
  return `gadgets[${index}] must be a gadget, as defineGadget makes it, found ${foundValue(gadgets[index])}`;
}

function hasMethod(value: unknown, method: string): boolean {
  return isRecord(value) && typeof value[method] === "function";
}
