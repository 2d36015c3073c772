// Answers of agents. The client sends all that was said each time; the conversation that it means is found by that, or named.
import { addUsage, type RunEvent, type Usage } from "../../core/core.ts";
import { OwnTexts } from "../../render/turn_texts.ts";
import {
  type RunHandle,
  type Service,
  ServiceError,
  type TalkHandle,
  type TalkState,
} from "../../service/service.ts";
import { NOBODY_NAMED } from "../../service/talks/state.ts";
import { HttpProblem } from "../problem.ts";
import { answerOf, type MadeAnswer, NO_RETRY, ToldText } from "./answer.ts";
import type { ChatBody } from "./schemas.ts";
import {
  answeredOf,
  isHistoryOf,
  type Said,
  type TalkMemory,
  type TalkOwner,
  type TalkRequest,
  talkRequest,
} from "./talk_history.ts";

/** What is needed besides the request. */
export interface TalkAnswerMeans {
  readonly service: Service;
  readonly memory: TalkMemory;
  /** Text is told as it comes; else whole messages. */
  readonly isLive: boolean;
}

interface Turn {
  readonly talk: TalkHandle;
  readonly turn: RunHandle;
}

/** How many conversations of an agent are looked through, the newest first. */
const LOOKED_THROUGH = 50;

/** Says the last message to the agent. @throws {HttpProblem} 409 `unknown_history`, and what `Talks` throws */
export async function talkAnswer(
  agent: string,
  body: ChatBody,
  { service, memory, isLive }: TalkAnswerMeans,
): Promise<MadeAnswer> {
  const request = talkRequest(body);
  const owner: TalkOwner = { agent, user: body.user ?? undefined };
  const { talk, turn } = await turnOf(request, {
    service,
    memory,
    owner,
    named: body.metadata?.conversation,
  });
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
      const history: readonly Said[] = [
        ...request.before,
        { who: "user", text: request.message },
        { who: "agent", text: told.all },
      ];
      memory.keep(owner, history, { id: talk.id, last: lastOf(messages) });
      return { text: "", usage };
    },
  }); // left, the turn goes on: it would have to be finished before anything else is said
}

interface FindOptions {
  readonly service: Service;
  readonly memory: TalkMemory;
  readonly owner: TalkOwner;
}

async function turnOf(
  { before, message }: TalkRequest,
  { named, ...options }: FindOptions & { readonly named: string | undefined },
): Promise<Turn> {
  const { service: { talks }, owner: { agent, user } } = options;
  if (named !== undefined) return await sayTo(await namedTalk(named, options), message);
  if (before.length === 0) {
    return await talks.begin({ agent, message, user });
  }
  const talk = await rememberedTalk(before, options) ?? await loggedTalk(before, options);
  if (talk === undefined) throw unknownHistory(agent);
  return await sayTo(talk, message);
}

async function sayTo(talk: TalkHandle, message: string): Promise<Turn> {
  return { talk, turn: await talk.say(message) };
}

async function namedTalk(
  id: string,
  { service: { talks }, owner: { agent, user } }: FindOptions,
): Promise<TalkHandle> {
  const talk = await talks.open(id);
  const state = await talk.state({ last: 1 });
  if (state.agent !== agent) throw wrongTalk(`${id} is one with ${state.agent}, and not with ${agent}`);
  if (user !== undefined && !isUsers(state, user)) throw wrongTalk(`${id} is not one of that user`);
  return talk;
}

function wrongTalk(why: string): HttpProblem {
  return new HttpProblem(400, "wrong_conversation", `metadata.conversation: the conversation ${why}`, {
    more: { param: "metadata.conversation" },
  });
}

/** The one that was answered last with this history, unless it has gone on since. */
async function rememberedTalk(
  before: readonly Said[],
  { service: { talks }, memory, owner }: FindOptions,
): Promise<TalkHandle | undefined> {
  const found = memory.find(owner, before);
  const talk = found && await maybeTalk(found.id, talks);
  if (talk === undefined) return undefined;
  const { messages } = await talk.state({ last: 2 }); // one of them may be open
  return lastOf(messages) === found?.last ? talk : undefined;
}

/** Undefined when it has been removed. */
async function maybeTalk(id: string, talks: Service["talks"]): Promise<TalkHandle | undefined> {
  try {
    return await talks.open(id);
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === "not-found") return undefined;
    throw thrown;
  }
}

/** One whose log is this history. */
async function loggedTalk(
  before: readonly Said[],
  { service: { talks }, owner: { agent, user } }: FindOptions,
): Promise<TalkHandle | undefined> {
  for (const { id, status, ...listed } of await talks.list({ agent, limit: LOOKED_THROUGH })) {
    if (status === "completed" || !isUsers(listed, user)) continue;
    const talk = await maybeTalk(id, talks);
    if (talk !== undefined && isHistoryOf(before, (await talk.state()).messages)) return talk;
  }
  return undefined;
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
