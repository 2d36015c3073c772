// A server is granted before it is started or reached (gadgets.md 5): by the command line or the grants, because the user allowed it for
// good as it is now, or by an answer on the terminal.
import { mcpNamePart, type McpServer } from "../core/mcp_server.ts";
import type { Files, User } from "../core/world.ts";
import { type AllowedServer, readAllowedServers, writeAllowedServer } from "./allowed_servers.ts";
import { changedTools, serverHash, type ToolHashes } from "./server_hash.ts";
import { serverWords } from "./server_words.ts";

/** Who decides, and where it is kept. */
export interface ServerGrantOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly user: User;
  /** The user's state folder; without it nothing is kept. */
  readonly state?: Files;
  /** Whether `--trust` or a grant names the server. */
  readonly isTrusted: (name: string) => boolean;
  readonly onNotice: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** The answer for one server. */
export type ServerGrant = { readonly problem: string } | GivenGrant;

/** The server may be used; what its tools are is still to be looked at. */
export interface GivenGrant {
  /** Once its tools are known: undefined when they may be used as they are, else why not. */
  checkTools(tools: ToolHashes): Promise<string | undefined>;
}

type Answer = "once" | "always" | "deny";

/** Whether a server may be used. @throws {SourceError} when the list of allowed servers cannot be read */
export async function serverGrant(server: McpServer, options: ServerGrantOptions): Promise<ServerGrant> {
  if (options.isTrusted(server.name)) return { checkTools: () => Promise.resolve(undefined) };
  const sha256 = serverHash(server);
  const known = await maybeKnown(server, options);
  if (known?.sha256 === sha256) {
    return { checkTools: (tools) => checkKnown(server, { known, tools, options }) };
  }
  const answer = await ask(firstQuestion(server, known), options);
  if (answer === undefined) return { problem: notTrusted(server, known) };
  if (answer === "deny") {
    return { problem: `MCP server ${JSON.stringify(server.name)}: you did not allow it` };
  }
  return {
    async checkTools(tools) {
      if (answer === "always") await keep({ root: options.root, name: server.name, sha256, tools }, options);
      return undefined;
    },
  };
}

async function maybeKnown(
  { name }: McpServer,
  { root, state }: ServerGrantOptions,
): Promise<AllowedServer | undefined> {
  const list = state === undefined ? [] : await readAllowedServers(state);
  return list.find((allowed) => allowed.root === root && allowed.name === name);
}

async function checkKnown(
  server: McpServer,
  { known, tools, options }: {
    readonly known: AllowedServer;
    readonly tools: ToolHashes;
    readonly options: ServerGrantOptions;
  },
): Promise<string | undefined> {
  const changes = changedTools(known.tools, tools);
  if (changes.length === 0) return undefined;
  const answer = await ask(toolQuestion(server, changes), options);
  const name = JSON.stringify(server.name);
  if (answer === undefined) {
    return `MCP server ${name} is not trusted any more, since its tools changed: ${
      shownChanges(changes).join(", ")
    }; ` +
      `run with --trust ${mcpNamePart(server.name)}`;
  }
  if (answer === "deny") return `MCP server ${name}: you did not allow its changed tools`;
  if (answer === "always") await keep({ ...known, tools }, options);
  return undefined;
}

/** The answer of the person at the terminal; undefined when there is none. */
async function ask(question: string, { user, signal }: ServerGrantOptions): Promise<Answer | undefined> {
  if (!user.canAnswer) return undefined;
  const choices = ["once", "always", "deny"] as const;
  try {
    const answer = await user.ask(question, { choices, ...(signal && { signal }) });
    return choices.find((choice) => choice === answer) ?? "deny";
  } catch (error) {
    if (signal?.aborted) throw error;
    return "deny"; // the input ended
  }
}

function firstQuestion(server: McpServer, known: AllowedServer | undefined): string {
  const verb = server.written.kind === "stdio" ? "started" : "reached";
  const changed = known === undefined ? "" : " It is not as it was when you allowed it.";
  return [
    `${server.file} wants the MCP server ${JSON.stringify(server.name)} to be ${verb}.${changed}`,
    ...serverWords(server).map((line) => `  ${line}`),
    "Allow it?",
  ].join("\n");
}

function toolQuestion(server: McpServer, changes: readonly string[]): string {
  return [
    `The tools of the MCP server ${JSON.stringify(server.name)} are not as they were when you allowed it:`,
    ...shownChanges(changes).map((line) => `  ${line}`),
    "Use them?",
  ].join("\n");
}

const MAX_CHANGES = 12;

function shownChanges(changes: readonly string[]): readonly string[] {
  const shown = changes.slice(0, MAX_CHANGES).map((line) => JSON.stringify(line).slice(1, -1));
  return changes.length <= MAX_CHANGES ? shown : [...shown, `and ${changes.length - MAX_CHANGES} more`];
}

function notTrusted(server: McpServer, known: AllowedServer | undefined): string {
  const done = server.written.kind === "stdio" ? "started" : "reached";
  const changed = known === undefined ? "" : " any more, since it is not as it was when you allowed it";
  return `MCP server ${JSON.stringify(server.name)} is not trusted${changed}: it was not ${done} (${
    serverWords(server).join("; ")
  }); run with --trust ${mcpNamePart(server.name)}`;
}

async function keep(server: AllowedServer, { state, onNotice }: ServerGrantOptions): Promise<void> {
  if (state !== undefined) return await writeAllowedServer(state, server);
  onNotice(
    `MCP server ${
      JSON.stringify(server.name)
    } is allowed for this run only: neither XDG_STATE_HOME nor HOME says where to keep it`,
  );
}
