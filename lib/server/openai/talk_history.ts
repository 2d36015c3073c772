// What a client remembers of a conversation with an agent, and what the agent's own log has of it: the same, when it is the same one.
import { sha256 } from "../../core/core.ts";
import type { TalkState } from "../../service/service.ts";
import { HttpProblem } from "../problem.ts";
import { BETWEEN } from "./answer.ts";
import { chatMessages } from "./messages.ts";
import { badField } from "./problem.ts";
import type { ChatBody } from "./schemas.ts";

/** Something that was said. */
export interface Said {
  readonly who: "user" | "agent";
  readonly text: string;
}

/** What was said before, and what is said now. */
export interface TalkRequest {
  readonly before: readonly Said[];
  readonly message: string;
}

/** Reads the messages of a request to an agent. @throws {HttpProblem} */
export function talkRequest(body: ChatBody): TalkRequest {
  const said = chatMessages(body.messages).map((message, index): Said => {
    const at = `messages[${index}]`;
    if (message.role === "system") {
      throw new HttpProblem(
        400,
        "system_not_supported",
        `${at}: an agent has instructions of its own, and takes no message of the role system or developer`,
        { more: { param: at } },
      );
    }
    if (message.role === "tool" || (message.role === "assistant" && message.calls !== undefined)) {
      throw badField(
        at,
        "an agent calls its tools by itself; its messages are of user and assistant",
        "tools_not_supported",
      );
    }
    const { role, content } = message;
    if (typeof content !== "string") {
      throw badField(`${at}.content`, "an agent takes text, and no images or files", "unsupported_value");
    }
    return { who: role === "user" ? "user" : "agent", text: content };
  });
  const last = said.at(-1);
  if (last?.who !== "user") {
    throw badField(`messages[${said.length - 1}].role`, 'the last message has to be of the role "user"');
  }
  return { before: said.slice(0, -1), message: last.text };
}

/**
 * The same history in the form in which two are compared: what the agent said in a row is one text, and what it said before anybody spoke
 * is left out.
 */
export function comparable(history: readonly Said[]): readonly Said[] {
  const joined: Said[] = [];
  for (const { who, text } of history) {
    const before = joined.at(-1);
    const said = text.trim();
    if (who === "agent" && (said === "" || before === undefined)) continue;
    if (who === "agent" && before?.who === "agent") {
      joined.splice(-1, 1, { who, text: `${before.text}${BETWEEN}${said}` });
    } else joined.push({ who, text: said });
  }
  return joined;
}

/** What is in the log: without what a turn that has not ended began with. */
export function answeredOf(messages: TalkState["messages"]): TalkState["messages"] {
  return messages.filter(({ answered }) => answered === undefined);
}

/** Whether a history is what the log has. What an agent says first may have been told with its first answer. */
export function isHistoryOf(before: readonly Said[], messages: TalkState["messages"]): boolean {
  const log = answeredOf(messages).map(({ role, text }): Said => ({
    who: role === "user" ? "user" : "agent",
    text,
  }));
  const wanted = JSON.stringify(comparable(before));
  return wanted === JSON.stringify(comparable(log)) ||
    wanted === JSON.stringify(comparable(greetingBehind(log)));
}

function greetingBehind(log: readonly Said[]): readonly Said[] {
  const first = log.findIndex(({ who }) => who === "user");
  return [...log.slice(first, first + 1), ...log.slice(0, Math.max(0, first)), ...log.slice(first + 1)];
}

/** A conversation, as it stood when its last answer was told. */
interface RememberedTalk {
  readonly id: string;
  /** The number of its last message. */
  readonly last: number;
}

/** Whose history it is. */
export interface TalkOwner {
  /** The file of the agent. */
  readonly agent: string;
  readonly user: string | undefined;
}

const MOST = 1_000;

/** Which conversation has which history, of those that were answered last. Texts are known by their hash alone. */
export class TalkMemory {
  readonly #talks = new Map<string, RememberedTalk>();

  find(owner: TalkOwner, history: readonly Said[]): RememberedTalk | undefined {
    return this.#talks.get(keyOf(owner, history));
  }

  keep(owner: TalkOwner, history: readonly Said[], talk: RememberedTalk): void {
    const key = keyOf(owner, history);
    this.#talks.delete(key); // so that it becomes the newest
    this.#talks.set(key, talk);
    for (const oldest of this.#talks.keys()) {
      if (this.#talks.size <= MOST) break;
      this.#talks.delete(oldest);
    }
  }
}

function keyOf({ agent, user = "" }: TalkOwner, history: readonly Said[]): string {
  return sha256(JSON.stringify([agent, user, comparable(history)]));
}
