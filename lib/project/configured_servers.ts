import { type McpFile, type McpJson, readMcpJson, yamlServers } from "../catalog/mcp/config.ts";
import { mcpServers } from "../catalog/mcp/servers.ts";
import type { BrokenMcpServer, McpServer } from "../core/core.ts";
import { join } from "node:path";
import { hostEnv } from "../host/process.ts";
import { hostFiles } from "../host/files/files.ts";
import { configFolder } from "../host/paths.ts";
import type { ProjectSettings } from "./project.ts";

/** Who says which MCP servers there are: the user's own settings, and those of the project where they count. */
export function serverFiles(
  { root, cwd, config }: ProjectSettings,
  { mcpJson, projectAccepted }: { readonly mcpJson: McpJson | undefined; readonly projectAccepted: boolean },
): readonly McpFile[] {
  const disk = hostFiles({ root });
  return [
    yamlServers(join(configFolder() ?? root, "config.yaml"), config.mcpServers, { disk, cwd }),
    yamlServers(join(root, "orrery.yaml"), projectAccepted ? config.project.mcpServers : {}, { disk, cwd }),
    ...(mcpJson === undefined || !projectAccepted ? [] : [mcpJson]),
  ];
}

/** Every MCP server that the user's own settings and the project have, as it is now, whether it counts or not; none is started. */
export async function configuredServers(
  project: ProjectSettings,
): Promise<readonly (McpServer | BrokenMcpServer)[]> {
  const { root, cwd } = project;
  const mcpJson = await readMcpJson(root, { disk: hostFiles({ root }), cwd });
  const files = serverFiles(project, { mcpJson, projectAccepted: true });
  return await mcpServers(files, { variable: hostEnv, notice: () => undefined });
}
