// MCP on standard input and output, for one client that has started this process.

import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Service } from "../../service/service.ts";
import { CatalogWatch } from "./catalog_watch.ts";
import { mcpServer, tellChanged } from "./mcp_server.ts";

/** What is needed besides. */
export interface McpStdioOptions {
  /** Takes what goes wrong, a line or more. */
  readonly tell: (text: string) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Answers until the client closes its end. */
export async function serveMcpStdio(service: Service, { tell, signal }: McpStdioOptions): Promise<void> {
  const watch = new CatalogWatch();
  const ended = Promise.withResolvers<void>();
  const transport = new StdioServerTransport();
  const served = serveStdio(({ era }) => {
    const server = mcpServer({ service, watch, tell, canAsk: era === "legacy" });
    server.onclose = watch.onChange(() => tellChanged(server));
    return server;
  }, { transport, onerror: ({ message }) => tell(`MCP: ${message}\n`) });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  const stop = (): void => ended.resolve();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  await ended.promise;
  signal.removeEventListener("abort", stop);
  await served.close();
}
