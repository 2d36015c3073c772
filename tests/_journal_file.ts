// Journals of projects in folders that are gone afterwards, and what stands in place of secrets there.

import { dirname, join } from "node:path";
import { type Journal, type JournalOptions, openJournal } from "../mod.ts";

type Secrets = NonNullable<JournalOptions["secrets"]>;

/** Where the database of a project is. */
export function databaseOf(root: string): string {
  return join(root, ".orrery", "orrery.db");
}

/** Opens the journal whose database is at this path. */
export function journalAt(path: string, options: { readonly secrets?: Secrets } = {}): Journal {
  return openJournal(dirname(dirname(path)), options);
}

/** A path for a database in a folder that is gone afterwards. */
export async function withDatabaseFile(work: (path: string) => void | Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-journal-" }));
  try {
    await Deno.mkdir(join(root, ".orrery"));
    await work(databaseOf(root));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** One secret that is known by this text alone. */
export function oneSecret(name: string, value: string): Secrets {
  const mask = (text: string): string => text.replaceAll(value, `[secret ${name}]`);
  return {
    add: () => undefined,
    mask,
    maskJson: (json) => JSON.parse(mask(JSON.stringify(json))),
    stream: () => ({ push: mask, end: () => "" }),
  };
}
