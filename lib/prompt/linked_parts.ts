import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import type { PromptParts } from "./prompt_parts.ts";
import { promptProblem } from "./prompt_problem.ts";
import { toolName } from "./tool_list.ts";

/** The parts of a prompt with implementations for some of its gadgets (prompts.md 4). @throws {PromptError} `define` */
export function linkedParts(parts: PromptParts, implementations: unknown): PromptParts {
  const { path } = parts;
  if (!isRecord(implementations)) {
    throw promptProblem(path, `link takes an object of functions, found ${shown(implementations)}`);
  }
  const links = new Map(Object.entries(implementations));
  for (const [name, run] of links) checkLink(parts, name, run);
  const tools = parts.tools.map((tool) => {
    const run = links.get(toolName(tool));
    return typeof tool !== "string" && isFunction(run) ? tool.link(run) : tool;
  });
  return { ...parts, tools: Object.freeze(tools) };
}

function checkLink({ path, tools }: PromptParts, name: string, run: unknown): void {
  const cannot = `cannot link ${JSON.stringify(name)}: `;
  const tool = tools.find((tool) => toolName(tool) === name);
  if (tool === undefined) {
    const declared = tools.map(toolName).join(", ");
    throw promptProblem(path, `${cannot}not a declared tool (declared: ${declared || "none"})`);
  }
  if (typeof tool === "string") throw promptProblem(path, `${cannot}it is resolved in the catalogue`);
  if (!isFunction(run)) throw promptProblem(path, `${cannot}not a function`);
}

/** What it takes shows when it is called: its input has been checked by the gadget's schema then. */
function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}
