import { frozenCopy, isRecord } from "../core/core.ts";
import type { FieldPath } from "../parse/yaml/front_matter.ts";
import { isTexts } from "../parse/yaml/check_fields.ts";
import { shown } from "../schema/issue.ts";
import { promptProblem, type Refuse, refuseUnknownKeys } from "./prompt_problem.ts";

/** A server of tools that the model's provider calls by itself (prompts.md 5). */
export type Mcp = McpBase & (McpAtUrl | McpByCommand);

interface McpBase {
  /** What it is called; no two of a prompt are called the same. */
  readonly label: string;
  /** Who is asked before a tool is called. Default: `never`, nobody; `auto` is the same, since a provider asks nobody. */
  readonly approval?: "never" | "manual" | "auto";
  /** Default: all of its tools. */
  readonly allowedTools?: readonly string[];
}

interface McpAtUrl {
  readonly url: string;
  readonly command?: undefined;
  readonly args?: undefined;
}

interface McpByCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly url?: undefined;
}

const KEYS: readonly string[] = ["label", "url", "command", "args", "approval", "allowedTools"];
const APPROVALS: readonly unknown[] = [undefined, "never", "manual", "auto"];

/** The MCP servers of a prompt, checked and frozen. */
export function mcpServers(value: unknown, path: string, refuse: Refuse): readonly Mcp[] {
  if (!Array.isArray(value)) {
    refuse(["mcp"], promptProblem(path, `mcp must be a list, found ${shown(value)}`));
    return [];
  }
  const labels = new Set<unknown>();
  const servers = value.map((given: unknown, index) => {
    const server = isRecord(given) ? withoutUndefined(given) : {};
    const at = ["mcp", index];
    const { label } = server;
    if (!isName(label)) {
      refuse(at, promptProblem(path, `mcp[${index}]: label is required, a text that is not empty`));
    } else if (labels.has(label)) {
      refuse(at, promptProblem(path, `duplicate mcp label ${JSON.stringify(label)}`));
    }
    labels.add(label);
    if (isRecord(given)) {
      const where = isName(label) ? `mcp ${JSON.stringify(label)}: ` : `mcp[${index}]: `;
      checkServer(server, { path, where, at, refuse });
    }
    return frozenCopy(server);
  });
  return Object.freeze(servers as readonly unknown[] as readonly Mcp[]); // each has just been checked
}

function withoutUndefined(server: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(server).filter(([, value]) => value !== undefined));
}

function checkServer(
  server: Readonly<Record<string, unknown>>,
  options: { readonly path: string; readonly where: string; readonly at: FieldPath; readonly refuse: Refuse },
): void {
  const { path, where, at, refuse } = options;
  const wrong = (key: string, message: string) =>
    refuse(key === "" ? at : [...at, key], promptProblem(path, where + message));
  refuseUnknownKeys(server, KEYS, options);
  const { url, command, args, approval, allowedTools } = server;
  if (!APPROVALS.includes(approval)) {
    wrong("approval", `approval must be never, manual or auto, found ${shown(approval)}`);
  }
  for (const [key, each] of Object.entries({ url, command })) {
    if (each !== undefined && !isName(each)) wrong(key, "url and command are text");
  }
  if (args !== undefined && !isTexts(args)) wrong("args", "args must be a list of texts");
  else if (args !== undefined && command === undefined) wrong("args", "args go with a command");
  if (allowedTools !== undefined && !isTexts(allowedTools)) {
    wrong("allowedTools", "allowedTools must be a list of names");
  } else if (allowedTools?.length === 0) {
    wrong("allowedTools", "allowedTools is empty: leave it out to allow all");
  }
  // What is not given may be what an unknown key was meant to be.
  const isMisspelt = Object.keys(server).some((key) => !KEYS.includes(key));
  const isNeither = url === undefined && command === undefined && args === undefined && !isMisspelt;
  if (isNeither || url !== undefined && command !== undefined) wrong("", "give either url or command");
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
