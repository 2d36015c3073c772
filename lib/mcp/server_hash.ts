import { canonicalJson } from "../core/json.ts";
import type { McpServer } from "../core/mcp_server.ts";
import { sha256 } from "../core/sha256.ts";
import type { McpTool } from "./connect.ts";

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
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    const [was, is] = [maybe(before, name), maybe(now, name)];
    if (was === is) return [];
    return [
      is === undefined
        ? `${name} is gone`
        : was === undefined
        ? `${name} is new`
        : `${name} is described differently`,
    ];
  });
}

function maybe(hashes: ToolHashes, name: string): string | undefined {
  return Object.hasOwn(hashes, name) ? hashes[name] : undefined;
}
