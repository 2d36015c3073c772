import type { McpServerSettings } from "../core/mcp_settings.ts";
import type { SourceError } from "../core/source_error.ts";
import { problemAt } from "./config_problem.ts";
import type { ConfigFile } from "./config_table.ts";
import type { McpServers } from "./config.ts";
import type { ConfigLayers } from "./merge_config.ts";
import type { WrittenConfig } from "./read_config.ts";

type WrittenServers = NonNullable<ConfigFile["mcpServers"]>;

/** What is wrong with the servers of both files: each is a command or an address, never both. */
export function mcpProblems({ project, user }: ConfigLayers): readonly SourceError[] {
  return [...problemsOf(project), ...problemsOf(user)];
}

function problemsOf(layer: WrittenConfig): readonly SourceError[] {
  return Object.entries(layer.values.mcpServers ?? {}).flatMap(([name, server]) => {
    const say = wrongWith(server);
    return say === undefined ? [] : [problemAt(layer, ["mcpServers", name], { ...say, what: "key" })];
  });
}

function wrongWith({ command, url, args, env, headers }: WrittenServers[string]) {
  if (command === undefined && url === undefined) {
    return {
      message: "Found a server without command and url, expected one of them",
      hint: "A program on stdio has a command, a server over HTTP a url.",
    };
  }
  if (command !== undefined && (url ?? headers) !== undefined) {
    return {
      message: `Found a server with command and ${url === undefined ? "headers" : "url"}, expected one kind`,
    };
  }
  if (url !== undefined && (args ?? env) !== undefined) {
    return {
      message: `Found a server with url and ${args === undefined ? "env" : "args"}, expected one kind`,
    };
  }
  return undefined;
}

/** The servers as the rest of Orrery knows them. */
export function mcpServersOf(written: WrittenServers = {}): McpServers {
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, { command, args, env, url, headers }]) => {
      const server: McpServerSettings | undefined = command !== undefined
        ? { command, args, env }
        : url !== undefined
        ? { url, headers }
        : undefined;
      return server === undefined ? [] : [[name, server]];
    }),
  );
}
