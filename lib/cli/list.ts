import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { GADGET_NAME } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import type { Terminal } from "../host/terminal.ts";
import { printableLine } from "../render/printable.ts";
import { table } from "../render/table.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { permissionWords, sourceWord } from "./gadget_words.ts";
import { withCatalogHere } from "./with_catalog_here.ts";

/** `orrery list KIND`. */
export async function list(
  { words, flags }: ParsedCommand<typeof COMMANDS.list>,
  terminal: Terminal,
): Promise<number> {
  if (words[0] === "models") {
    const { listModels }: typeof import("./list_models.ts") = await import("./list_models.ts" as string);
    return await listModels(flags, terminal);
  }
  if (words[0] === "runs") {
    const { runs }: typeof import("./runs.ts") = await import("./runs.ts" as string);
    return await runs({ flags: { ...flags, all: true } }, terminal);
  }
  // Names are for a shell that completes a word: no server is started for that.
  return await withCatalogHere({ flags, terminal, servers: !flags.names }, async (catalog) => {
    if (flags.names) await listNames(catalog, terminal);
    else await listGadgets(catalog, { asJson: flags.json, terminal });
    return EXIT.ok;
  });
}

/** A file of the project can have any name: only what can be called is told, so that no script reads more than a name. */
async function listNames(catalog: Catalog, terminal: Terminal): Promise<void> {
  const names = catalog.entries.map(({ name }) => name).filter((name) => GADGET_NAME.test(name));
  await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
}

async function listGadgets(
  catalog: Catalog,
  { asJson, terminal }: { readonly asJson: boolean; readonly terminal: Terminal },
): Promise<void> {
  const rows = await Promise.all(catalog.entries.map(describe));
  await terminal.stdout.write(
    asJson ? `${JSON.stringify(rows.map(({ json }) => json), null, 2)}\n` : tableText(rows),
  );
  if (!asJson) await terminal.stderr.write(problemText(rows));
}

interface ListRow {
  readonly cells: readonly string[];
  readonly json: unknown;
  readonly state: CatalogEntry["state"];
  readonly problem: string | undefined;
}

async function describe(entry: CatalogEntry): Promise<ListRow> {
  const { gadget, problem } = await load(entry);
  const state = problem !== undefined && entry.state === "ready" ? "broken" : entry.state;
  const permissions = gadget?.permissions ?? {};
  const needs = gadget === undefined ? "?" : permissionWords(permissions);
  return {
    state,
    problem,
    cells: [entry.name, sourceWord(entry.source), state, needs].map(printableLine),
    json: {
      name: entry.name,
      source: entry.source,
      state,
      ...(problem === undefined ? {} : { problem }),
      ...(gadget === undefined ? {} : { description: gadget.description ?? "", permissions }),
    },
  };
}

async function load(
  entry: CatalogEntry,
): Promise<{ readonly gadget?: AnyGadget; readonly problem?: string }> {
  if (entry.state !== "ready") return { problem: entry.problem ?? entry.state };
  try {
    return { gadget: await entry.load() };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function tableText(rows: readonly ListRow[]): string {
  return `${table([["NAME", "SOURCE", "STATE", "NEEDS"], ...rows.map(({ cells }) => cells)]).join("\n")}\n`;
}

/** What is broken, one by one; what is only not trusted is meant to be so, and told once. */
function problemText(rows: readonly ListRow[]): string {
  const broken = rows.filter(({ state }) => state === "broken").map(({ problem = "" }) =>
    `${printableLine(problem)}\n`
  );
  const untrusted = rows.filter(({ state }) => state === "not-trusted").length;
  const told = untrusted === 0
    ? ""
    : `${untrusted} not trusted, so not loaded; to load one, add --trust NAME\n`;
  return broken.join("") + told;
}
