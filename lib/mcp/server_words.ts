import type { LockedServer } from "../core/gadget_lock.ts";
import type { McpServer } from "../core/mcp_server.ts";
import { shownWord } from "../core/shown_word.ts";

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
