// The text of an `orrery.lock` as Orrery writes it, by whoever knows how: each entry has a sum of what it says.
import { createHash } from "node:crypto";

/** What a lock has of a gadget. */
export interface LockEntry {
  readonly name: string;
  readonly file: string;
  readonly permissions: Readonly<Record<string, true | readonly string[]>>;
  /** The SHA-256 of each of its files, by its path. */
  readonly modules: Readonly<Record<string, string>>;
}

/** The SHA-256 of a text. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A lock of these gadgets, with their names and the keys of each in order. */
export function lockText(...gadgets: readonly LockEntry[]): string {
  const summed = gadgets.map((entry) => ({ ...entry, sum: hashOf(JSON.stringify(entry, sorted)) }));
  return `${JSON.stringify({ version: 1, gadgets: summed, mcpServers: [] }, null, 2)}\n`;
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}
