import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import { GADGET_NAME } from "../core/gadget.ts";
import type { Terminal } from "../host/terminal.ts";
import { printableLine } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { loadedGadget } from "../service/loaded_gadget.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantWords, permissionWords, sourceWord } from "./gadget_words.ts";
import { checkOneForm } from "./one_form.ts";
import { withCatalogHere } from "./with_catalog_here.ts";

type ListCommand = ParsedCommand<typeof COMMANDS.list>;
type ListFlags = ListCommand["flags"];

/** `orrery list KIND`. */
export async function list({ words, flags }: ListCommand, terminal: Terminal): Promise<number> {
  const [kind] = words;
  checkOneForm(flags, "list");
  if (flags["write-types"].length > 0 && kind !== "prompts") {
    throw new UsageError(["--write-types belongs to orrery list prompts"], { command: "list" });
  }
  if (kind === "models") {
    const { listModels }: typeof import("./list_models.ts") = await import("./list_models.ts" as string);
    return await listModels(flags, terminal);
  }
  if (kind === "runs" || kind === "conversations") {
    const { runs }: typeof import("./runs.ts") = await import("./runs.ts" as string);
    const only = kind === "conversations" ? { kind: "conversation" } : {};
    return await runs({ flags: { ...flags, all: true }, ...only }, terminal);
  }
  if (kind === "documents") {
    const { listDocuments }: typeof import("./list_documents.ts") = await import(
      "./list_documents.ts" as string
    );
    return await listDocuments(flags, terminal);
  }
  if (kind === "agents") {
    const { listAgents }: typeof import("./list_agents.ts") = await import("./list_agents.ts" as string);
    return await listAgents(flags, terminal);
  }
  if (kind === "prompts" || kind === "profiles") return await listOfPrompts(kind, flags, terminal);
  // Names are for a shell that completes a word: no server is started for that.
  return await withCatalogHere({ flags, terminal, servers: !flags.names }, async (catalog) => {
    if (kind === undefined) return await listEverything(catalog, flags, terminal);
    if (flags.names) await terminal.stdout.write(gadgetNames(catalog).map((name) => `${name}\n`).join(""));
    else if (flags.json) await terminal.stdout.write(jsonText(jsonOf(await rowsOf(catalog))));
    else await writeGadgets(await rowsOf(catalog), terminal);
    return EXIT.ok;
  });
}

async function listOfPrompts(
  kind: "prompts" | "profiles",
  flags: ListFlags,
  terminal: Terminal,
): Promise<number> {
  const { promptsHere }: typeof import("./prompts_here.ts") = await import("./prompts_here.ts" as string);
  const here = await promptsHere({ flags, terminal });
  if (kind === "profiles") {
    const { listProfiles }: typeof import("./list_profiles.ts") = await import(
      "./list_profiles.ts" as string
    );
    return await listProfiles(here.index, flags, terminal);
  }
  if (flags["write-types"].length > 0) {
    const { writeTypes }: typeof import("./write_types.ts") = await import("./write_types.ts" as string);
    return await writeTypes(here, flags, terminal);
  }
  const { listPrompts }: typeof import("./list_prompts.ts") = await import("./list_prompts.ts" as string);
  return await listPrompts(here.index, flags, terminal);
}

/** Without a kind: gadgets, and the prompts, tactics and profiles of a project that has some. */
async function listEverything(catalog: Catalog, flags: ListFlags, terminal: Terminal): Promise<number> {
  const { promptsHere }: typeof import("./prompts_here.ts") = await import("./prompts_here.ts" as string);
  const prompts: typeof import("./list_prompts.ts") = await import("./list_prompts.ts" as string);
  const profiles: typeof import("./list_profiles.ts") = await import("./list_profiles.ts" as string);
  const { index } = await promptsHere({ flags, terminal, tellsNotices: false }); // the catalogue has told them
  if (flags.names) {
    const names = [...gadgetNames(catalog), ...prompts.promptNames(index), ...profiles.profileNames(index)];
    await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
    return EXIT.ok;
  }
  const rows = await rowsOf(catalog);
  const { problems } = index;
  if (flags.json) {
    const ofPrompts = { ...prompts.promptsJson(index), ...profiles.profilesJson(index), problems };
    await terminal.stdout.write(jsonText({ gadgets: jsonOf(rows), ...ofPrompts }));
    return EXIT.ok;
  }
  const tables = [prompts.promptTables(index), profiles.profileTable(index)];
  await terminal.stdout.write(
    [tableText(rows), ...tables].filter((text) => text !== "").join("\n"),
  );
  await terminal.stderr.write(
    problemText(rows) + prompts.problemLines(problems, index) + prompts.notLoadedLine(index),
  );
  return EXIT.ok;
}

/** A file of the project can have any name: only what can be called is told, so that no script reads more than a name. */
function gadgetNames(catalog: Catalog): readonly string[] {
  return catalog.entries.map(({ name }) => name).filter((name) => GADGET_NAME.test(name));
}

async function rowsOf(catalog: Catalog): Promise<readonly ListRow[]> {
  return await Promise.all(catalog.entries.map(describe));
}

async function writeGadgets(rows: readonly ListRow[], terminal: Terminal): Promise<void> {
  await terminal.stdout.write(tableText(rows));
  await terminal.stderr.write(problemText(rows));
}

function jsonOf(rows: readonly ListRow[]): readonly unknown[] {
  return rows.map(({ json }) => json);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

interface ListRow {
  readonly cells: readonly string[];
  /** Somebody has the say over it. */
  readonly hasGrant: boolean;
  readonly json: unknown;
  readonly state: CatalogEntry["state"];
  readonly problem: string | undefined;
}

async function describe(entry: CatalogEntry): Promise<ListRow> {
  const { gadget, problem } = await loadedGadget(entry);
  const state = problem !== undefined && entry.state === "ready" ? "broken" : entry.state;
  const permissions = gadget?.permissions ?? {};
  const needs = gadget === undefined ? "?" : permissionWords(permissions);
  const grant = entry.grant?.();
  return {
    state,
    problem,
    hasGrant: grant !== undefined,
    cells: [
      entry.name,
      sourceWord(entry.source),
      state,
      needs,
      grant === undefined ? "" : grantWords(grant, permissions),
    ]
      .map(printableLine),
    json: {
      name: entry.name,
      source: entry.source,
      state,
      ...(problem === undefined ? {} : { problem }),
      ...(gadget === undefined ? {} : { description: gadget.description ?? "", permissions }),
      ...(grant !== undefined && { grant }),
    },
  };
}

function tableText(rows: readonly ListRow[]): string {
  const all = [["NAME", "SOURCE", "STATE", "NEEDS", "GRANT"], ...rows.map(({ cells }) => cells)];
  // Only gadgets of modules have one, and those that settings name.
  const shown = rows.some(({ hasGrant }) => hasGrant) ? all : all.map((cells) => cells.slice(0, -1));
  return `${table(shown).join("\n")}\n`;
}

/** What is broken, one by one; what is only not trusted is meant to be so, and told once. */
function problemText(rows: readonly ListRow[]): string {
  const broken = rows.filter(({ state }) => state === "broken").map(({ problem = "" }) =>
    `${printableLine(problem)}\n`
  );
  const untrusted = rows.filter(({ state }) => state === "not-trusted").length;
  const told = untrusted === 0
    ? ""
    : `${untrusted} not trusted, so not started; to start one, add --trust NAME, and for good: orrery trust allow NAME\n`;
  return broken.join("") + told;
}
