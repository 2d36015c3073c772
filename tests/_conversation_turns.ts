// Conversations of tests: agents out of plain objects, turns as lists of events, logs as lines.

import assert from "node:assert/strict";
import {
  type AgentFile,
  type Conversation,
  type ConversationOptions,
  type Json,
  loadAgent,
  type LogEntry,
  openConversation,
  type RunEvent,
} from "../mod.ts";

/** A step as a file writes it. */
export type StepJson = Readonly<Record<string, unknown>> & { readonly id: string };

/** An agent with these steps, as if it had been read from a file. */
export function agentOf(
  action: StepJson,
  structure: Readonly<Record<string, unknown>> = {},
): Promise<AgentFile> {
  const text = JSON.stringify({ version: "0.1", structure: { id: "test", action, ...structure } });
  return loadAgent({ file: "test.agent.yml", text });
}

/** A chain of these steps, called `main` unless it has another name. */
export function chain(steps: readonly StepJson[], id = "main"): StepJson {
  return { id, chain: steps };
}

/** A step that says its text, or its own name. */
export function say(id: string, text: string = id, more: Readonly<Record<string, unknown>> = {}): StepJson {
  return { id, message: { message: text }, ...more };
}

/** One that says it and waits. */
export function ask(id: string, text: string = id): StepJson {
  return { id, message: { message: text, hold: true } };
}

/** One that writes slots of the conversation. */
export function set(id: string, values: Readonly<Record<string, Json>>): StepJson {
  const list = Object.entries(values).map(([name, value]) => ({ path: { name }, value }));
  return { id, "set-slot": { values: list } };
}

/** One that goes elsewhere, by the id of a step or by an action. */
export function go(id: string, where: string): StepJson {
  const isAction = ["continue", "repeat", "end"].includes(where);
  return { id, flow: isAction ? { action: where } : { goto: where } };
}

/** One that adds 1 to a slot. */
export function count(id: string, name: string): StepJson {
  return { id, counter: { slot: { name } } };
}

/** The same step under a condition. */
export function when(
  step: StepJson,
  name: string,
  condition: Readonly<Record<string, unknown>>,
): StepJson {
  return { ...step, conditions: [{ name, condition }] };
}

/** All events of a turn, which has a beginning, an end, and numbers that grow. */
export async function turn(events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  assert.equal(all[0]?.type, "run-start");
  assert.equal(all.at(-1)?.type, "run-end");
  assert.equal(all.filter(({ type }) => type === "run-end").length, 1);
  assert.ok(all.every(({ seq }, index) => index === 0 || seq > (all[index - 1]?.seq ?? 0)), "seq grows");
  return all;
}

/** How a turn ended. */
export function endOf(events: readonly RunEvent[]): Extract<RunEvent, { type: "run-end" }> {
  const last = events.at(-1);
  assert.ok(last?.type === "run-end");
  return last;
}

/** Those of one type. */
export function eventsOf<Type extends RunEvent["type"]>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { readonly type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { readonly type: Type }> => event.type === type);
}

/** `bot a: text`, `user ask,other: text` */
export function lines(log: readonly LogEntry[]): readonly string[] {
  assert.deepEqual(log.map(({ n }) => n), log.map((_, index) => index + 1));
  return log.map(({ who, steps, text }) => `${who === "user" ? "user" : "bot"} ${steps.join(",")}: ${text}`);
}

/** What a turn has told of its way, a line each: `say a: text`, `set conversation.x 1`, `skip b`, `jump a to b`, `hold a`, `warn …`. */
export function told(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event): readonly string[] => {
    switch (event.type) {
      case "message":
        return [`say ${event.step}: ${event.text}`];
      case "slot-set":
        return [`set ${event.destination}.${event.name} ${JSON.stringify(event.value)}`];
      case "step-skip":
        return [`skip ${event.step}`];
      case "jump":
        return [`jump ${event.from} to ${event.to}`];
      case "hold":
        return [`hold ${event.step}`];
      case "warning":
        return [`warn ${event.text}`];
      default:
        return [];
    }
  });
}

/** A conversation and its turns. */
export interface Talk {
  readonly conversation: Conversation;
  start(message?: string): Promise<readonly RunEvent[]>;
  say(text: string): Promise<readonly RunEvent[]>;
  retry(): Promise<readonly RunEvent[]>;
  /** The log as lines. */
  readonly lines: readonly string[];
}

/** Opens one with steps, or with an agent. */
export async function talk(
  action: StepJson | AgentFile,
  options: ConversationOptions & { readonly constants?: Readonly<Record<string, Json>> } = {},
): Promise<Talk> {
  const { constants, ...rest } = options;
  const agent = "hash" in action && "root" in action
    ? action as AgentFile
    : await agentOf(action as StepJson, constants === undefined ? {} : { constants });
  const conversation = await openConversation(agent, {
    model: () => Promise.reject(new Error("this conversation has no model")),
    fetch: () => Promise.reject(new TypeError("this conversation has no network")),
    ...rest,
  });
  const status = async (events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> => {
    const all = await turn(events);
    assert.equal(endOf(all).status, conversation.status);
    return all;
  };
  return {
    conversation,
    start: (message) => status(conversation.start(message)),
    say: (text) => status(conversation.say(text)),
    retry: () => status(conversation.retry()),
    get lines() {
      return lines(conversation.log);
    },
  };
}
