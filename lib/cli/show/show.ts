import type { Kind, LookedFile } from "../../service/kinds/kind.ts";
import { aFile, assertNoResult } from "../../service/kinds/kinds.ts";
import {
  type AnyGadget,
  type CatalogEntry,
  didYouMean,
  type EntryGrant,
  type Permissions,
  type RunSummary,
  typedPath,
} from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { writeCalls } from "../../parse/calls/write.ts";
import { duration, printable, printableLine, usageWords } from "../../render/shown_text.ts";
import { table } from "../../render/cells.ts";
import { describeSchema, type ParameterInfo } from "../../schema/describe.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { callTime, gadgetJson, loadedGadget } from "../../service/look/gadgets.ts";
import { type ConversationJson, conversationJson } from "../../service/talks/state.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantWords, permissionWords, sourceWord } from "../gadget_words.ts";
import { openApp } from "../../service/app.ts";
import { fileHere, withCatalogHere } from "../here.ts";
import { showConfig } from "./config.ts";
import { type ShowOptions, showProfile, showPrompt } from "./prompt.ts";
import { problemText, tell, type Told } from "../page.ts";
import { indented, pageOf } from "../../render/page_text.ts";

/** `orrery show KIND NAME` and `orrery show config`. */
export async function show(
  { words: [kind = "", name], flags }: ParsedCommand<typeof COMMANDS.show>,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  if (kind !== "prompt" && (flags.input.length > 0 || flags["input-json"] !== undefined)) {
    throw new UsageError("--input and --input-json belong to orrery show prompt", "show");
  }
  if (kind === "config" && name !== undefined) {
    throw new UsageError(`orrery show config takes no name; found "${name}"`, "show");
  }
  if (kind !== "config") assertNamed(kind, name);
  const row = kinds.find(({ file, show }) => show !== undefined && file?.word === kind);
  if (row !== undefined) assertNoResult(name ?? "", kinds, "show");
  const told = row === undefined
    ? await (PAGES[kind] ?? showGadget)(name ?? "", { flags, terminal })
    : await toldFile(row, name ?? "", { terminal, look: fileHere });
  return typeof told === "number" ? told : await tell(told, flags, terminal);
}

/** @throws {UsageError} where nothing is named */
export function assertNamed(kind: string, name = ""): void {
  if (name !== "") return;
  const what = NAMES[kind] ?? `the path of the ${kind}`;
  throw new UsageError(`orrery show ${kind} needs NAME: ${what}; all: orrery list ${kind}s`, "show");
}

/** What names a thing that is not named by a path. */
const NAMES: Readonly<Record<string, string>> = {
  gadget: "the name of the gadget",
  profile: "the name of the profile",
  conversation: "the id of a conversation, or its beginning",
};

/** A thing in each of its forms, or the exit code when that was told already. */
const PAGES: Readonly<Record<string, (name: string, options: ShowOptions) => Promise<Told | number>>> = {
  prompt: showPrompt,
  profile: showProfile,
  conversation: showConversation,
  config: showConfig,
};

/** A file in each of its forms, or the exit code when that was told already. @param options.look gives it; it is no other kind's */
export async function toldFile(
  { file, show }: Kind,
  word: string,
  { terminal, look }: { readonly terminal: Terminal; look(word: string): Promise<LookedFile> },
): Promise<Told | number> {
  if (file?.is(word) === false) {
    const [ending] = file.endings.split(", ");
    const wanted = `${aFile(file)}: expected a file that ends with "${ending}"`;
    throw new UsageError(`Cannot show ${JSON.stringify(word)} as ${wanted}`, "show");
  }
  const looked = await look(word);
  const shown = await (await show?.())?.show(looked);
  if (shown === undefined || "refused" in shown) {
    await terminal.stderr.write(shown?.refused ?? "");
    return EXIT.usage;
  }
  const { problems = [], ...told } = shown;
  return { ...told, notes: problemText(problems, typedPath(looked.file, looked.project)) };
}

async function showGadget(name: string, { flags, terminal }: ShowOptions): Promise<Told | number> {
  let code: number | undefined;
  const told = await withCatalogHere({ flags, terminal }, async (catalog) => {
    const entry = catalog.maybeFind(name);
    if (entry === undefined) {
      const near = didYouMean(name, catalog.entries.map((known) => known.name));
      throw new UsageError(`No gadget is called "${name}".${near} All: orrery list gadgets`, "show");
    }
    const { gadget, problem = "", state } = await loadedGadget(entry);
    if (gadget !== undefined) {
      return { json: gadgetJson(entry, gadget), text: printable(gadgetPage(entry, gadget)) };
    }
    await terminal.stderr.write(printable(`error: ${problem}\n`));
    code = state === "not-trusted" ? EXIT.refused : EXIT.failed;
    return { json: { name: entry.name, source: entry.source, state, problem }, text: "" };
  });
  if (code === undefined || typeof told === "number") return told;
  await tell(told, flags, terminal);
  return code;
}

/** Everything about a gadget, for people. */
function gadgetPage(entry: CatalogEntry, gadget: AnyGadget): string {
  const parameters = gadget.input === undefined ? [] : describeSchema(gadget.input);
  return pageOf([
    `${gadget.name}  (${sourceWord(entry.source)})`,
    gadget.description ?? "It has no description.",
    `Takes:\n${indented(parameters.length === 0 ? takesWhat(gadget) : parameterTable(parameters))}`,
    `Needs: ${permissionWords(gadget.permissions ?? {})}`,
    entry.grant === undefined ? "" : grantText(entry.grant(), gadget.permissions),
    `Limits: ${limitWords(gadget)}`,
    entry.said === undefined ? "" : `Its module says while it is loaded:\n${indented(entry.said.trimEnd())}`,
    ...examples(gadget, parameters),
  ]);
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
  const { maxConcurrent, exclusive } = gadget;
  const timeoutMs = callTime(gadget);
  const words = [
    timeoutMs === Infinity
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
async function showConversation(word: string): Promise<Told> {
  using app = await openApp();
  const journal = await app.neededJournal();
  const record = journal.conversation(word);
  assertConversation(record.summary);
  return toldConversation(conversationJson(record, (scope) => journal.slots(scope)));
}

/** @param there what a command about it ends with @throws {UsageError} for a run of another kind */
export function assertConversation(
  { id, kind }: Pick<RunSummary, "id" | "kind">,
  there = "",
): void {
  if (kind === "conversation") return;
  throw new UsageError(
    `${id} is no conversation with an agent but a run of another kind (${kind}): ${
      `orrery trace ${id} ${there}`.trimEnd()
    }`,
    "show",
  );
}

/** A conversation in each of its forms. */
export function toldConversation(shown: ConversationJson): Told {
  return { json: shown, text: printable(conversationPage(shown)) };
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
