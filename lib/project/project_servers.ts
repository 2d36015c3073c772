// MCP servers as a project has them. On the path of every run: what works with them is loaded only where there are some.
import type { Config } from "../catalog/config.ts";
import type { McpFile, McpJson } from "../catalog/mcp_config.ts";
import type { ServerGadgets } from "../catalog/server_gadgets.ts";
import type { JsonObject } from "../core/json.ts";
import { join } from "../core/path.ts";
import { hostFiles } from "../host/files.ts";
import { configFolder } from "../host/paths.ts";
import type { McpGadgetsOptions } from "./mcp_gadgets.ts";
import type { ProjectSettings } from "./project.ts";

/** The project's `.mcp.json`; the code that reads it is loaded when there is one. */
export async function maybeMcpJson({ root, cwd }: ProjectSettings): Promise<McpJson | undefined> {
  const disk = hostFiles({ root });
  const isThere = await disk.stat(join(root, ".mcp.json")).then(() => true, () => false);
  if (!isThere) return undefined;
  const { readMcpJson }: typeof import("../catalog/mcp_config.ts") = await import(
    "../catalog/mcp_config.ts" as string
  );
  return await readMcpJson(root, { disk, cwd });
}

/** What `.mcp.json` says is one of the parts that have to be accepted. */
export function withMcpJson(config: Config, mcpJson: McpJson | undefined): Config {
  if (mcpJson === undefined) return config;
  const parts: JsonObject = { ...config.project.parts, ".mcp.json": mcpJson.words };
  return { ...config, project: { ...config.project, parts } };
}

/** Which servers there are, and what they are opened with. */
export interface ServersOptions extends Omit<McpGadgetsOptions, "root" | "cwd"> {
  readonly mcpJson: McpJson | undefined;
  readonly projectAccepted: boolean;
}

/** The MCP servers that count, the user's own before those of the project; undefined without any, and then nothing is loaded for them. */
export async function maybeServers(
  { root, cwd, config }: ProjectSettings,
  { mcpJson, projectAccepted, ...options }: ServersOptions,
): Promise<ServerGadgets | undefined> {
  const own = config.mcpServers;
  const theirs = projectAccepted ? config.project.mcpServers : {};
  const hasYaml = Object.keys({ ...own, ...theirs }).length > 0;
  if (!hasYaml && (mcpJson === undefined || !projectAccepted)) return undefined;
  const { yamlServers }: typeof import("../catalog/mcp_config.ts") = await import(
    "../catalog/mcp_config.ts" as string
  );
  const disk = hostFiles({ root });
  const files: readonly McpFile[] = [
    yamlServers(join(configFolder() ?? root, "config.yaml"), own, { disk, cwd }),
    yamlServers(join(root, "orrery.yaml"), theirs, { disk, cwd }),
    ...(mcpJson === undefined || !projectAccepted ? [] : [mcpJson]),
  ];
  const { mcpGadgets }: typeof import("./mcp_gadgets.ts") = await import("./mcp_gadgets.ts" as string);
  return await mcpGadgets(files, { root, cwd, ...options });
}
