import { type CatalogEntry, EntryError } from "../core/catalog.ts";
import { mcpNamePart } from "../core/mcp_server.ts";
import { didYouMean } from "../core/nearest.ts";

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
    /** Those that may be started are started when the first of their gadgets is loaded. Default: at once. */
    readonly late?: boolean;
  }): Promise<OpenServers>;
}

/** What servers gave, and their end. */
export interface OpenServers {
  readonly entries: readonly CatalogEntry[];
  readonly late: readonly LateServer[];
  close(): Promise<void>;
}

/** A server that is started when it is first needed. */
export interface LateServer {
  /** What the names of its gadgets begin with. */
  readonly prefix: string;
  readonly source: CatalogEntry["source"];
  /** Starts it, once. */
  open(): Promise<readonly CatalogEntry[]>;
}

/** What stands for a gadget that one of these servers may have: it is known when it is loaded. */
export function maybeLate(name: string, late: readonly LateServer[]): CatalogEntry | undefined {
  const servers = late.filter(({ prefix }) => name.startsWith(prefix));
  const [first] = servers;
  if (first === undefined) return undefined;
  return {
    name,
    source: first.source,
    state: "ready",
    async load() {
      const entries = (await Promise.all(servers.map((server) => server.open()))).flat();
      const found = entries.find((entry) => entry.name === name) ?? maybeServerOf(name, entries);
      if (found?.state === "ready") return await found.load();
      const unknown = `Unknown gadget "${name}".${didYouMean(name, entries.map((entry) => entry.name))}`;
      throw new EntryError(found?.problem ?? unknown, found);
    },
  };
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
