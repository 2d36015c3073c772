import type { CatalogEntry } from "../core/catalog.ts";
import { mcpNamePart } from "../core/mcp_server.ts";

/** Gadgets that come from servers, which have to be started before their names are known. */
export interface ServerGadgets {
  /** The servers by name: what `--trust` and the grants may name besides gadgets. */
  readonly names: readonly string[];
  /** Starts those that may be started. */
  open(options: {
    /** The names that other gadgets have; no server may take one of them. */
    readonly taken: ReadonlySet<string>;
    readonly isTrusted: (name: string) => boolean;
    /** Starts these and no others. Default: all. */
    readonly only?: readonly string[];
  }): Promise<OpenServers>;
}

/** What servers gave, and their end. */
export interface OpenServers {
  readonly entries: readonly CatalogEntry[];
  close(): Promise<void>;
}

/** The server that a trusted word stands for: that of this name, else the only one whose gadgets' names begin with the word. */
export function serverNamed(word: string, servers: readonly string[]): string | undefined {
  if (servers.includes(word)) return word;
  const [found, other] = servers.filter((server) => mcpNamePart(server) === word);
  return other === undefined ? found : undefined;
}

/** The entry of a server that gives no gadgets, for the name of a gadget it may have: so that a call says what is wrong with the server. */
export function maybeServerOf(name: string, entries: readonly CatalogEntry[]): CatalogEntry | undefined {
  return entries.find(({ source, state, name: entry }) => {
    if (source.kind !== "mcp" || state === "ready") return false;
    return state === "not-trusted"
      ? name.startsWith(`${entry}__`)
      : entry.endsWith("__*") && name.startsWith(entry.slice(0, -1));
  });
}
