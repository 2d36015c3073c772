import { type LogEntry, messageOf } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { TerminalUser } from "../../host/terminal/user.ts";
import { printable } from "../../render/shown_text.ts";
import { slotLines, turnTrace } from "../../render/trace/turn.ts";
import { type ChatStop, type MessageFiles, pipedMessages, typedMessages } from "../chat/lines.ts";
import type { ConversationTalk, ConversationWork, TalkSession } from "./talk.ts";

/** Who says something to an agent. */
export interface ConversationLinesOptions {
  readonly terminal: Terminal;
  readonly stop: ChatStop;
  readonly session: TalkSession;
  /** Undefined where messages come through a pipe. */
  readonly typist: TerminalUser | undefined;
  readonly isKept: boolean;
  /** What goes with a message. */
  readonly files: MessageFiles;
  /** As in `ConversationWork`. */
  readonly there?: string;
}

/** The same for a conversation that goes on: at a terminal where nobody can type there are none. */
export function resumedLines(options: Omit<ConversationLinesOptions, "isKept">): ConversationWork["lines"] {
  const { terminal, typist } = options;
  return terminal.stdinIsTerminal && typist === undefined
    ? () => ({ next: () => Promise.resolve(undefined) })
    : conversationLines({ ...options, isKept: true });
}

/** The messages of a chat with an agent: those that are typed, or a line of stdin each. */
export function conversationLines(
  { terminal, stop: { signal }, session, typist, isKept, files, there = "" }: ConversationLinesOptions,
): ConversationWork["lines"] {
  if (typist === undefined) return () => pipedMessages(terminal, signal, files);
  const say = (text: string) => terminal.stderr.write(text);
  const emptyText = "The message is empty.\n";
  return (talk) =>
    typedMessages(typist, {
      say,
      signal,
      files,
      emptyText,
      commands: {
        slots: {
          help: "shows what the agent knows",
          async run() {
            const { id } = session.live;
            const whole = isKept
              ? `… is cut; all of it: orrery show conversation ${id} --json ${there}`.trimEnd()
              : "… is cut";
            const { columns } = terminal.size();
            await say(printable(slotLines(session.live.slots(), { columns, whole })));
            return "on";
          },
        },
        trace: {
          help: "shows what the agent did in its last turn",
          async run() {
            await say(printable(turnTrace(talk.events) || "Nothing was done yet\n"));
            return "on";
          },
        },
        back: {
          takes: "[N]",
          help: "takes back the last message, or the last N, in a new conversation",
          async run(argument) {
            const { text, turn } = await back(argument, session, talk);
            await say(printable(text));
            if (turn === 0) await talk.turn((live) => live.start());
            return turn !== undefined && talk.isOver ? "over" : "on";
          },
        },
        retry: {
          help: "finishes an answer that was stopped, or a step that failed",
          async run() {
            if (session.isInterrupted) {
              // What was stopped in the middle of something that may not be done twice is asked about.
              const left = await session.settle({ user: typist, decisions: { rerun: [], skip: [] } });
              if (left.length > 0) {
                await say("Nothing was done: /retry asks again, /back takes the message back\n");
                return "on";
              }
            }
            await talk.turn((live) => live.retry());
            return talk.isOver ? "over" : "on";
          },
        },
      },
    });
}

/** Takes messages back; gives what is said of it, and the turn behind which the conversation stands then, if it went back. */
async function back(
  argument: string,
  session: TalkSession,
  talk: ConversationTalk,
): Promise<{ readonly text: string; readonly turn?: number }> {
  const count = argument === "" ? 1 : Number(argument);
  if (!Number.isSafeInteger(count) || count < 1) {
    return { text: `/back takes how many messages are taken back, from 1; found ${argument}\n` };
  }
  try {
    const { turn } = await talk.back(count);
    const { id, log } = session.live;
    return {
      turn,
      text: `${id} goes on behind turn ${turn}; the other one stays as it was\n${lastWords(log)}`,
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { text: `${messageOf(error)}\n` };
  }
}

/** The end of a log as it stands in a chat: the last message of the person, and what the agent said behind it. */
export function lastWords(log: readonly LogEntry[]): string {
  const from = Math.max(0, log.findLastIndex(({ who }) => who === "user"));
  return log.slice(from).map(({ who, text }) => `${who === "user" ? "> " : ""}${text}\n`).join("");
}
