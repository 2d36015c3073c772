import { isTexts } from "../parse/check_fields.ts";
import { frozenCopy } from "../core/frozen_copy.ts";
import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import { promptProblem } from "./prompt_problem.ts";
import { refuseUnknownKeys } from "./refuse_unknown_keys.ts";

/** A server of tools that the model's provider calls by itself (prompts.md 5). */
export type Mcp = McpBase & (McpAtUrl | McpByCommand);

interface McpBase {
  /** What it is called; no two of a prompt are called the same. */
  readonly label: string;
  /** Who is asked before a tool is called. Default: `never`, nobody. */
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

/** The MCP servers of a prompt, checked and frozen. @throws {PromptError} `define` */
export function mcpServers(value: unknown, path: string): readonly Mcp[] {
  if (!Array.isArray(value)) throw promptProblem(path, `mcp must be a list, found ${shown(value)}`);
  const labels = new Set<string>();
  const servers = value.map((server: unknown, index) => {
    const given = withoutUndefined(server);
    const label = isRecord(given) ? given.label : undefined;
    if (typeof label !== "string" || label === "") {
      throw promptProblem(path, `mcp[${index}]: label is required, a text that is not empty`);
    }
    if (labels.has(label)) throw promptProblem(path, `duplicate mcp label ${JSON.stringify(label)}`);
    labels.add(label);
    return checked(given, path, `mcp ${JSON.stringify(label)}: `);
  });
  return Object.freeze(servers);
}

function withoutUndefined(server: unknown): unknown {
  if (!isRecord(server)) return server;
  return Object.fromEntries(Object.entries(server).filter(([, value]) => value !== undefined));
}

function checked(server: unknown, path: string, where: string): Mcp {
  if (isServer(server, path, where)) return frozenCopy(server);
  throw promptProblem(path, `${where}give either url or command`);
}

function isServer(server: unknown, path: string, where: string): server is Mcp {
  if (!isRecord(server)) return false;
  refuseUnknownKeys(server, { known: KEYS, path, where });
  const { url, command, args, approval, allowedTools } = server;
  const wrong = !APPROVALS.includes(approval)
    ? `approval must be never, manual or auto, found ${shown(approval)}`
    : [url, command].some((each) => each !== undefined && !isName(each))
    ? "url and command are text"
    : args !== undefined && !isTexts(args)
    ? "args must be a list of texts"
    : args !== undefined && command === undefined
    ? "args go with a command"
    : allowedTools !== undefined && !isTexts(allowedTools)
    ? "allowedTools must be a list of names"
    : isTexts(allowedTools) && allowedTools.length === 0
    ? "allowedTools is empty: leave it out to allow all"
    : undefined;
  if (wrong !== undefined) throw promptProblem(path, `${where}${wrong}`);
  return (url === undefined) !== (command === undefined);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
