// All valid cases of conversations: transcript, slots, and what the models have seen.

import assert from "node:assert/strict";
import {
  type Conversation,
  type Json,
  loadAgent,
  memoryJournal,
  type Message,
  openConversation,
  type RunEvent,
} from "../mod.ts";
import { conversationCases, fetchOf } from "./_conversation_cases.ts";
import type { ConversationCase } from "./_conversation_cases.ts";

type Seen = Record<string, string[]>;

function told(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) => `${role}: ${String(content)}`);
}

async function open(each: ConversationCase): Promise<
  { readonly conversation: Conversation; readonly prompts: Seen; readonly memory: Seen }
> {
  const agent = await loadAgent({ file: each.name, text: each.text });
  const [prompts, memory]: [Seen, Seen] = [{}, {}];
  const left = new Map(
    Object.entries(each.model).map(([id, replies]) => [id, Array.isArray(replies) ? [...replies] : []]),
  );
  const conversation = await openConversation(agent, {
    store: memoryJournal(),
    model(request) {
      prompts[request.step] = told(request.prompts);
      memory[request.step] = told(request.memory);
      const reply: Json = left.get(request.step)?.shift() ?? null;
      if (reply === null) return Promise.reject(new Error(`no reply left for ${request.step}`));
      return Promise.resolve(typeof reply === "object" ? reply : String(reply));
    },
    fetch: fetchOf(each),
    context: each.context,
    slots: each.slotsBefore,
    ...(each.max === undefined ? {} : { limits: { steps: each.max } }),
  });
  return { conversation, prompts, memory };
}

/** The last event of a turn. */
async function ended(turn: AsyncIterable<RunEvent>): Promise<Extract<RunEvent, { type: "run-end" }>> {
  let last: RunEvent | undefined;
  for await (const event of turn) last = event;
  assert.ok(last?.type === "run-end");
  return last;
}

for (const each of await conversationCases()) {
  Deno.test(`conversation case ${each.name}: ${each.sentence}`, async () => {
    const { conversation, prompts, memory } = await open(each);
    let end = await ended(conversation.start());
    for (const text of each.user) end = await ended(conversation.say(text));
    const transcript = conversation.log.map(({ who, text }) =>
      `${who === "user" ? "user" : "bot"}: ${text.replaceAll("\n", "\\n")}`
    );
    const closing = {
      held: "(hold)",
      completed: "(end)",
      failed: `(error) ${end.error}`,
      running: "(running)",
    };
    assert.deepEqual([...transcript, closing[conversation.status]], each.expect);
    assert.equal(end.status, conversation.status);
    const slots = conversation.slots();
    for (const [key, value] of Object.entries(each.slotsAfter)) {
      const isWhole = /^(?:conversation|session|module|global)\./.test(key);
      assert.deepEqual(slots[isWhole ? key : `conversation.${key}`], value, key);
    }
    for (const [id, expected] of Object.entries(each.sawPrompts)) assert.deepEqual(prompts[id], expected, id);
    for (const [id, expected] of Object.entries(each.sawMemory)) assert.deepEqual(memory[id], expected, id);
  });
}
