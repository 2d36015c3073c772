import type { AnyGadget, Gadget } from "../core/gadget.ts";
import type { McpServer } from "../core/mcp_server.ts";
import type { Permissions } from "../core/world.ts";
import { checkGadget } from "../schema/check_gadget.ts";
import type { McpConnection, McpTool } from "./connect.ts";
import { toolResult } from "./tool_result.ts";

/**
 * A tool as a gadget. Its output is foreign text; whether it may run again after a crash is the server's word.
 *
 * @throws {TypeError} when the tool's schema cannot be the input of a gadget
 */
export function toolGadget(
  tool: McpTool,
  { name, server, connection }: {
    readonly name: string;
    readonly server: McpServer;
    readonly connection: McpConnection;
  },
): AnyGadget {
  const { annotations } = tool;
  const gadget: Gadget<Readonly<Record<string, unknown>>> = {
    name,
    description: tool.description ?? tool.title ?? annotations?.title ?? "",
    input: { type: "object", ...tool.inputSchema },
    permissions: permissionsOf(server),
    untrusted: true,
    idempotent: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
    async run(input, { signal, progress }) {
      const onProgress = (done: number, total?: number) => progress(done, total);
      return toolResult(await connection.call(tool.name, input, { signal, onProgress }));
    },
  };
  return checkGadget(gadget, `MCP server ${JSON.stringify(server.name)}, tool ${JSON.stringify(tool.name)}`);
}

/** What its server is, since that is what a call of it uses. */
function permissionsOf({ written, endpoint }: McpServer): Permissions {
  if (written.kind === "stdio") return { run: [written.command] };
  return { net: [endpoint.kind === "http" ? new URL(endpoint.url).host : written.url] };
}
