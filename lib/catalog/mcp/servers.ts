import {
  type BrokenMcpServer,
  type McpEndpoint,
  mcpNameParts,
  type McpServer,
  type McpServerSettings,
} from "../../core/core.ts";
import type { McpFile, WrongServer } from "./config.ts";

type Path = readonly (string | number)[];

/** The servers of all files with their variables replaced; of two with one name that of the earlier file counts. */
export async function mcpServers(
  files: readonly McpFile[],
  { variable, notice }: {
    readonly variable: (name: string) => string | undefined;
    readonly notice: (text: string) => void;
  },
): Promise<readonly (McpServer | BrokenMcpServer)[]> {
  const seen = new Map<string, string>();
  const servers: (McpServer | BrokenMcpServer)[] = [];
  const parts = mcpNameParts(files.flatMap((file) => Object.keys(file.servers)));
  for (const file of files) {
    for (const [name, settings] of Object.entries(file.servers)) {
      const before = seen.get(name);
      if (before === undefined) {
        servers.push(await oneServer(name, { part: parts.get(name) ?? name, settings, file, variable }));
      } else {notice(
          `${file.file}: the MCP server ${JSON.stringify(name)} is ignored: ${before} has one of that name`,
        );}
      seen.set(name, before ?? file.file);
    }
  }
  return servers;
}

interface ServerWork {
  readonly part: string;
  readonly settings: McpServerSettings | WrongServer;
  readonly file: McpFile;
  readonly variable: (name: string) => string | undefined;
}

async function oneServer(
  name: string,
  { part, settings, file, variable }: ServerWork,
): Promise<McpServer | BrokenMcpServer> {
  const broken = async (path: Path, problem: string, isOpen = false): Promise<BrokenMcpServer> => {
    const span = await file.place([name, ...path]);
    const place = span === undefined ? file.file : `${file.file}:${span.line}:${span.column}`;
    const wrong = `MCP server ${JSON.stringify(name)}: ${problem}`;
    return { name, part, file: file.file, problem: `${place}: ${wrong}`, wrong, span, isOpen };
  };
  if ("wrong" in settings) return await broken(settings.path, settings.wrong);
  const written = endpointOf(settings);
  const names = new Set<string>();
  const missing: { readonly path: Path; readonly name: string }[] = [];
  const endpoint = mapTexts(written, (text, path) => {
    const expanded = expandVariables(text, variable);
    expanded.names.forEach((each) => names.add(each));
    missing.push(...expanded.missing.map((each) => ({ path, name: each })));
    return expanded.text;
  });
  const [first] = missing;
  if (first !== undefined) {
    return await broken(
      first.path,
      `the variable ${first.name} is not set, or may not be read; set it, or write \${${first.name}:-default}`,
      true,
    );
  }
  const problem = endpointProblem(endpoint, written);
  if (problem !== undefined) return await broken([endpoint.kind === "stdio" ? "command" : "url"], problem);
  return { name, part, file: file.file, written, endpoint, variables: [...names].sort() };
}

function endpointOf(settings: McpServerSettings): McpEndpoint {
  if ("url" in settings) return { kind: "http", url: settings.url, headers: settings.headers ?? {} };
  const { command, args = [], env = {} } = settings;
  return { kind: "stdio", command, args, env };
}

function mapTexts(endpoint: McpEndpoint, map: (text: string, path: Path) => string): McpEndpoint {
  const mapAll = (key: string, texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, map(text, [key, name])]));
  if (endpoint.kind === "http") {
    const { kind, url, headers } = endpoint;
    return { kind, url: map(url, ["url"]), headers: mapAll("headers", headers) };
  }
  const { kind, command, args, env } = endpoint;
  return {
    kind,
    command: map(command, ["command"]),
    args: args.map((text, index) => map(text, ["args", index])),
    env: mapAll("env", env),
  };
}

/** What is wrong once the variables are known; it may not show what they hold. */
function endpointProblem(endpoint: McpEndpoint, written: McpEndpoint): string | undefined {
  if (endpoint.kind === "stdio") {
    return endpoint.command.trim() === "" ? "found an empty command, expected a program" : undefined;
  }
  const shown = JSON.stringify(written.kind === "http" ? written.url : "");
  const url = URL.canParse(endpoint.url) ? new URL(endpoint.url) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    return `found the url ${shown}, expected a whole one such as "https://example.com/mcp"`;
  }
  return url.username === "" && url.password === ""
    ? undefined
    : `found a url with a name or a password in it, expected them in the header "Authorization"`;
}

/** A text with its variables replaced. */
interface Expanded {
  readonly text: string;
  /** The variables that were asked for. */
  readonly names: readonly string[];
  /** Those that are not set and have no default. */
  readonly missing: readonly string[];
}

/**
 * Replaces `${NAME}` by a variable, and `${NAME:-default}` by the default where it is not set or empty. Other text with `${` stays as it
 * is, and what a variable holds is not looked at again.
 */
export function expandVariables(text: string, variable: (name: string) => string | undefined): Expanded {
  const names: string[] = [];
  const missing: string[] = [];
  const replaced = text.replaceAll(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_whole, name: string, other: string | undefined) => {
      names.push(name);
      const value = variable(name);
      if (other !== undefined) return value === undefined || value === "" ? other : value;
      if (value === undefined) missing.push(name);
      return value ?? "";
    },
  );
  return { text: replaced, names, missing };
}
