import {
  type Catalog,
  type CatalogEntry,
  didYouMean,
  EntryError,
  mcpNamePart,
  mcpNameParts,
  shownWord,
} from "../../core/core.ts";

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

// MCP servers of a project that its user has not accepted, or not as it is now: they count as absent, so no list has them, but a call of one is
// no mistake of its name. It is refused, with what would let the server count.

/** A server that counts as absent, and where it is configured, as messages name it. */
export interface AbsentServer {
  readonly name: string;
  readonly file: string;
}

const FLAG = "--trust-project";

/** The catalogue, in which the gadgets of such servers are found as not trusted. */
export function withAbsentServers(catalog: Catalog, servers: readonly AbsentServer[]): Catalog {
  const parts = mcpNameParts(servers.map(({ name }) => name));
  const absent = servers.map((server) => ({
    prefix: `${parts.get(server.name)}__`,
    entry: entryOf(server),
  }));
  return {
    entries: catalog.entries,
    maybeFind: (name) =>
      catalog.maybeFind(name) ?? absent.find(({ prefix }) => name.startsWith(prefix))?.entry,
    whole: catalog.whole,
    close: catalog.close,
  };
}

function entryOf({ name, file }: AbsentServer): CatalogEntry {
  const own = mcpNamePart(name);
  const problem =
    `MCP server ${JSON.stringify(name)} (${shownWord(file)}) counts as absent, since you have not ` +
    `accepted this project, or not as it is now: run with ${FLAG}, and with --trust ${own} where the server is not allowed yet`;
  return {
    name: own,
    source: { kind: "mcp", server: name, file },
    state: "not-trusted",
    problem,
    flag: FLAG,
    load() {
      throw new Error(problem);
    },
  };
}
