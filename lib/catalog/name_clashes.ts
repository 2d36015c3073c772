import type { CatalogEntry } from "../core/catalog.ts";
import { mcpNamePart } from "../core/mcp_server.ts";
import { SourceError } from "../core/source_error.ts";
import { foldName } from "./catalog_of.ts";

/**
 * Two ready entries of one name, or one that is called like a built-in but for case, `_` and `-`. Only real names clash: the stem of a file
 * that was not loaded is not one.
 */
export function nameClashes(entries: readonly CatalogEntry[]): readonly SourceError[] {
  const first = new Map<string, CatalogEntry>();
  const problems: SourceError[] = [];
  const builtIns = new Map<string, CatalogEntry>();
  for (const entry of entries.filter(({ state }) => state === "ready")) {
    const other = first.get(entry.name) ?? builtIns.get(foldName(entry.name));
    if (entry.source.kind === "built-in") builtIns.set(foldName(entry.name), entry);
    if (other === undefined) first.set(entry.name, entry);
    else problems.push(clash(entry, other));
  }
  return problems;
}

/** Servers that are called like a built-in gadget: whoever trusts the one would trust the other. */
export function serverClashes(
  servers: readonly string[],
  builtIns: readonly CatalogEntry[],
): readonly SourceError[] {
  return servers.flatMap((server) => {
    const other = builtIns.find(({ name }) => foldName(name) === foldName(mcpNamePart(server)));
    return other === undefined ? [] : [calledLike(`The MCP server ${JSON.stringify(server)}`, other)];
  });
}

function clash(entry: CatalogEntry, other: CatalogEntry): SourceError {
  if (entry.name !== other.name) return calledLike(`The gadget "${entry.name}" (${placeOf(entry)})`, other);
  return new SourceError(`Two gadgets are named "${entry.name}": ${placeOf(other)} and ${placeOf(entry)}`, {
    code: "E-gadget",
    hint: "Rename one of them, or trust only one.",
  });
}

function calledLike(what: string, builtIn: CatalogEntry): SourceError {
  return new SourceError(`${what} is called like ${placeOf(builtIn)}`, {
    code: "E-gadget",
    hint: "Rename it: case, _ and - do not tell it from the built-in one.",
  });
}

function placeOf({ source, name }: CatalogEntry): string {
  return "file" in source ? source.file : `the built-in ${name}`;
}
