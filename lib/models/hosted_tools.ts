// What providers run by themselves: searching the web, MCP servers; and a computer, whose actions are calls of ours. What their packages
// of the AI SDK have decides.

import type { LanguageModelV4ProviderTool } from "@ai-sdk/provider";
import type { JsonObject } from "../core/core.ts";
import type { Provider } from "./provider.ts";

/** An MCP server as a prompt names it, at an address. */
export interface HostedServer {
  readonly label: string;
  readonly url: string;
  readonly allowedTools?: readonly string[];
}

/** The size of a computer's screen, in pixels. */
export interface HostedDisplay {
  readonly displayWidth: number;
  readonly displayHeight: number;
}

/** What a model of a provider can be given. */
export interface HostedTools {
  readonly webSearch?: LanguageModelV4ProviderTool;
  readonly computer?: (display: HostedDisplay) => LanguageModelV4ProviderTool;
  readonly servers?: (servers: readonly HostedServer[]) => HostedServers;
  /** Their names are names of tools on the wire too. */
  readonly areNamed?: true;
  /** They cannot stand beside functions, nor beside a format of the answer. */
  readonly areAlone?: true;
}

/** How MCP servers are sent. */
export interface HostedServers {
  readonly tools: readonly LanguageModelV4ProviderTool[];
  readonly options: JsonObject;
}

/** What a provider's model can be given. */
export function hostedTools({ type, settings }: Provider, model: string): HostedTools {
  switch (type) {
    case "openai":
      return settings.api === "chat" ? {} : OPENAI;
    case "anthropic":
      return { ...ANTHROPIC, computer: (display) => anthropicComputer(model, display) };
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
  webSearch: providerTool("openai.web_search"),
  servers: serverTools("openai.mcp", { requireApproval: "never" }),
};

const XAI: HostedTools = {
  webSearch: providerTool("xai.web_search"),
  servers: serverTools("xai.mcp", {}),
};

const ANTHROPIC: HostedTools = {
  webSearch: providerTool("anthropic.web_search_20250305", "web_search"),
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
  areNamed: true,
};

/** As the package's own documentation has it. */
const COMPUTERS: readonly (readonly [model: RegExp, tool: `anthropic.${string}`])[] = [
  [/claude-(opus-4-[567]|sonnet-4-6)/, "anthropic.computer_20251124"],
  [/claude-(3-|(sonnet|opus)-4(-[015]|-2\d{7}|$)|haiku-4)/, "anthropic.computer_20250124"],
];

/** The newest models have a set of tools, without a size. */
function anthropicComputer(model: string, display: HostedDisplay): LanguageModelV4ProviderTool {
  const id = COMPUTERS.find(([models]) => models.test(model))?.[1];
  if (id === undefined) return providerTool("anthropic.computer_toolset_20260801", "computer");
  const { displayWidth, displayHeight } = display;
  return {
    ...providerTool(id, "computer"),
    args: { displayWidthPx: displayWidth, displayHeightPx: displayHeight },
  };
}

/** Searching came with Gemini 2, and beside functions with Gemini 3. */
function googleTools(model: string): HostedTools {
  const isFirst = /(^|\/)gemini-(1[.-]|pro(-vision)?$|robotics-er-1\.5)/i.test(model);
  if (isFirst || !/gemini-/i.test(model)) return {};
  const isSecond = /(^|\/)gemini-2[.-]/i.test(model);
  return { webSearch: providerTool("google.google_search"), ...(isSecond && { areAlone: true }) };
}

function providerTool(
  id: LanguageModelV4ProviderTool["id"],
  name: string = id.slice(id.indexOf(".") + 1),
): LanguageModelV4ProviderTool {
  return { type: "provider", id, name, args: {} };
}

/** A tool for each server. */
function serverTools(id: LanguageModelV4ProviderTool["id"], more: JsonObject): HostedTools["servers"] {
  return (servers) => ({
    tools: servers.map(({ label, url, allowedTools }) => ({
      ...providerTool(id, `mcp_${label}`),
      args: { serverLabel: label, serverUrl: url, ...more, allowedTools },
    })),
    options: {},
  });
}
