import type { Catalog, CatalogEntry, EntryGrant } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { didYouMean } from "../core/nearest.ts";
import { messageOf } from "../core/source_error.ts";
import type { Permissions } from "../core/world.ts";
import type { Terminal } from "../host/terminal.ts";
import { writeCalls } from "../parse/calls/write.ts";
import { duration, printable } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { containedBy } from "../run/run_gadget.ts";
import { describeSchema, type ParameterInfo } from "../schema/describe.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { gadgetJson } from "../service/look/gadgets.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantWords, permissionWords, sourceWord } from "./gadget_words.ts";
import { withCatalogHere } from "./with_catalog_here.ts";

/** `orrery show KIND NAME` and `orrery show config`. */
export async function show(
  { words, flags }: ParsedCommand<typeof COMMANDS.show>,
  terminal: Terminal,
): Promise<number> {
  const [kind = "gadget", name] = words;
  if (kind !== "prompt" && (flags.input.length > 0 || flags["input-json"] !== undefined)) {
    throw new UsageError(["--input and --input-json belong to orrery show prompt"], { command: "show" });
  }
  if (kind === "config") {
    if (name !== undefined) {
      throw new UsageError([`orrery show config takes no name; found "${name}"`], { command: "show" });
    }
    const { showConfig }: typeof import("./show_config.ts") = await import("./show_config.ts" as string);
    return await showConfig(flags, terminal);
  }
  if (kind === "conversation") {
    const { showConversation }: typeof import("./show_conversation.ts") = await import(
      "./show_conversation.ts" as string
    );
    return await showConversation(name, { flags, terminal });
  }
  if (name === undefined) {
    const what = kind === "prompt" || kind === "document" || kind === "agent"
      ? `the path of the ${kind}`
      : `the name of the ${kind}`;
    throw new UsageError([`orrery show ${kind} needs NAME: ${what}; all: orrery list ${kind}s`], {
      command: "show",
    });
  }
  if (kind === "prompt") {
    const { showPrompt }: typeof import("./show_prompt.ts") = await import("./show_prompt.ts" as string);
    return await showPrompt(name, { flags, terminal });
  }
  if (kind === "document") {
    const { showDocument }: typeof import("./show_document.ts") = await import(
      "./show_document.ts" as string
    );
    return await showDocument(name, { flags, terminal });
  }
  if (kind === "agent") {
    const { showAgent }: typeof import("./show_agent.ts") = await import("./show_agent.ts" as string);
    return await showAgent(name, { flags, terminal });
  }
  if (kind === "profile") {
    const { showProfile }: typeof import("./show_profile.ts") = await import("./show_profile.ts" as string);
    return await showProfile(name, { flags, terminal });
  }
  return await withCatalogHere(
    { flags, terminal },
    (catalog) => showGadget(name, { catalog, asJson: flags.json, terminal }),
  );
}

async function showGadget(
  name: string,
  { catalog, asJson, terminal }: {
    readonly catalog: Catalog;
    readonly asJson: boolean;
    readonly terminal: Terminal;
  },
): Promise<number> {
  const entry = catalog.maybeFind(name);
  if (entry === undefined) {
    const names = catalog.entries.map((known) => known.name);
    throw new UsageError([
      `No gadget is called "${name}".${didYouMean(name, names)} All: orrery list gadgets`,
    ], { command: "show" });
  }
  const gadget = await load(entry);
  if (typeof gadget === "string") return await sayProblem(gadget, { entry, asJson, terminal });
  const text = asJson
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

/** Everything about a gadget, for people. */
function gadgetPage(entry: CatalogEntry, gadget: AnyGadget): string {
  const parameters = gadget.input === undefined ? [] : describeSchema(gadget.input);
  const sections = [
    `${gadget.name}  (${sourceWord(entry.source)})`,
    gadget.description ?? "It has no description.",
    `Takes:\n${indented(parameters.length === 0 ? takesWhat(gadget) : parameterTable(parameters))}`,
    `Needs: ${permissionWords(gadget.permissions ?? {})}`,
    ...(entry.grant === undefined ? [] : [grantText(entry.grant(), gadget.permissions)]),
    `Limits: ${limitWords(gadget)}`,
    ...(entry.said === undefined
      ? []
      : [`Its module says while it is loaded:\n${indented(entry.said.trimEnd().split("\n"))}`]),
    ...examples(gadget, parameters),
  ];
  return `${sections.join("\n\n")}\n`;
}

function grantText(grant: EntryGrant, needs: Permissions = {}): string {
  return `Grant: ${grantWords(grant, needs)}${grant.changes.map((line) => `\n  ${line}`).join("")}`;
}

function takesWhat(gadget: AnyGadget): string[] {
  return [
    gadget.input === undefined ? "nothing that is checked" : "what its schema says, which has no description",
  ];
}

function parameterTable(parameters: readonly ParameterInfo[]): string[] {
  return table(parameters.map(({ pointer, type, required, description, default: value }) => {
    const text = [description, value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`];
    return [pointer, type, required ? "required" : "", text.filter((part) => part !== undefined).join(" ")];
  }));
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}

function limitWords(gadget: AnyGadget): string {
  const { timeoutMs, maxConcurrent, exclusive } = gadget;
  const words = [
    containedBy(gadget) !== undefined
      ? "each call as long as what runs in it"
      : `each call ${timeoutMs === undefined ? "the timeout of the run" : `at most ${duration(timeoutMs)}`}`,
    ...(maxConcurrent === undefined ? [] : [`at most ${maxConcurrent} at once`]),
    ...(exclusive === true ? ["runs alone"] : []),
  ];
  return words.join(", ");
}

function examples(gadget: AnyGadget, parameters: readonly ParameterInfo[]): string[] {
  if (gadget.examples === undefined || gadget.examples.length === 0) {
    const needed = parameters.filter(({ required, pointer }) => required && !pointer.includes("/"));
    const input = Object.fromEntries(needed.map(({ pointer, type }) => [pointer, `<${type}>`]));
    return [`A call:\n${writeCalls([{ gadgetName: gadget.name, parameters: input }])}`.trimEnd()];
  }
  return gadget.examples.map(({ input, comment }) => {
    const block = writeCalls([{ gadgetName: gadget.name, parameters: input }]);
    return `A call${comment === undefined ? "" : `, ${comment}`}:\n${block}`.trimEnd();
  });
}
