// MCP servers for tests: how one on stdio is started, and a connection to it.
import { fileURLToPath } from "node:url";
import { mcpNamePart, type McpServer } from "../lib/core/mcp_server.ts";
import { hostPipes } from "../lib/host/commands/pipe_process.ts";
import { connectMcp, type ConnectMcpOptions, type McpConnection } from "../lib/mcp/connect.ts";

/** The script of the test server. */
export const SERVER_SCRIPT = fileURLToPath(new URL("./_mcp_server.ts", import.meta.url));

/** The arguments that start the test server; a file at the end gets a line for everything that it is told. */
export function serverArgs(scenario: string, ...rest: readonly string[]): readonly string[] {
  return ["run", "-A", "--no-config", "--no-lock", SERVER_SCRIPT, scenario, ...rest];
}

/** The test server as it would be configured. */
export function stdioServer(
  scenario: string,
  { env = {}, name = "test", log }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly name?: string;
    readonly log?: string;
  } = {},
): McpServer {
  const args = serverArgs(scenario, ...(log === undefined ? [] : [log]));
  const endpoint = { kind: "stdio", command: Deno.execPath(), args, env } as const;
  return { name, part: mcpNamePart(name), file: ".mcp.json", written: endpoint, endpoint, variables: [] };
}

/** A server over HTTP as it would be configured. */
export function httpServer(url: string, headers: Readonly<Record<string, string>> = {}): McpServer {
  const endpoint = { kind: "http", url, headers } as const;
  return { name: "web", part: "web", file: ".mcp.json", written: endpoint, endpoint, variables: [] };
}

/** Connects to a server with the machine's own processes. */
export function connect(server: McpServer, options: Partial<ConnectMcpOptions> = {}): Promise<McpConnection> {
  return connectMcp(server, {
    cwd: Deno.cwd(),
    pipes: hostPipes(),
    fetch: () => Promise.reject(new Error("this test has no network")),
    ...options,
  });
}

/** What a promise is rejected with, as text. */
export async function messageFrom(work: Promise<unknown>): Promise<string> {
  try {
    const value = await work;
    throw new TypeError(`expected an error, got ${JSON.stringify(value)}`);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether a process is there; a zombie, which waits for its parent to look, is not. */
export async function isAlive(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  return /^[^Z\s]/.test(new TextDecoder().decode(stdout));
}
