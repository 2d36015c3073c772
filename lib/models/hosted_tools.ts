// What providers run by themselves: searching the web, MCP servers; and a computer, whose actions are calls of ours. What their packages
// of the AI SDK have decides.

import { type JsonObject, type ModelId, modelIdText, type ModelRequest } from "../core/core.ts";
import { configError } from "./known_models.ts";
import type { Provider } from "./provider.ts";

/** An MCP server as a prompt names it, at an address. */
interface HostedServer {
  readonly label: string;
  readonly url: string;
  readonly allowedTools?: readonly string[];
}

/** A tool of a provider: the function of its package that makes it, and its arguments. */
interface HostedTool {
  readonly maker: string;
  /** What its calls are named where that is a name on the wire; else one that no function can have. */
  readonly name: string;
  readonly args?: JsonObject;
}

/** What a model of a provider can be given. */
export interface HostedTools {
  readonly webSearch?: HostedTool;
  readonly computer?: (
    screen: { readonly displayWidthPx: number; readonly displayHeightPx: number },
  ) => HostedTool;
  readonly servers?: (servers: readonly HostedServer[]) => HostedRequest;
  /** They cannot stand beside functions, nor beside a format of the answer. */
  readonly areAlone?: true;
}

/** What of a request the provider runs itself. */
export interface HostedRequest {
  readonly tools: readonly HostedTool[];
  readonly options: JsonObject;
  /** Its calls are ours to do: the tool of this name is the provider's own. */
  readonly computer?: string;
}

/** What a provider's model can be given. */
export function hostedTools({ type, settings }: Provider, model: string): HostedTools {
  switch (type) {
    case "openai":
      return settings.api === "chat" ? {} : OPENAI;
    case "anthropic":
      return { ...ANTHROPIC, computer: (screen) => anthropicComputer(model, screen) };
    case "google":
      return googleTools(model);
    case "xai":
      return XAI;
    case "mistral":
    case "groq":
    case "openai-compatible":
      return {};
    default:
      return type satisfies never;
  }
}

/** The addons of prompts.md 5 that these tools are. */
export function addonsOf({ webSearch, computer }: HostedTools): readonly string[] {
  return [
    ...(webSearch === undefined ? [] : ["webSearch"]),
    ...(computer === undefined ? [] : ["computerUse"]),
  ];
}

// Without a `computer`: each of its calls has to be answered with a screenshot and with the safety checks that somebody has looked at, and
// a result is text here.
const OPENAI: HostedTools = {
  webSearch: { maker: "webSearch", name: "openai.web_search" },
  servers: serverTools("mcp", { requireApproval: "never" }),
};

const XAI: HostedTools = {
  webSearch: { maker: "webSearch", name: "xai.web_search" },
  servers: serverTools("mcpServer", {}),
};

const ANTHROPIC: HostedTools = {
  webSearch: { maker: "webSearch_20250305", name: "web_search" },
  servers: (servers) => ({
    tools: [],
    options: {
      mcpServers: servers.map(({ label, url, allowedTools }) => ({
        type: "url",
        name: label,
        url,
        ...(allowedTools !== undefined && { toolConfiguration: { enabled: true, allowedTools } }),
      })),
    },
  }),
};

/** As the package's own documentation has it; the newest models have a set of tools, without a size. */
function anthropicComputer(model: string, screen: JsonObject): HostedTool {
  const name = "computer";
  if (/claude-(opus-4-[567]|sonnet-4-6)/.test(model)) {
    return { maker: "computer_20251124", name, args: screen };
  }
  return /claude-(3-|(sonnet|opus)-4(-[015]|-2\d{7}|$)|haiku-4)/.test(model)
    ? { maker: "computer_20250124", name, args: screen }
    : { maker: "computerToolset_20260801", name };
}

/** Searching came with Gemini 2, and beside functions with Gemini 3. */
function googleTools(model: string): HostedTools {
  const isFirst = /(^|\/)gemini-(1[.-]|pro(-vision)?$|robotics-er-1\.5)/i.test(model);
  if (isFirst || !/gemini-/i.test(model)) return {};
  const isSecond = /(^|\/)gemini-2[.-]/i.test(model);
  return { webSearch: { maker: "googleSearch", name: "google.search" }, ...(isSecond && { areAlone: true }) };
}

/** A tool for each server. */
function serverTools(maker: string, more: JsonObject): HostedTools["servers"] {
  return (servers) => ({
    tools: servers.map(({ label, url, allowedTools }) => ({
      maker,
      name: `mcp.${label}`,
      args: { serverLabel: label, serverUrl: url, ...more, ...(allowedTools && { allowedTools }) },
    })),
    options: {},
  });
}

/** Maps `providerTools` to the provider's own. @throws {ModelError} `config`, for what the model cannot be given: before it is asked */
export function hostedRequest(
  { providerTools = [], tools = [] }: ModelRequest,
  { id, hosted }: { readonly id: ModelId; readonly hosted: HostedTools },
): HostedRequest {
  if (providerTools.length === 0) return { tools: [], options: {} };
  const wrong = (what: string): Error => configError(`${modelIdText(id)}: ${what}`);
  const names = tools.map(({ name }) => name);
  const own: HostedTool[] = [];
  const servers: HostedServer[] = [];
  let computer: string | undefined;
  for (const tool of providerTools) {
    const { type, displayWidth, displayHeight } = tool;
    if (type === "mcp") servers.push(serverOf(tool, wrong));
    else if (type === "web_search" && hosted.webSearch !== undefined) own.push(hosted.webSearch);
    else if (type === "computer_use" && hosted.computer !== undefined) {
      const screen = { displayWidthPx: Number(displayWidth), displayHeightPx: Number(displayHeight) };
      own.push(hosted.computer(screen));
      computer = own.at(-1)?.name;
    } else throw wrong(`addon "${ADDON[String(type)] ?? type}" is not supported by the model`);
  }
  if (servers.length > 0 && hosted.servers === undefined) {
    throw wrong(`mcp servers are not supported by the model${INSTEAD}`);
  }
  if (hosted.areAlone && names.length > 0) {
    throw wrong("it takes either tools or the addon webSearch, not both: use a newer model, or two prompts");
  }
  if (computer !== undefined && !names.includes(computer)) {
    throw wrong(`addon "computerUse" needs a tool named "${computer}" that does what the model asks of it`);
  }
  const twice = own.find(({ name }) => name !== computer && names.includes(name));
  if (twice !== undefined) {
    throw wrong(
      `the tool "${twice.name}" has the name of the provider's own: rename it, or leave the addon out`,
    );
  }
  const connected = servers.length > 0 ? hosted.servers?.(servers) : undefined;
  return { tools: [...own, ...connected?.tools ?? []], options: connected?.options ?? {}, computer };
}

const ADDON: Readonly<Record<string, string>> = { web_search: "webSearch", computer_use: "computerUse" };
const INSTEAD = `: name their tools in "tools" instead (mcpServers in orrery.yaml)`;

function serverOf(
  { label, url, approval, allowedTools }: JsonObject,
  wrong: (what: string) => Error,
): HostedServer {
  if (typeof url !== "string") {
    throw wrong(`mcp "${label}" is started by a command, which its provider cannot do${INSTEAD}`);
  }
  if (approval === "manual") {
    throw wrong(
      `mcp "${label}": nobody can be asked before its provider calls a tool: use approval never or auto`,
    );
  }
  return {
    label: String(label),
    url,
    allowedTools: Array.isArray(allowedTools) ? allowedTools.map(String) : undefined,
  };
}
