import type { LanguageModelV4ProviderTool } from "@ai-sdk/provider";
import type { JsonObject } from "../core/json.ts";
import type { ModelRequest } from "../core/model.ts";
import type { HostedServer, HostedTools } from "./hosted_tools.ts";
import { configError } from "./model_config_error.ts";

/** What of a request the provider runs itself. */
export interface HostedRequest {
  readonly tools: readonly LanguageModelV4ProviderTool[];
  readonly options: JsonObject;
  /** Its calls are ours to do: the tool of this name is the provider's own. */
  readonly computer?: string;
}

const NOTHING: HostedRequest = { tools: [], options: {} };

/** Maps `providerTools` to the provider's own. @throws {ModelError} `config`, for what the model cannot be given: before it is asked */
export function hostedRequest(
  { providerTools = [], tools = [] }: ModelRequest,
  { model, hosted }: { readonly model: string; readonly hosted: HostedTools },
): HostedRequest {
  if (providerTools.length === 0) return NOTHING;
  const wrong = (what: string): Error => configError(`${model}: ${what}`);
  const names = tools.map(({ name }) => name);
  const found = providerTools.filter(({ type }) => type !== "mcp").map((tool) => {
    if (tool.type === "web_search" && hosted.webSearch !== undefined) return hosted.webSearch;
    if (tool.type === "computer_use" && hosted.computer !== undefined) {
      return hosted.computer(displayOf(tool));
    }
    throw wrong(`addon "${ADDON[String(tool.type)] ?? tool.type}" is not supported by the model`);
  });
  const servers = serversOf(providerTools, { hosted, wrong });
  const computer = found.find(({ id }) => id.includes(".computer"))?.name;
  if (hosted.areAlone && names.length > 0) {
    throw wrong("it takes either tools or the addon webSearch, not both: use a newer model, or two prompts");
  }
  if (computer !== undefined && !names.includes(computer)) {
    throw wrong(`addon "computerUse" needs a tool named "${computer}" that does what the model asks of it`);
  }
  const twice = found.find(({ name }) => name !== computer && names.includes(name));
  if (hosted.areNamed && twice !== undefined) {
    throw wrong(
      `the tool "${twice.name}" has the name of the provider's own: rename it, or leave the addon out`,
    );
  }
  return {
    tools: [...found, ...servers.tools],
    options: servers.options,
    computer,
  };
}

const ADDON: Readonly<Record<string, string>> = { web_search: "webSearch", computer_use: "computerUse" };

function displayOf({ displayWidth, displayHeight }: JsonObject) {
  return { displayWidth: Number(displayWidth), displayHeight: Number(displayHeight) };
}

function serversOf(
  providerTools: readonly JsonObject[],
  { hosted, wrong }: { readonly hosted: HostedTools; readonly wrong: (what: string) => Error },
): Omit<HostedRequest, "computer"> {
  const servers = providerTools.filter(({ type }) => type === "mcp").map((server) => serverOf(server, wrong));
  if (servers.length === 0) return NOTHING;
  if (hosted.servers !== undefined) return hosted.servers(servers);
  throw wrong(`mcp servers are not supported by the model${INSTEAD}`);
}

const INSTEAD = `: name their tools in "tools" instead (mcpServers in orrery.yaml)`;

function serverOf(server: JsonObject, wrong: (what: string) => Error): HostedServer {
  const { label, url, approval, allowedTools } = server;
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
    ...(Array.isArray(allowedTools) && { allowedTools: allowedTools.map(String) }),
  };
}
