/** A server of `mcpServers`: a program on stdio, or an address. `${NAME}` in a value of `env` or `headers` stands for a variable. */
export type McpServerSettings =
  | {
    readonly command: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };
