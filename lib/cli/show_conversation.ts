import type { Terminal } from "../host/terminal.ts";
import { printable } from "../render/shown_text.ts";
import { conversationJson } from "../service/conversation_json.ts";
import { conversationPage } from "./conversation_page.ts";
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
