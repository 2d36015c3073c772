// A server is granted before it is started or reached (gadgets.md 5): by the command line or the grants, because the user allowed it for
// good as it is now, or by an answer on the terminal.
import {
  askGrantAnswer,
  type Files,
  isRecord,
  type LockedServer,
  maybeText,
  mcpNamePart,
  type McpServer,
  messageOf,
  parseStateList,
  shownWord,
  type StateListForm,
  stateListText,
  type User,
} from "../core/core.ts";
import {
  changedTools,
  lockedReach,
  serverChanges,
  serverHash,
  serverWords,
  type ToolHashes,
} from "./server_words.ts";

/** `orrery.lock`, as far as it is about servers. */
export interface ServerLock {
  /** Whether what is allowed for good of this server belongs there, and not among the user's own answers. */
  has(server: McpServer): boolean;
  /** What counts of a server. */
  maybe(name: string): LockedServer | undefined;
  /** @throws {SourceError} when the file was changed meanwhile */
  keep(server: LockedServer): Promise<void>;
  /** `--frozen`: what is not as it was in the lock is an error. @throws {SourceError} with its place when that is wanted */
  checkFrozen(name: string, changes: readonly string[]): void;
}

/** Who decides, and where it is kept. */
export interface ServerGrantOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly user: User;
  /** The user's state folder; without it nothing is kept but in the lock. */
  readonly state?: Files;
  /** Default: there is none. */
  readonly lock?: ServerLock;
  /** Whether `--trust` or a grant names the server. */
  readonly isTrusted: (name: string) => boolean;
  /** What allows a server, said before its name. Default: the flag of the run. */
  readonly allowing?: string;
  readonly onNotice: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** The answer for one server. */
export type ServerGrant = { readonly problem: string } | GivenGrant;

/** The server may be used; what its tools are is still to be looked at. */
export interface GivenGrant {
  /** Somebody has just allowed it: what is kept of that is what its tools are now. */
  readonly isNew?: true;
  /** Once its tools are known: undefined when they may be used as they are, else why not. */
  checkTools(tools: ToolHashes): Promise<string | undefined>;
}

/** What allows this server and no other. */
function remedy({ name, part }: McpServer, { allowing = "run with --trust" }: ServerGrantOptions): string {
  return `${allowing} ${part === mcpNamePart(name) ? part : shownWord(name)}`;
}

/** What was allowed for good of a server. */
interface Known extends Pick<LockedServer, "name" | "sha256" | "tools"> {
  /** What it was, where that was kept. */
  readonly reached?: LockedServer["reached"];
}

/**
 * Whether a server may be used.
 *
 * @throws {SourceError} when the list of allowed servers cannot be read, and with `--frozen` for a server that is not as the lock has it
 */
export async function serverGrant(server: McpServer, options: ServerGrantOptions): Promise<ServerGrant> {
  const sha256 = serverHash(server);
  const locked = options.lock?.maybe(server.name);
  if (locked !== undefined && locked.sha256 !== sha256) {
    options.lock?.checkFrozen(server.name, serverChanges(locked, server));
  }
  if (options.isTrusted(server.name)) return { checkTools: (tools) => checkTrusted(locked, tools, options) };
  const known = await allKnown(server, options);
  const same = known.find((each) => each.sha256 === sha256);
  if (same !== undefined) {
    return { checkTools: (tools) => checkKnown(server, { known: same, tools, options }) };
  }
  options.lock?.checkFrozen(server.name, ["it is not in it"]);
  const [before] = known;
  const answer = await askGrantAnswer(firstQuestion(server, before), options);
  if (answer === undefined) return { problem: notTrusted(server, before, options) };
  if (answer === "deny") {
    return { problem: `MCP server ${JSON.stringify(server.name)}: you did not allow it` };
  }
  return {
    isNew: true,
    async checkTools(tools) {
      if (answer === "always") await keep(server, tools, options);
      return undefined;
    },
  };
}

/** The lock, and what the user answered before there was one. */
async function allKnown(
  { name }: McpServer,
  { root, state, lock }: ServerGrantOptions,
): Promise<readonly Known[]> {
  const locked = lock?.maybe(name);
  const list = state === undefined ? [] : await readAllowedServers(state);
  const answered = list.filter((allowed) => allowed.root === root && allowed.name === name);
  return [...(locked === undefined ? [] : [locked]), ...answered];
}

/** Who is trusted in this run may have changed, but not with `--frozen`. */
function checkTrusted(
  locked: Known | undefined,
  tools: ToolHashes,
  { lock }: ServerGrantOptions,
): Promise<undefined> {
  const changes = locked === undefined ? [] : changedTools(locked.tools, tools);
  if (locked !== undefined && changes.length > 0) lock?.checkFrozen(locked.name, shownChanges(changes));
  return Promise.resolve(undefined);
}

async function checkKnown(
  server: McpServer,
  { known, tools, options }: {
    readonly known: Known;
    readonly tools: ToolHashes;
    readonly options: ServerGrantOptions;
  },
): Promise<string | undefined> {
  const changes = changedTools(known.tools, tools);
  if (changes.length === 0) return undefined;
  options.lock?.checkFrozen(server.name, shownChanges(changes));
  const answer = await askGrantAnswer(toolQuestion(server, changes), options);
  const name = JSON.stringify(server.name);
  if (answer === undefined) {
    return `MCP server ${name} is not trusted any more, since its tools changed: ${
      shownChanges(changes).join(", ")
    }; ${remedy(server, options)}`;
  }
  if (answer === "deny") return `MCP server ${name}: you did not allow its changed tools`;
  if (answer === "always") await keep(server, tools, options);
  return undefined;
}

function firstQuestion(server: McpServer, known: Known | undefined): string {
  const verb = server.written.kind === "stdio" ? "started" : "reached";
  const changes = known?.reached === undefined ? [] : serverChanges({ reached: known.reached }, server);
  const changed = known === undefined
    ? ""
    : ` It is not as it was when you allowed it${changes.length === 0 ? "." : ":"}`;
  return [
    `${server.file} wants the MCP server ${JSON.stringify(server.name)} to be ${verb}.${changed}`,
    ...changes.map((line) => `  ${line}`),
    ...(changes.length === 0 ? [] : ["Now it is this:"]),
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

/** The first of them; foreign words cannot look like ours. */
export function shownChanges(changes: readonly string[]): readonly string[] {
  const shown = changes.slice(0, MAX_CHANGES).map((line) => JSON.stringify(line).slice(1, -1));
  return changes.length <= MAX_CHANGES ? shown : [...shown, `and ${changes.length - MAX_CHANGES} more`];
}

function notTrusted(server: McpServer, known: Known | undefined, options: ServerGrantOptions): string {
  const done = server.written.kind === "stdio" ? "started" : "reached";
  const changed = known === undefined ? "" : " any more, since it is not as it was when you allowed it";
  return `MCP server ${JSON.stringify(server.name)} is not trusted${changed}: it was not ${done} (${
    serverWords(server).join("; ")
  }); ${remedy(server, options)}`;
}

/** What was allowed is allowed, also where it cannot be kept. */
async function keep(server: McpServer, tools: ToolHashes, options: ServerGrantOptions): Promise<void> {
  const { root, state, lock, onNotice } = options;
  const { name } = server;
  const allowed = { name, sha256: serverHash(server), tools };
  const onlyNow = (why: string) =>
    onNotice(`MCP server ${JSON.stringify(name)} is allowed for this run only: ${why}`);
  if (lock?.has(server)) {
    try {
      await lock.keep({ ...allowed, reached: lockedReach(server) });
    } catch (error) {
      return onlyNow(messageOf(error));
    }
    if (state !== undefined) await removeAllowedServer(state, { root, name }); // what was answered before is another server
    return;
  }
  if (state !== undefined) return await writeAllowedServer(state, { root, ...allowed });
  onlyNow("neither XDG_STATE_HOME nor HOME says where to keep it");
}

// The servers that a user allowed for good. The list is beside that of accepted projects, outside every project.

/** A server that may be used as it was when it was allowed. */
export interface AllowedServer {
  /** The project it was allowed in: the same command is another program in another folder. */
  readonly root: string;
  readonly name: string;
  /** Of what it is. */
  readonly sha256: string;
  readonly tools: ToolHashes;
}

/** The name of the list in the state folder. */
const ALLOWED_SERVERS_FILE = "mcp_servers.json";

const FORM: StateListForm<AllowedServer> = {
  key: "servers",
  of: "allowed MCP servers",
  each: "server",
  needs: '"root", "name", "sha256" and "tools"',
  entry: (value) => isAllowedServer(value) ? value : undefined,
};

/** Reads the list; no file is an empty one. @throws {SourceError} that names the file when it is no such list */
export async function readAllowedServers(state: Files): Promise<readonly AllowedServer[]> {
  const file = await state.resolve(ALLOWED_SERVERS_FILE);
  const text = await maybeText(state, file);
  return text === undefined ? [] : parseStateList(text, { file, form: FORM });
}

/** Writes the server into the list, in the place of what was allowed under its name in that project. @throws as `readAllowedServers` */
async function writeAllowedServer(state: Files, server: AllowedServer): Promise<void> {
  const others = (await readAllowedServers(state)).filter(({ root, name }) =>
    root !== server.root || name !== server.name
  );
  await state.writeText(ALLOWED_SERVERS_FILE, stateListText([...others, server], FORM));
}

/** Takes a server out of the list; gives whether it was there. @throws as `readAllowedServers` */
export async function removeAllowedServer(
  state: Files,
  { root, name }: Pick<AllowedServer, "root" | "name">,
): Promise<boolean> {
  const servers = await readAllowedServers(state);
  const others = servers.filter((each) => each.root !== root || each.name !== name);
  if (others.length === servers.length) return false;
  await state.writeText(ALLOWED_SERVERS_FILE, stateListText(others, FORM));
  return true;
}

function isAllowedServer(value: unknown): value is AllowedServer {
  return isRecord(value) &&
    [value.root, value.name, value.sha256].every((field) => typeof field === "string") &&
    isRecord(value.tools) && Object.values(value.tools).every((hash) => typeof hash === "string");
}
