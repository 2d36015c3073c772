import type { CatalogEntry } from "../core/catalog.ts";
import { SourceError } from "../core/source_error.ts";

/** Two ready entries of one name. Only real names clash: the stem of a file that was not loaded is not one. */
export function nameClashes(entries: readonly CatalogEntry[]): readonly SourceError[] {
  const first = new Map<string, CatalogEntry>();
  const problems: SourceError[] = [];
  for (const entry of entries.filter(({ state }) => state === "ready")) {
    const other = first.get(entry.name);
    if (other === undefined) first.set(entry.name, entry);
    else problems.push(clash(entry, other));
  }
  return problems;
}

function clash(entry: CatalogEntry, other: CatalogEntry): SourceError {
  return new SourceError(`Two gadgets are named "${entry.name}": ${placeOf(other)} and ${placeOf(entry)}`, {
    code: "E-gadget",
    hint: "Rename one of them, or trust only one.",
  });
}

function placeOf({ source, name }: CatalogEntry): string {
  return "file" in source ? source.file : `the built-in ${name}`;
}
