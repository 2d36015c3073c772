import { type LogEntry, messageOf, type User } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { TerminalUser } from "../../host/terminal/user.ts";
import { printable } from "../../render/shown_text.ts";
import { slotLines, turnTrace } from "../../render/trace/turn.ts";
import type { ConversationSession } from "../../service/talks/session.ts";
import { type ChatCommand, type ChatStop, pipedMessages, typedMessages } from "../chat/lines.ts";
import type { ConversationTalk, ConversationWork } from "./talk.ts";

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

/** What the commands of a chat with an agent work on. */
interface ConversationCommandsOptions {
  readonly session: ConversationSession;
  readonly talk: ConversationTalk;
  readonly say: (text: string) => Promise<void>;
  /** Whoever types. */
  readonly user: User;
  /** Of the window. */
  readonly columns: () => number;
  /** Others can look at it too. */
  readonly isKept: boolean;
}

/** What can be typed besides messages. */
function conversationCommands(
  { session, talk, say, user, columns, isKept }: ConversationCommandsOptions,
): Readonly<Record<string, ChatCommand>> {
  const told = async (text: string): Promise<"on"> => {
    await say(printable(text));
    return "on";
  };
  return {
    slots: {
      help: "shows what the agent knows",
      run: () =>
        told(slotLines(session.live.slots(), { columns: columns(), whole: wholeText(session, isKept) })),
    },
    trace: {
      help: "shows what the agent did in its last turn",
      run: () => told(turnTrace(talk.turns.events) || "Nothing was done yet\n"),
    },
    back: {
      takes: "[N]",
      help: "takes back the last message, or the last N, in a new conversation",
      run: (argument) => back(argument, { session, talk, told }),
    },
    retry: {
      help: "finishes an answer that was stopped, or a step that failed",
      run: () => retry({ session, talk, told, user }),
    },
  };
}

function wholeText({ live }: ConversationSession, isKept: boolean): string {
  return isKept ? `… is cut; all of it: orrery show conversation ${live.id} --json` : "… is cut";
}

/** What was stopped in the middle of something that may not be done twice is asked about. */
async function retry(
  { session, talk, told, user }: Pick<ConversationCommandsOptions, "session" | "talk" | "user"> & {
    readonly told: (text: string) => Promise<"on">;
  },
): Promise<"on" | "over"> {
  if (session.isInterrupted && !await isSettled(session, user)) {
    return await told("Nothing was done: /retry asks again, /back takes the message back\n");
  }
  await talk.turn((live) => live.retry());
  return talk.isOver ? "over" : "on";
}

/** Asks about steps whose end is not known; false when nothing was decided. */
async function isSettled(session: ConversationSession, user: User): Promise<boolean> {
  const left = await session.settle({ user, decisions: { rerun: [], skip: [] } });
  return left.length === 0;
}

async function back(
  argument: string,
  { session, talk, told }: Pick<ConversationCommandsOptions, "session" | "talk"> & {
    readonly told: (text: string) => Promise<"on">;
  },
): Promise<"on" | "over"> {
  const count = argument === "" ? 1 : Number(argument);
  if (!Number.isSafeInteger(count) || count < 1) {
    return await told(`/back takes how many messages are taken back, from 1; found ${argument}\n`);
  }
  try {
    const { turn } = await session.back(count);
    talk.turns.begunAnew();
    const { live } = session;
    await told(
      `${live.id} goes on behind turn ${turn}; the other one stays as it was\n${lastWords(live.log)}`,
    );
    if (turn === 0) await talk.turn((begun) => begun.start());
    return talk.isOver ? "over" : "on";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return await told(`${messageOf(error)}\n`);
  }
}

/** The end of a log as it stands in a chat: the last message of the person, and what the agent said behind it. */
export function lastWords(log: readonly LogEntry[]): string {
  const from = Math.max(0, log.findLastIndex(({ who }) => who === "user"));
  return log.slice(from).map(({ who, text }) => `${who === "user" ? "> " : ""}${text}\n`).join("");
}
