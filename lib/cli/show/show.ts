import {
  type AnyGadget,
  type Catalog,
  type CatalogEntry,
  didYouMean,
  type EntryGrant,
  type Permissions,
} from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { writeCalls } from "../../parse/calls/write.ts";
import { duration, printable, printableLine, usageWords } from "../../render/shown_text.ts";
import { table } from "../../render/cells.ts";
import { containedBy } from "../../run/calls/gadget.ts";
import { describeSchema, type ParameterInfo } from "../../schema/describe.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { gadgetJson, loadedGadget } from "../../service/look/gadgets.ts";
import { type ConversationJson, conversationJson } from "../../service/talks/state.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantWords, permissionWords, sourceWord } from "../gadget_words.ts";
import { neededJournal, withCatalogHere } from "../here.ts";
import { showAgent } from "./agent.ts";
import { showConfig } from "./config.ts";
import { showDocument } from "./document.ts";
import { type ShowOptions, showProfile, showPrompt } from "./prompt.ts";
import { indented, jsonPage } from "../page.ts";

/** `orrery show KIND NAME` and `orrery show config`. */
export async function show(
  { words, flags }: ParsedCommand<typeof COMMANDS.show>,
  terminal: Terminal,
): Promise<number> {
  const [kind = "gadget", name] = words;
  if (kind !== "prompt" && (flags.input.length > 0 || flags["input-json"] !== undefined)) {
    throw new UsageError("--input and --input-json belong to orrery show prompt", "show");
  }
  if (kind === "config") {
    if (name !== undefined) {
      throw new UsageError(`orrery show config takes no name; found "${name}"`, "show");
    }
    return await showConfig(flags, terminal);
  }
  if (kind === "conversation") {
    return await showConversation(name, { flags, terminal });
  }
  if (name === undefined) {
    const what = kind === "profile" || kind === "gadget" ? "name" : "path";
    throw new UsageError(
      `orrery show ${kind} needs NAME: the ${what} of the ${kind}; all: orrery list ${kind}s`,
      "show",
    );
  }
  const showOne = PAGES.get(kind);
  if (showOne !== undefined) return await showOne(name, { flags, terminal });
  return await withCatalogHere(
    { flags, terminal },
    (catalog) => showGadget(name, { catalog, asJson: flags.json, terminal }),
  );
}

const PAGES: ReadonlyMap<string, (name: string, options: ShowOptions) => Promise<number>> = new Map([
  ["prompt", showPrompt],
  ["document", showDocument],
  ["agent", showAgent],
  ["profile", showProfile],
]);

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
    throw new UsageError(
      `No gadget is called "${name}".${didYouMean(name, names)} All: orrery list gadgets`,
      "show",
    );
  }
  const { gadget, problem = "", state } = await loadedGadget(entry);
  if (gadget === undefined) return await sayProblem(problem, { entry, state, asJson, terminal });
  const text = asJson ? jsonPage(gadgetJson(entry, gadget)) : printable(gadgetPage(entry, gadget));
  await terminal.stdout.write(text);
  return EXIT.ok;
}

async function sayProblem(
  problem: string,
  { entry, state, asJson, terminal }: {
    readonly entry: CatalogEntry;
    readonly state: CatalogEntry["state"];
    readonly asJson: boolean;
    readonly terminal: Terminal;
  },
): Promise<number> {
  if (asJson) {
    await terminal.stdout.write(
      jsonPage({ name: entry.name, source: entry.source, state, problem }),
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
      : [`Its module says while it is loaded:\n${indented(entry.said.trimEnd())}`]),
    ...examples(gadget, parameters),
  ];
  return `${sections.join("\n\n")}\n`;
}

function grantText(grant: EntryGrant, needs: Permissions = {}): string {
  return `Grant: ${grantWords(grant, needs)}${grant.changes.map((line) => `\n  ${line}`).join("")}`;
}

function takesWhat(gadget: AnyGadget): string {
  return gadget.input === undefined
    ? "nothing that is checked"
    : "what its schema says, which has no description";
}

function parameterTable(parameters: readonly ParameterInfo[]): string {
  const rows = parameters.map(({ pointer, type, required, description, default: value }) => {
    const text = [description, value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`];
    return [pointer, type, required ? "required" : "", text.filter((part) => part !== undefined).join(" ")];
  });
  return table(rows).join("\n");
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

/** `orrery show conversation ID`: who said what, where it is, and its slots. @throws {UsageError} for a run of another kind */
async function showConversation(
  id: string | undefined,
  { flags, terminal }: { readonly flags: { readonly json: boolean }; readonly terminal: Terminal },
): Promise<number> {
  if (id === undefined) {
    throw new UsageError(
      "orrery show conversation needs NAME: the id of a conversation, or its beginning; all: orrery list conversations",
      "show",
    );
  }
  using here = await neededJournal();
  const { journal } = here;
  const record = journal.conversation(id);
  const { summary } = record;
  if (summary.kind !== "conversation") {
    throw new UsageError(
      `${summary.id} is no conversation with an agent but a run of another kind (${summary.kind}): orrery trace ${summary.id}`,
      "show",
    );
  }
  const shown = conversationJson(record, (scope) => journal.slots(scope));
  await terminal.stdout.write(
    flags.json ? jsonPage(shown) : printable(conversationPage(shown)),
  );
  return EXIT.ok;
}

/** A conversation for people: where it is, who said what, and the slots. */
function conversationPage(shown: ConversationJson): string {
  const slots = Object.entries(shown.slots).map(([name, value]) => [
    name,
    printableLine(JSON.stringify(value)),
  ]);
  return [
    headText(shown),
    ...shown.messages.map(({ who, text }) => `\n${who === "user" ? `> ${text}` : text}\n`),
    ...(slots.length === 0 ? [] : [`\nSlots\n${table(slots).map((line) => `  ${line}\n`).join("")}`]),
  ].join("");
}

function headText(shown: ConversationJson): string {
  const { id, agent, file, status, at, error, user, module, session, turns, usage } = shown;
  const tokens = usageWords(usage);
  const place = at.length === 0 ? "" : ` at ${at.join(", ")}`;
  const lines = [
    `${id}  ${agent} (${file})  ${status}${place}  ${turns} ${turns === 1 ? "turn" : "turns"}${
      tokens === "" ? "" : `  ${tokens}`
    }`,
    `user ${user}, module ${module}, session ${session}`,
    ...(error === undefined ? [] : [`error: ${error}`]),
  ];
  return lines.map((line) => `${printableLine(line)}\n`).join("");
}
