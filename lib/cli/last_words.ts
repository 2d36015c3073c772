import type { LogEntry } from "../core/conversation.ts";

/** The end of a log as it stands in a chat: the last message of the person, and what the agent said behind it. */
export function lastWords(log: readonly LogEntry[]): string {
  const from = Math.max(0, log.findLastIndex(({ who }) => who === "user"));
  return log.slice(from).map(({ who, text }) => `${who === "user" ? "> " : ""}${text}\n`).join("");
}
