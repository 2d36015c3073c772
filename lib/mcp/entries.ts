import type { CatalogEntry } from "../core/catalog.ts";
import { type BrokenMcpServer, mcpNamePart, type McpServer } from "../core/mcp_server.ts";
import type { Pipes } from "../core/pipes.ts";
import { messageOf } from "../core/source_error.ts";
import type { McpConnection } from "./connect.ts";
import type { McpFetch } from "./http_fetch.ts";
import { type GivenGrant, serverGrant, type ServerGrantOptions } from "./server_grant.ts";
import { toolHashes } from "./server_hash.ts";
import { toolNames } from "./tool_names.ts";

/** How a server that was granted is reached; what the user's flags forbid is refused there. */
export interface ServerReach {
  readonly pipes: Pipes;
  readonly fetch: McpFetch;
}

/** What the gadgets of MCP servers are made with. */
export interface McpEntriesOptions extends ServerGrantOptions {
  readonly reach: (server: McpServer) => ServerReach;
  /** The names that other gadgets have. */
  readonly taken: ReadonlySet<string>;
  /** For each server, from its start to its list of tools. Default 10,000. */
  readonly timeoutMs?: number;
  /** Told what a server says besides the protocol. */
  readonly onLog?: (server: string, line: string) => void;
}

/** The gadgets of servers, and their end. */
export interface McpEntries {
  readonly entries: readonly CatalogEntry[];
  /** Ends all servers. */
  close(): Promise<void>;
}

/**
 * The gadgets of MCP servers (gadgets.md 2 and 5): each server is granted, one question after the other, then all are started at once. A
 * server that fails is one `broken` entry, `server__*`; one that is not granted is `not-trusted` under its own name.
 *
 * @throws {SourceError} when the list of allowed servers cannot be read
 */
export async function mcpEntries(
  servers: readonly (McpServer | BrokenMcpServer)[],
  options: McpEntriesOptions,
): Promise<McpEntries> {
  const granted: Granted[] = [];
  for (const server of servers) {
    granted.push({ server, grant: "problem" in server ? undefined : await serverGrant(server, options) });
  }
  const opened = await Promise.all(granted.map((each) => open(each, options)));
  const connections = opened.flatMap(({ connection }) => connection ?? []);
  const close = async () => void await Promise.all(connections.map((connection) => connection.close()));
  options.signal?.addEventListener("abort", () => void close(), { once: true });
  try {
    options.signal?.throwIfAborted(); // it may have been while the last server was being waited for
    const taken = new Set(options.taken);
    const entries: CatalogEntry[] = [];
    for (const each of opened) entries.push(...await entriesOf(each, taken));
    return { entries, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Granted {
  readonly server: McpServer | BrokenMcpServer;
  readonly grant: GivenGrant | { readonly problem: string } | undefined;
}

interface Opened {
  readonly server: McpServer | BrokenMcpServer;
  readonly connection?: McpConnection;
  readonly grant?: GivenGrant;
  readonly state?: "not-trusted" | "broken";
  readonly problem?: string;
}

async function open({ server, grant }: Granted, options: McpEntriesOptions): Promise<Opened> {
  if ("problem" in server) return { server, state: "broken", problem: server.problem };
  if (grant === undefined || "problem" in grant) {
    return { server, state: "not-trusted", problem: grant?.problem ?? "" };
  }
  try {
    const { connectMcp }: typeof import("./connect.ts") = await import("./connect.ts" as string);
    const { root, timeoutMs, signal, onLog } = options;
    const connection = await connectMcp(server, {
      ...options.reach(server),
      cwd: root,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal && { signal }),
      ...(onLog && { onLog: (line) => onLog(server.name, line) }),
    });
    return { server, connection, grant };
  } catch (error) {
    return { server, state: "broken", problem: messageOf(error) };
  }
}

/** Names are given and questions asked in the order of the servers, whichever answered first. */
async function entriesOf(opened: Opened, taken: Set<string>): Promise<readonly CatalogEntry[]> {
  const { server, connection, grant, state = "broken", problem = "" } = opened;
  if ("problem" in server || connection === undefined) return [unready(server, { state, problem })];
  const refused = await grant?.checkTools(toolHashes(connection.tools));
  if (refused === undefined) return await toolEntries(server, { connection, taken });
  await connection.close();
  return [unready(server, { state: "not-trusted", problem: refused })];
}

async function toolEntries(
  server: McpServer,
  { connection, taken }: { readonly connection: McpConnection; readonly taken: Set<string> },
): Promise<readonly CatalogEntry[]> {
  const { toolGadget }: typeof import("./tool_gadget.ts") = await import("./tool_gadget.ts" as string);
  const names = toolNames(server.name, connection.tools.map(({ name }) => name), { taken });
  return connection.tools.map((tool, index) => {
    const name = names[index] ?? "";
    try {
      const gadget = toolGadget(tool, { name, server, connection });
      return { name, source: sourceOf(server), state: "ready", load: () => gadget };
    } catch (error) {
      return unready(server, { name, state: "broken", problem: messageOf(error) });
    }
  });
}

function unready(
  server: McpServer | BrokenMcpServer,
  { state, problem, name }: {
    readonly state: "not-trusted" | "broken";
    readonly problem: string;
    readonly name?: string;
  },
): CatalogEntry {
  const own = mcpNamePart(server.name); // what `--trust` takes
  return {
    name: name ?? (state === "broken" ? `${own}__*` : own),
    source: sourceOf(server),
    state,
    problem,
    load() {
      throw new Error(problem);
    },
  };
}

function sourceOf({ name, file }: McpServer | BrokenMcpServer): CatalogEntry["source"] {
  return { kind: "mcp", server: name, file };
}
