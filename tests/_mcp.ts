// MCP servers for tests: how the test server is started, and a folder whose catalogue has servers.
import { fileURLToPath } from "node:url";
import { type GadgetFolder, gadgetFolder } from "./_gadgets.ts";

/** The script of the test server. */
const SERVER_SCRIPT = fileURLToPath(new URL("./_mcp_server.ts", import.meta.url));

/** The arguments that start the test server; a file at the end gets a line for everything that it is told. */
export function serverArgs(scenario: string, ...rest: readonly string[]): readonly string[] {
  return ["run", "-A", "--no-config", "--no-lock", SERVER_SCRIPT, scenario, ...rest];
}

/** The test server as settings have it; it writes into the file `log` of the folder. */
export function testServer(
  scenario: string,
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, unknown>> {
  return { command: Deno.execPath(), args: serverArgs(scenario, "log"), env };
}

/** The gadgets of a folder with these servers in its `.mcp.json`, started as trusted ones unless `trust` says otherwise. */
export async function mcpFolder(
  servers: Readonly<Record<string, unknown>>,
  options: Parameters<typeof gadgetFolder>[0] = {},
): Promise<GadgetFolder> {
  const files = { ".mcp.json": JSON.stringify({ mcpServers: servers }), ...options.files };
  return await gadgetFolder({ trustProject: true, trust: Object.keys(servers), ...options, files });
}

/** Whether a process is there; a zombie, which waits for its parent to look, is not. */
export async function isAlive(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  return /^[^Z\s]/.test(new TextDecoder().decode(stdout));
}
