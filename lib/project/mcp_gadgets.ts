// The gadgets of MCP servers on this machine. Loaded only when a server is configured.
import { join } from "node:path";
import type { McpFile } from "../catalog/mcp/config.ts";
import type { ServerGadgets } from "../catalog/mcp/gadgets.ts";
import { mcpServers } from "../catalog/mcp/servers.ts";
import {
  type BrokenMcpServer,
  mcpNamePart,
  type McpServer,
  type PermissionKind,
  PermissionRefused,
  type PermissionRequest,
  type PipeOptions,
  type Secrets,
  SourceError,
  type User,
} from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { realPath, stateFolder } from "../host/paths.ts";
import { hostPipes } from "../host/commands/pipe_process.ts";
import { hostEnv } from "../host/process.ts";
import { hostStreamFetch } from "../host/http/http.ts";
import { mcpEntries, type ServerReach } from "../mcp/entries.ts";
import type { ServerLock } from "../mcp/server_grant.ts";
import { createPolicy } from "../policy/policy.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";
import { type LockKeeper, serverPlace } from "./trust/lock.ts";
import { PUBLIC_VARIABLES, SECRET_NAME } from "./run_secrets.ts";

/** What the servers are opened with. */
export interface McpGadgetsOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly cwd: string;
  /** The flags of the run: what they deny holds for a granted server too. */
  readonly settings: PolicySettings;
  readonly user: User;
  readonly notice: (text: string) => void;
  /** The servers of the user's own settings: what is allowed of them for good is no matter of the project's lock. */
  readonly own: readonly string[];
  readonly keeper: LockKeeper;
  /** Whether a server that is not as `orrery.lock` has it is an error. */
  readonly frozen: boolean;
  readonly log?: (server: string, line: string) => void;
  readonly signal?: AbortSignal;
  /** Told the variables that servers are given. */
  readonly secrets?: Pick<Secrets, "add">;
}

/** The servers of these files, as the catalogue opens them. */
export async function mcpGadgets(
  files: readonly McpFile[],
  options: McpGadgetsOptions,
): Promise<ServerGadgets> {
  const { root, user, notice, log, signal } = options;
  const servers = await mcpServers(files, { variable: (name) => maybeVariable(name, options), notice });
  servers.forEach((server) => keepSecret(server, options));
  const folder = stateFolder();
  return {
    names: servers.map(({ name }) => name),
    open: async ({ taken, isTrusted, only, late = false }) =>
      await mcpEntries(only === undefined ? servers : servers.filter(({ name }) => only.includes(name)), {
        lock: serverLock(options.keeper, options),
        root,
        user,
        taken,
        isTrusted,
        ...(options.settings.runsByGrant && { allowing: "orrery trust allow" }),
        late: late && !options.frozen, // what is not as it was ends a run with --frozen before anything of it runs
        onNotice: notice,
        reach: (server) => reachOf(server, options),
        ...(folder !== undefined && { state: hostFiles({ root: folder, mode: 0o600 }) }),
        onLog: log,
        signal,
      }),
  };
}

/** The lock of the project, for its servers. */
function serverLock(
  keeper: LockKeeper,
  { own, frozen }: Pick<McpGadgetsOptions, "own" | "frozen">,
): ServerLock {
  return {
    has: ({ name }) => !own.includes(name),
    maybe: (name) => keeper.counting.servers.find((server) => server.name === name),
    keep: (server) =>
      keeper.change(({ gadgets, servers }) => ({
        gadgets,
        servers: [...servers.filter(({ name }) => name !== server.name), server],
      })),
    checkFrozen(name, changes) {
      if (frozen && !own.includes(name)) throw frozenServerError(name, { changes, keeper });
    },
  };
}

function frozenServerError(
  name: string,
  { changes, keeper: { lock, file } }: { readonly changes: readonly string[]; readonly keeper: LockKeeper },
): SourceError {
  const span = lock === undefined ? undefined : serverPlace(lock, name);
  return new SourceError(
    `--frozen: MCP server ${JSON.stringify(name)} is not as ${file} has it: ${changes.join("; ")}`,
    {
      code: "E-lock",
      hint: `orrery trust allow ${mcpNamePart(name)} allows it as it is now.`,
      ...(span && lock && { span, source: lock.text }),
    },
  );
}

/** Headers that say nothing secret. */
const OPEN_HEADERS = /^(?:accept|content-type|user-agent)$/i;

/** What stands in the file itself. */
function keepSecret(server: McpServer | BrokenMcpServer, { secrets }: McpGadgetsOptions): void {
  if (secrets === undefined || "problem" in server) return;
  const { endpoint } = server;
  const given = endpoint.kind === "http"
    ? Object.entries(endpoint.headers).filter(([name]) => !OPEN_HEADERS.test(name))
    : Object.entries(endpoint.env).filter(([name]) => SECRET_NAME.test(name));
  for (const [name, value] of given) {
    secrets.add(name, value);
    secrets.add(name, value.replace(/^(?:Bearer|Basic|Token)\s+/i, ""));
  }
}

/** A variable that a server is given: it is named in what the user allows, and `--deny-env` holds. */
function maybeVariable(name: string, options: McpGadgetsOptions): string | undefined {
  try {
    checkWith(options, { kind: "env", value: name }, name);
    const value = hostEnv(name);
    if (value !== undefined && !PUBLIC_VARIABLES.includes(name)) options.secrets?.add(name, value);
    return value;
  } catch (error) {
    if (error instanceof PermissionRefused) return undefined;
    throw error;
  }
}

function reachOf({ endpoint }: McpServer, options: McpGadgetsOptions): ServerReach {
  const pipes = hostPipes();
  const target = endpoint.kind === "http" ? hostPort(new URL(endpoint.url)) : "";
  return {
    pipes: {
      start(command: string, how: PipeOptions) {
        const program = command.includes("/") && !command.startsWith("/")
          ? join(options.root, command)
          : command;
        checkWith(options, { kind: "run", value: program }, program);
        if (program.includes("/")) checkWith(options, { kind: "run", value: realPath(program) }, program);
        return pipes.start(program, how);
      },
    },
    fetch: hostStreamFetch({ check: (request) => checkWith(options, request, target) }),
  };
}

function hostPort(url: URL): string {
  return `${url.hostname}:${url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port}`;
}

/** Asks the policy of the flags with one thing more allowed, which the grant of the server names. @throws {PermissionRefused} */
function checkWith(
  { root, cwd, settings }: McpGadgetsOptions,
  request: PermissionRequest,
  allowed: string,
): void {
  const kind: PermissionKind = request.kind;
  const rule = settings.allow[kind];
  // A program is asked about as it is called and as what its links lead to; of both only what a flag denies counts.
  const all = rule.all || kind === "run";
  const allow = { ...settings.allow, [kind]: { all, list: [...rule.list, allowed] } };
  createPolicy({ ...settings, allow }, { root, cwd, realPath }).check(request);
}
