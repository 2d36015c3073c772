import type { McpServer } from "../core/mcp_server.ts";

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

function named(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what}: ${names.map(shownWord).join(", ")}`];
}

/** The host, where a variable hides it. */
function hostLine(written: string, endpoint: McpServer["endpoint"]): readonly string[] {
  if (endpoint.kind !== "http") return [];
  const { host } = new URL(endpoint.url);
  return URL.canParse(written) && new URL(written).host === host ? [] : [`host: ${shownWord(host)}`];
}

/** A word as it is, or in quotes with everything escaped that a terminal would not show as it is. */
export function shownWord(word: string): string {
  if (/^[\w@%+=:,./?&~${}-]+$/.test(word)) return word;
  return JSON.stringify(word).replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
