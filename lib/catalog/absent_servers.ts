// MCP servers of a project that its user has not accepted, or not as it is now: they count as absent, so no list has them, but a call of one is
// no mistake of its name. It is refused, with what would let the server count.
import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import { mcpNamePart, mcpNameParts } from "../core/mcp_server.ts";
import { shownWord } from "../core/shown_word.ts";

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
