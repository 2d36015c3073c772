import {
  canonicalJson,
  changesByName,
  type LockedServer,
  type McpServer,
  sha256,
  shownWord,
} from "../core/core.ts";
import type { McpTool } from "./connect.ts";

/** What a server is, for the person who is asked, a line each: the whole command or URL, and names where values would be secret. */
export function serverWords({ written, endpoint, variables }: McpServer): readonly string[] {
  const given = Object.keys(written.kind === "stdio" ? written.env : written.headers);
  const lines = written.kind === "stdio"
    ? [
      `command: ${[written.command, ...written.args].map(shownWord).join(" ")}`,
      ...named("environment", given),
    ]
    : [`url: ${shownWord(written.url)}`, ...hostLine(written.url, endpoint), ...named("headers", given)];
  return [...lines, ...named("is given your variables", variables)];
}

/** What a lock says of what a server is: as it stands in the settings. */
export function lockedReach({ written }: McpServer): LockedServer["reached"] {
  return written.kind === "stdio" ? { command: [written.command, ...written.args] } : { url: written.url };
}

/** What of a server is not as the lock has it, a line each, when its hash is another one. */
export function serverChanges(
  { reached }: Pick<LockedServer, "reached">,
  server: McpServer,
): readonly string[] {
  const [before, now] = [reachedWords(reached), reachedWords(lockedReach(server))];
  if (before !== now) return [`it was ${before}`];
  const given = server.written.kind === "stdio" ? "environment" : "headers";
  return [`its ${given}, or what its variables come to, changed`];
}

function reachedWords(reached: LockedServer["reached"]): string {
  return "url" in reached
    ? `the url: ${shownWord(reached.url)}`
    : `the command: ${reached.command.map(shownWord).join(" ")}`;
}

function named(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what}: ${names.map(shownWord).join(", ")}`];
}

/** The host, where a variable hides it. */
function hostLine(written: string, endpoint: McpServer["endpoint"]): readonly string[] {
  if (endpoint.kind !== "http") return [];
  const { host } = new URL(endpoint.url);
  return URL.canParse(written) && new URL(written).host === host ? [] : [`host: ${shownWord(host)}`];
}

/** The hash of each tool of a server: of what a model reads of it. */
export type ToolHashes = Readonly<Record<string, string>>;

/**
 * The SHA-256, in hex, of all that decides what starting or reaching a server means: what stands in the file, and the program or host
 * that it comes to. The values of variables do not count, so that a new key does not ask again.
 */
export function serverHash({ written, endpoint }: McpServer): string {
  const target = endpoint.kind === "stdio" ? endpoint.command : new URL(endpoint.url).origin;
  return sha256(canonicalJson({ written, target }));
}

/** @see ToolHashes */
export function toolHashes(tools: readonly McpTool[]): ToolHashes {
  return Object.fromEntries(
    tools.map(({ name, title, description, inputSchema, annotations }) => {
      const shown = { title, description, inputSchema, annotations };
      return [name, sha256(canonicalJson(shown))];
    }),
  );
}

/** What is not as it was, a line each: `create_issue is described differently`. */
export function changedTools(before: ToolHashes, now: ToolHashes): readonly string[] {
  return changesByName(before, now, (name, was, is) => {
    return `${name} ${
      is === undefined ? "is gone" : was === undefined ? "is new" : "is described differently"
    }`;
  });
}
