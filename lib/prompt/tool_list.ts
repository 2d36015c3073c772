import { type DefinedGadget, isDefinedGadget, messageOf } from "../core/core.ts";
import { checkGadget, definedGadget } from "../schema/define_gadget.ts";
import { shown } from "../schema/issue.ts";
import { orRefuse, promptProblem, type Refuse } from "./prompt_problem.ts";

/** The tools of a prompt: gadgets that `defineGadget` made by reference, plain ones defined, names. */
export function toolList(value: unknown, path: string, refuse: Refuse): readonly (DefinedGadget | string)[] {
  if (!Array.isArray(value)) {
    refuse(["tools"], promptProblem(path, `tools must be a list, found ${shown(value)}`));
    return [];
  }
  const names = new Set<string>();
  const tools = value.flatMap((given: unknown, index) => {
    const tool = orRefuse(refuse, ["tools", index], () => readTool(given, path, index));
    if (tool === undefined) return [];
    const name = toolName(tool);
    if (names.has(name)) {
      refuse(["tools", index], promptProblem(path, `duplicate tool ${JSON.stringify(name)}`));
    }
    names.add(name);
    return [tool];
  });
  return Object.freeze(tools);
}

/** What a tool is called. */
export function toolName(tool: { readonly name: string } | string): string {
  return typeof tool === "string" ? tool : tool.name;
}

function readTool(value: unknown, path: string, index: number): DefinedGadget | string {
  if (typeof value === "string" && value !== "") return value;
  if (typeof value !== "object" || value === null) {
    const found = typeof value === "function" ? "a function" : shown(value);
    throw promptProblem(path, `tools[${index}]: found ${found}, expected a gadget or the name of one`);
  }
  try {
    checkGadget(value, "");
    return isDefinedGadget(value) ? value : definedGadget(value);
  } catch (cause) {
    const problems = messageOf(cause).replaceAll(/^: /gm, "").replaceAll("\n", "; ");
    throw promptProblem(path, `tools[${index}]: ${problems}`, { cause });
  }
}
