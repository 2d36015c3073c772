import {
  type BrokenMcpServer,
  type CatalogEntry,
  mcpNames,
  type McpServer,
  messageOf,
  type Pipes,
} from "../core/core.ts";
import type { McpConnection } from "./connect.ts";
import type { McpFetch } from "./server_line.ts";
import { type GivenGrant, serverGrant, type ServerGrantOptions, shownChanges } from "./server_grant.ts";
import { toolHashes } from "./server_words.ts";

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
  /** Those that may be started are started when they are first needed. Default: at once. */
  readonly late?: boolean;
  /** Told what a server says besides the protocol. */
  readonly onLog?: (server: string, line: string) => void;
}

/** The gadgets of servers, and their end. */
export interface McpEntries {
  readonly entries: readonly CatalogEntry[];
  /** Those that are started when they are first needed: what their gadgets' names begin with, and what starts them, once. */
  readonly late: readonly LateEntries[];
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
  const begun: Promise<Opened>[] = [];
  const begin = (each: Granted): Promise<Opened> => {
    const opened = open(each, options);
    begun.push(opened);
    return opened;
  };
  const close = async () => {
    const opened = await Promise.all(begun);
    await Promise.all(opened.map(({ connection }) => connection?.close()));
  };
  const taken = new Set(options.taken);
  const isLate = ({ grant }: Granted) =>
    options.late === true && grant !== undefined && !("problem" in grant) && grant.isNew !== true;
  const opened = await Promise.all(granted.filter((each) => !isLate(each)).map(begin));
  options.signal?.addEventListener("abort", () => void close(), { once: true });
  try {
    options.signal?.throwIfAborted(); // it may have been while the last server was being waited for
    const entries: CatalogEntry[] = [];
    for (const each of opened) entries.push(...await entriesOf(each, taken, options));
    const late = granted.filter(isLate).map((each) => {
      let entries: Promise<readonly CatalogEntry[]> | undefined;
      return {
        prefix: `${each.server.part}__`,
        source: sourceOf(each.server),
        open: () => entries ??= begin(each).then((opened) => entriesOf(opened, taken, options)),
      };
    });
    return { entries, late, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type LateEntries = {
  readonly prefix: string;
  readonly source: CatalogEntry["source"];
  open(): Promise<readonly CatalogEntry[]>;
};

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
    const { root, signal, onLog } = options;
    const connection = await connectMcp(server, {
      ...options.reach(server),
      cwd: root,
      signal,
      onLog: onLog && ((line) => onLog(server.name, line)),
    });
    return { server, connection, grant };
  } catch (error) {
    return { server, state: "broken", problem: messageOf(error) };
  }
}

/** Names are given and questions asked in the order of the servers, whichever answered first. */
async function entriesOf(
  opened: Opened,
  taken: Set<string>,
  { onNotice, allowing }: McpEntriesOptions,
): Promise<readonly CatalogEntry[]> {
  const { server, connection, grant, state = "broken", problem = "" } = opened;
  const flag = allowing === undefined ? {} : { flag: "" }; // no flag allows it
  if ("problem" in server || connection === undefined) {
    return [{ ...unready(server, { state, problem }), ...flag }];
  }
  const refused = await grant?.checkTools(toolHashes(connection.tools));
  if (refused === undefined) return await toolEntries(server, { connection, taken, onNotice });
  await connection.close();
  return [{ ...unready(server, { state: "not-trusted", problem: refused }), ...flag }];
}

async function toolEntries(
  server: McpServer,
  { connection, taken, onNotice }: {
    readonly connection: McpConnection;
    readonly taken: Set<string>;
    readonly onNotice: (text: string) => void;
  },
): Promise<readonly CatalogEntry[]> {
  const { toolGadget }: typeof import("./tool_gadget.ts") = await import("./tool_gadget.ts" as string);
  // A tool of a name that another one had before it could not be called.
  const tools = new Map(connection.tools.map((tool) => [tool.name, tool]));
  const wanted = [...tools.keys()].filter((name) => name.trim() !== "");
  const names = mcpNames(new Map(wanted.map((name) => [name, `${server.part}__${name}`])), taken);
  const left: string[] = [];
  const entries = [...tools.values()].map((tool): CatalogEntry => {
    const name = names.get(tool.name);
    if (name === undefined) {
      const problem = `MCP server ${JSON.stringify(server.name)}: it has a tool without a name, expected one`;
      return unready(server, { name: `${server.part}__`, state: "broken", problem });
    }
    taken.add(name);
    try {
      const onLeft = (pointer: string) => void left.push(`${tool.name}/${pointer}`);
      const gadget = toolGadget(tool, { name, server, connection, onLeft });
      return { name, source: sourceOf(server), state: "ready", load: () => gadget };
    } catch (error) {
      return unready(server, { name, state: "broken", problem: messageOf(error) });
    }
  });
  if (left.length > 0) {
    onNotice(
      `MCP server ${
        JSON.stringify(server.name)
      }: its schemas have what JSON Schema does not, which is ignored ` +
        `here (the server checks what it gets): ${shownChanges(left).join(", ")}`,
    );
  }
  return entries;
}

function unready(
  server: McpServer | BrokenMcpServer,
  { state, problem, name }: {
    readonly state: "not-trusted" | "broken";
    readonly problem: string;
    readonly name?: string;
  },
): CatalogEntry {
  const own = server.part; // what `--trust` takes
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
