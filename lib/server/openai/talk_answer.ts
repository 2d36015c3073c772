// Answers of agents. The client sends all that was said each time; the conversation that it means is found by that, or named.
import {
  addUsage,
  type MediaPart,
  type RunEvent,
  sha256,
  splitWords,
  type Usage,
  wordsWith,
} from "../../core/core.ts";
import { OwnTexts } from "../../render/turn_texts.ts";
import { type Service, ServiceError, type TalkHandle, type TalkState } from "../../service/service.ts";
import { NOBODY_NAMED } from "../../service/talks/state.ts";
import { HttpProblem } from "../problem.ts";
import { answerOf, badField, BETWEEN, type MadeAnswer, NO_RETRY, ToldText } from "./answer.ts";
import { chatMessages } from "./messages.ts";
import { type ChatBody, effortOf } from "./schemas.ts";

/** What is needed besides the request. */
export interface TalkAnswerMeans {
  readonly service: Service;
  readonly memory: TalkMemory;
  /** Text is told as it comes; else whole messages. */
  readonly isLive: boolean;
}

/** How many conversations of an agent are looked through, the newest first. */
const LOOKED_THROUGH = 50;

/** Says the last message to the agent. @throws {HttpProblem} 409 `unknown_history`, and what `Talks` throws */
export async function talkAnswer(
  agent: string,
  body: ChatBody,
  { service: { talks }, memory, isLive }: TalkAnswerMeans,
): Promise<MadeAnswer> {
  const said = saidOf(body);
  const before = said.slice(0, -1);
  const { text = "", media } = said.at(-1) ?? {};
  const message = wordsWith(text, media);
  const user = body.user ?? undefined;
  const owner: TalkOwner = { agent, user };
  const { talk, turn } = await turnOf();
  const told = new ToldText();
  const own = new OwnTexts();
  let usage: Usage = { input: 0, output: 0 };
  return answerOf(turn, {
    model: body.model,
    after: turn.before,
    headers: { "orrery-run": turn.id, "orrery-conversation": talk.id },
    tell(event) {
      if (event.type === "usage") usage = addUsage(usage, event);
      if (isNewText(event)) told.cut();
      if (!own.isOwn(event) || (event.type === "text-delta" && !isLive)) return "";
      return event.type === "message"
        ? told.whole(event.step, event.text)
        : told.piece(event.step, event.text);
    },
    async rest() {
      const { messages } = await talk.state();
      memory.keep(owner, [...said, { who: "agent", text: told.all }], {
        id: talk.id,
        last: lastOf(messages),
      });
      return { text: "", usage };
    },
  }); // left, the turn goes on: it would have to be finished before anything else is said

  async function turnOf() {
    const named = body.metadata?.conversation;
    if (named === undefined && before.length === 0) {
      return await talks.begin({ agent, message, user, effort: effortOf(body) });
    }
    const talk = named === undefined ? await rememberedTalk() ?? await loggedTalk() : await namedTalk(named);
    if (talk === undefined) throw unknownHistory(agent);
    return { talk, turn: await talk.say(message) };
  }

  async function namedTalk(id: string): Promise<TalkHandle> {
    const talk = await talks.open(id);
    const state = await talk.state({ last: 1 });
    if (state.agent !== agent) throw wrongTalk(`${id} is one with ${state.agent}, and not with ${agent}`);
    if (user !== undefined && !isUsers(state, user)) throw wrongTalk(`${id} is not one of that user`);
    return talk;
  }

  /** The one that was answered last with this history, unless it has gone on since. */
  async function rememberedTalk(): Promise<TalkHandle | undefined> {
    const found = memory.find(owner, before);
    const talk = found && await maybeTalk(found.id);
    const state = await talk?.state({ last: 2 }); // one of them may be open
    return state && lastOf(state.messages) === found?.last ? talk : undefined;
  }

  /** One whose log is this history. */
  async function loggedTalk(): Promise<TalkHandle | undefined> {
    for (const { id, status, ...listed } of await talks.list({ agent, limit: LOOKED_THROUGH })) {
      if (status === "completed" || !isUsers(listed, user)) continue;
      const talk = await maybeTalk(id);
      if (talk !== undefined && isHistoryOf(before, (await talk.state()).messages)) return talk;
    }
    return undefined;
  }

  /** Undefined when it has been removed. */
  async function maybeTalk(id: string): Promise<TalkHandle | undefined> {
    try {
      return await talks.open(id);
    } catch (thrown) {
      if (thrown instanceof ServiceError && thrown.code === "not-found") return undefined;
      throw thrown;
    }
  }
}

function wrongTalk(why: string): HttpProblem {
  return new HttpProblem(400, "wrong_conversation", `metadata.conversation: the conversation ${why}`, {
    more: { param: "metadata.conversation" },
  });
}

/** What somebody has told an agent is not for another. */
function isUsers({ user: found = NOBODY_NAMED }: Pick<TalkState, "user">, user = NOBODY_NAMED): boolean {
  return found === user;
}

function unknownHistory(agent: string): HttpProblem {
  return new HttpProblem(
    409,
    "unknown_history",
    `No conversation with ${agent} has the messages before the last one, or it has gone on since. Send the messages as they were ` +
      "answered, name the conversation in metadata.conversation, or begin a new one with one message",
    { more: { param: "messages" }, headers: NO_RETRY },
  );
}

function lastOf(messages: TalkState["messages"]): number {
  return answeredOf(messages).at(-1)?.n ?? 0;
}

/** What was said before it is no part of what comes: a tool was called in between, or a step begins again. */
function isNewText(event: RunEvent): boolean {
  if (event.type !== "step-start") return false;
  return event.kind === "model" || (event.kind === "step" && event.attempt > 1);
}

// What a client remembers of a conversation with an agent, and what the agent's own log has of it: the same, when it is the same one.

/** Something that was said. */
interface Said {
  readonly who: "user" | "agent";
  readonly text: string;
  /** What was shown with it; a conversation is known by its texts. */
  readonly media?: readonly MediaPart[];
}

/** Reads the messages of a request to an agent: the last one is what is said now. @throws {HttpProblem} */
function saidOf(body: ChatBody): readonly Said[] {
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
    return { who: role === "user" ? "user" : "agent", ...splitWords(content) };
  });
  if (said.at(-1)?.who !== "user") {
    throw badField(`messages[${said.length - 1}].role`, 'the last message has to be of the role "user"');
  }
  return said;
}

/**
 * The same history in the form in which two are compared: what the agent said in a row is one text, and what it said before anybody spoke
 * is left out.
 */
function comparable(history: readonly Said[]): readonly Said[] {
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
function answeredOf(messages: TalkState["messages"]): TalkState["messages"] {
  return messages.filter(({ answered }) => answered === undefined);
}

/** Whether a history is what the log has. What an agent says first may have been told with its first answer. */
function isHistoryOf(before: readonly Said[], messages: TalkState["messages"]): boolean {
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
interface TalkOwner {
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
