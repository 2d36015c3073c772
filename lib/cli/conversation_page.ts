import { printableLine, usageWords } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import type { ConversationJson } from "../service/conversation_json.ts";

/** A conversation for people: where it is, who said what, and the slots. */
export function conversationPage(shown: ConversationJson): string {
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
