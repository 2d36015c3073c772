import type { Terminal } from "../host/terminal.ts";
import { printable, printableLine, usageWords } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { type ConversationJson, conversationJson } from "../service/talks/state.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { neededJournal } from "./journal_here.ts";

/** `orrery show conversation ID`: who said what, where it is, and its slots. @throws {UsageError} for a run of another kind */
export async function showConversation(
  id: string | undefined,
  { flags, terminal }: { readonly flags: { readonly json: boolean }; readonly terminal: Terminal },
): Promise<number> {
  if (id === undefined) {
    throw new UsageError([
      "orrery show conversation needs NAME: the id of a conversation, or its beginning; all: orrery list conversations",
    ], { command: "show" });
  }
  using here = await neededJournal();
  const { journal } = here;
  const record = journal.conversation(id);
  const { summary } = record;
  if (summary.kind !== "conversation") {
    throw new UsageError([
      `${summary.id} is no conversation with an agent but a run of another kind (${summary.kind}): orrery trace ${summary.id}`,
    ], { command: "show" });
  }
  const shown = conversationJson(record, (scope) => journal.slots(scope));
  await terminal.stdout.write(
    flags.json ? `${JSON.stringify(shown, null, 2)}\n` : printable(conversationPage(shown)),
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
