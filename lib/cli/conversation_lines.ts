import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import { pipedMessages, typedMessages } from "./chat_lines.ts";
import type { ChatStop } from "./chat_stop.ts";
import { conversationCommands } from "./conversation_commands.ts";
import type { ConversationSession } from "../service/conversation_session.ts";
import type { ConversationWork } from "./conversation_talk.ts";

/** Who says something to an agent. */
export interface ConversationLinesOptions {
  readonly terminal: Terminal;
  readonly stop: ChatStop;
  readonly session: ConversationSession;
  /** Undefined where messages come through a pipe. */
  readonly typist: TerminalUser | undefined;
  readonly isKept: boolean;
}

/** The messages of a chat with an agent: those that are typed, or a line of stdin each. */
export function conversationLines(
  { terminal, stop, session, typist, isKept }: ConversationLinesOptions,
): ConversationWork["lines"] {
  if (typist === undefined) return () => pipedMessages(terminal, stop.signal);
  const say = (text: string) => terminal.stderr.write(text);
  const columns = () => terminal.size().columns;
  return (talk) =>
    typedMessages(typist, {
      say,
      signal: stop.signal,
      commands: conversationCommands({ session, talk, say, user: typist, columns, isKept }),
      emptyText: "The message is empty.\n",
    });
}
