/** How an MCP server is reached: a program on stdio, or a URL over HTTP. */
export type McpEndpoint =
  | {
    readonly kind: "stdio";
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }
  | { readonly kind: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** A configured MCP server. Only `written` is for people to see, and of it neither the values of `env` nor of `headers`. */
export interface McpServer {
  readonly name: string;
  /** Where it is configured, as messages name it. */
  readonly file: string;
  /** As it stands in the file, `${VAR}` not replaced. */
  readonly written: McpEndpoint;
  /** With every `${VAR}` replaced: it may hold secrets. */
  readonly endpoint: McpEndpoint;
  /** The variables of our environment that it is given, sorted. */
  readonly variables: readonly string[];
}

/** A configured server that cannot be used, and why. */
export interface BrokenMcpServer {
  readonly name: string;
  readonly file: string;
  readonly problem: string;
}

/** A server's name as the beginning of its gadgets' names: other characters become `_`. */
export function mcpNamePart(name: string): string {
  const part = name.replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  return /^[A-Za-z_]/.test(part) ? part : `_${part}`;
}
