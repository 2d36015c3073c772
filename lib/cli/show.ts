import type { CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { didYouMean } from "../core/nearest.ts";
import { messageOf } from "../core/source_error.ts";
import type { Terminal } from "../host/terminal.ts";
import { printable } from "../render/printable.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { gadgetJson } from "./gadget_json.ts";
import { gadgetPage } from "./gadget_page.ts";
import { openCatalogHere } from "./open_catalog_here.ts";
import { UsageError } from "./usage_error.ts";

/** `orrery show gadget NAME`. */
export async function show(
  { words, flags }: ParsedCommand<typeof COMMANDS.show>,
  terminal: Terminal,
): Promise<number> {
  const name = words[1] ?? "";
  const catalog = await openCatalogHere(flags, terminal);
  const entry = catalog.maybeFind(name);
  if (entry === undefined) {
    const names = catalog.entries.map((known) => known.name);
    throw new UsageError([
      `No gadget is called "${name}".${didYouMean(name, names)} All: orrery list gadgets`,
    ], { command: "show" });
  }
  const gadget = await load(entry);
  if (typeof gadget === "string") return await sayProblem(gadget, { entry, asJson: flags.json, terminal });
  const text = flags.json
    ? `${JSON.stringify(gadgetJson(entry, gadget), null, 2)}\n`
    : printable(gadgetPage(entry, gadget));
  await terminal.stdout.write(text);
  return EXIT.ok;
}

async function load(entry: CatalogEntry): Promise<AnyGadget | string> {
  if (entry.state !== "ready") return entry.problem ?? entry.state;
  try {
    return await entry.load();
  } catch (error) {
    return messageOf(error);
  }
}

async function sayProblem(
  problem: string,
  { entry, asJson, terminal }: {
    readonly entry: CatalogEntry;
    readonly asJson: boolean;
    readonly terminal: Terminal;
  },
): Promise<number> {
  const state = entry.state === "ready" ? "broken" : entry.state;
  if (asJson) {
    await terminal.stdout.write(
      `${JSON.stringify({ name: entry.name, source: entry.source, state, problem }, null, 2)}\n`,
    );
  }
  await terminal.stderr.write(printable(`error: ${problem}\n`));
  return state === "not-trusted" ? EXIT.refused : EXIT.failed;
}
