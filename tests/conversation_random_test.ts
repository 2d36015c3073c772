// Random agents, against a naive interpreter: transcript, slots and status, over several turns, however often the conversation is closed,
// left in the middle of a turn, and opened again.

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type AgentFile,
  type Conversation,
  type ConversationModelRequest,
  type Journal,
  type Json,
  memoryJournal,
  openConversation,
  type RunEvent,
} from "../mod.ts";
import { agentOf, endOf, eventsOf, lines, told, turn } from "./_conversation_turns.ts";
import type { StepJson } from "./_conversation_turns.ts";
import { NaiveConversation, naiveReply } from "./_naive_conversation.ts";

/** A step without its name, and with a number in place of the target of a jump. */
interface Raw {
  readonly kind: "message" | "llm" | "set" | "counter" | "flow" | "goto" | "chain" | "combined";
  readonly hold?: boolean;
  readonly text?: string;
  readonly slot?: string;
  readonly value?: Json;
  readonly action?: string;
  readonly pick?: number;
  readonly isFilled?: boolean;
  readonly steps?: readonly Raw[];
  readonly condition?: { readonly name: string; readonly condition: Readonly<Record<string, Json>> };
}

const MAX_STEPS = 40;
const SLOT = fc.constantFrom("a", "b", "n");
const VALUE = fc.constantFrom<Json>(0, 0, 1, 1, 2, "2", "many", "{{a}}", "{{b}}", "s3", "s5");
const CONDITION = fc.record({
  name: SLOT,
  condition: fc.oneof(
    fc.record({ equals: fc.constantFrom<Json>(0, 1, "2") }),
    fc.record({ "not-equals": fc.constantFrom<Json>(1, 2, "many") }),
    fc.record({ exists: fc.boolean() }),
    fc.record({ "less-than": fc.constantFrom(1, 2, 3) }),
  ),
});
const condition = fc.option(CONDITION, { nil: undefined, freq: 4 }).map((condition) =>
  condition === undefined ? {} : { condition }
);

const leaf = {
  message: fc.record({
    kind: fc.constant("message" as const),
    hold: fc.constantFrom(true, true, false),
    text: fc.constantFrom("{{a}}", "b={{b}}", "n={{n}}."),
  }),
  llm: fc.record({ kind: fc.constant("llm" as const), hold: fc.boolean() }),
  set: fc.record({ kind: fc.constant("set" as const), slot: SLOT, value: VALUE }),
  counter: fc.record({
    kind: fc.constant("counter" as const),
    slot: fc.constantFrom("n", "n", "n", "a", "b"),
  }),
  flow: fc.record({
    kind: fc.constant("flow" as const),
    action: fc.constantFrom("continue", "repeat", "repeat", "repeat", "end"),
  }),
  goto: fc.record({
    kind: fc.constant("goto" as const),
    pick: fc.nat(99),
    isFilled: fc.constantFrom(false, false, false, true),
  }),
};

/** Steps inside each other. @param spoken how many of them ask a model */
function rawSteps(spoken: number): { readonly step: fc.Arbitrary<Raw>; readonly many: fc.Arbitrary<Raw> } {
  return fc.letrec<{ step: Raw; many: Raw }>((tie) => ({
    step: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      { weight: 6, arbitrary: leaf.message },
      { weight: spoken, arbitrary: leaf.llm },
      { weight: 3, arbitrary: leaf.set },
      { weight: 2, arbitrary: leaf.counter },
      { weight: 3, arbitrary: leaf.flow },
      { weight: 2, arbitrary: leaf.goto },
      { weight: 8, arbitrary: tie("many") },
    ).chain((step) => condition.map((more) => ({ ...step, ...more }))),
    many: fc.record({
      kind: fc.constantFrom("chain" as const, "combined" as const),
      steps: fc.array(tie("step"), { minLength: 1, maxLength: 5, depthIdentifier: "steps" }),
    }),
  }));
}

/** Names the steps and gives jumps their targets. */
function agentSteps(root: Raw): StepJson {
  let n = 0;
  const named = (step: Raw): Raw & { readonly id: string; readonly steps: readonly unknown[] } => ({
    ...step,
    id: `s${++n}`,
    steps: (step.steps ?? []).map(named),
  });
  const whole = named(root);
  const ids = Array.from({ length: n }, (_, index) => `s${index + 1}`);
  const made = (
    step: ReturnType<typeof named>,
    rules: NaiveConversation | undefined,
    inChain: boolean,
  ): StepJson => {
    const { id, condition } = step;
    const more = condition === undefined ? {} : { conditions: [condition] };
    const targets = ids.filter((to) => rules?.isTarget(id, to) ?? false);
    const inside = (step.steps as ReturnType<typeof named>[]).map((each) =>
      made(each, rules, inChain || step.kind === "chain")
    );
    switch (step.kind) {
      case "message":
        return { id, message: { message: step.text, hold: step.hold }, ...more };
      case "llm":
        return {
          id,
          llm: { prompts: [{ user: "{{n}}" }], memory: [{ selector: "all" }], hold: step.hold },
          ...more,
        };
      case "set":
        return { id, "set-slot": { values: [{ path: { name: step.slot }, value: step.value }] }, ...more };
      case "counter":
        return { id, counter: { slot: { name: step.slot } }, ...more };
      case "flow":
        return {
          id,
          flow: { action: step.action === "repeat" && !inChain ? "continue" : step.action },
          ...more,
        };
      case "goto":
        if (step.isFilled) {
          return { id, flow: { goto: step.pick ?? 0 % 2 === 0 ? "{{a}}" : "{{b}}" }, ...more };
        }
        return { id, flow: { goto: targets[(step.pick ?? 0) % Math.max(1, targets.length)] ?? id }, ...more };
      case "chain":
      case "combined":
        return { id, [step.kind]: inside, ...more };
      default:
        return step.kind satisfies never;
    }
  };
  const rules = new NaiveConversation(made(whole, undefined, false), { slots: {}, maxSteps: 0 });
  return made(whole, rules, false);
}

/** How a turn is made. */
interface Making {
  /** What is said, if anything. */
  readonly text: string | undefined;
  /** By another object on the same store. */
  readonly isReopened: boolean;
  /** The events are left at so many of them, again and again. */
  readonly leaves: readonly number[];
}

const making = fc.record({
  text: fc.option(fc.constantFrom("hello", "{{a}}"), { nil: undefined }),
  isReopened: fc.boolean(),
  leaves: fc.array(fc.oneof(fc.nat(4), fc.nat(30)), { maxLength: 3 }),
});

/** A conversation, and how often its model was asked. */
class Held {
  readonly store: Journal = memoryJournal();
  asked = 0;
  /** Each answer takes a while. */
  isSlow = false;
  readonly #agent: AgentFile;
  readonly #slots: Readonly<Record<string, Json>>;
  #conversation: Conversation | undefined;

  constructor(agent: AgentFile, slots: Readonly<Record<string, Json>>) {
    this.#agent = agent;
    this.#slots = slots;
  }

  get conversation(): Conversation {
    assert.ok(this.#conversation);
    return this.#conversation;
  }

  /** As another process would. */
  async open(id?: string): Promise<void> {
    this.#conversation = await openConversation(this.#agent, {
      store: this.store,
      slots: this.#slots,
      limits: { steps: MAX_STEPS },
      model: (request) => this.#answer(request),
      ...(id === undefined ? {} : { id }),
    });
  }

  async *#answer({ step, messages }: ConversationModelRequest): AsyncGenerator<string> {
    this.asked++;
    const [prompt, ...memory] = messages;
    const reply = naiveReply(step, String(prompt?.content), memory.length);
    for (let ticks = this.asked * 7 % 5; ticks > 0; ticks--) await Promise.resolve();
    yield reply.slice(0, 2);
    if (this.isSlow || this.asked % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    yield reply.slice(2);
  }

  async turn(begin: (conversation: Conversation) => AsyncIterable<RunEvent>, { isReopened, leaves }: Making) {
    if (isReopened && this.store.list().length > 0) await this.open(this.conversation.id);
    let events = begin(this.conversation);
    let done: readonly string[] = [];
    for (const left of leaves) {
      await firstOf(events, left);
      if (this.conversation.status !== "running") return undefined;
      done = this.#finished(done);
      if (left % 2 === 0) await this.open(this.conversation.id);
      events = this.conversation.retry();
    }
    const all = await turn(events);
    this.#finished(done);
    return all;
  }

  /** What is done, and how often it was tried: that never changes. */
  #finished(before: readonly string[]): readonly string[] {
    const { steps } = this.store.read(this.conversation.id);
    const now = steps.filter(({ status }) => status === "finished").map(({ key, attempt }) =>
      `${key} ${attempt}`
    );
    assert.deepEqual(before.filter((each) => !now.includes(each)), [], "a finished step was done again");
    return now;
  }

  /** Each question was an attempt of a step; one that was given up at once may not have come to the model. */
  assertAsked(): void {
    const { steps } = this.store.read(this.conversation.id);
    const questions = steps.filter(({ kind }) => kind === "model");
    const attempts = questions.reduce((sum, { attempt }) => sum + attempt, 0);
    assert.ok(this.asked <= attempts && this.asked >= questions.length, `${this.asked} of ${attempts}`);
  }
}

async function firstOf(events: AsyncIterable<RunEvent>, count: number): Promise<void> {
  let left = count;
  for await (const _event of events) if (left-- === 0) break;
}

async function compare(
  steps: StepJson,
  makings: readonly Making[],
  slots: Readonly<Record<string, Json>>,
): Promise<void> {
  const naive = new NaiveConversation(steps, { slots, maxSteps: MAX_STEPS });
  const held = new Held(await agentOf(steps), slots);
  await held.open();
  held.isSlow = makings.some(({ leaves }) => leaves.length > 0);
  for (const [index, making] of makings.entries()) {
    const { text } = making;
    if (naive.status === "completed") break;
    const isStart = index === 0;
    const isRetry = !isStart && naive.status === "failed" && text === undefined;
    if (isStart) naive.start(text);
    else if (isRetry) naive.retry();
    else naive.say(text ?? "yes");
    const events = await held.turn(
      (conversation) =>
        isStart ? conversation.start(text) : isRetry ? conversation.retry() : conversation.say(text ?? "yes"),
      making,
    );
    const { conversation } = held;
    assert.equal(conversation.status, naive.status);
    if (naive.isVague) break;
    assert.deepEqual(lines(conversation.log), naive.log);
    assert.deepEqual({ ...conversation.slots() }, naive.slots);
    if (events === undefined) continue;
    assert.deepEqual(told(events).filter((line) => !line.startsWith("warn ")), naive.told);
    const { error = "" } = endOf(events);
    assert.equal(error.slice(0, naive.error.length), naive.error);
    assert.equal(error === "", naive.error === "");
    assert.equal(eventsOf(events, "run-end").length, 1);
  }
  held.assertAsked();
  if (makings.every(({ leaves }) => leaves.length === 0) && !naive.isVague) {
    assert.equal(held.asked, naive.asked);
  }
}

/** Agents whose root is mostly a chain. */
function agents(spoken: number): fc.Arbitrary<StepJson> {
  const { step, many } = rawSteps(spoken);
  const chained = fc.array(step, { minLength: 2, maxLength: 6 }).map((steps): Raw => ({
    kind: "chain",
    steps,
  }));
  return fc.oneof({ weight: 6, arbitrary: chained }, { weight: 1, arbitrary: many }, {
    weight: 1,
    arbitrary: step,
  })
    .map(agentSteps);
}

const SLOTS = fc.record({ a: fc.constantFrom<Json>(0, "s2", "s4"), n: fc.constantFrom<Json>(0, 2) }, {
  requiredKeys: [],
});
const runs = Number(Deno.env.get("RANDOM_RUNS") ?? 300);

Deno.test("random agents walk as the naive rules say, over several turns", async () => {
  const makings = fc.array(making.map((each) => ({ ...each, isReopened: false, leaves: [] })), {
    minLength: 5,
    maxLength: 5,
  });
  await fc.assert(fc.asyncProperty(agents(2), makings, SLOTS, compare), { numRuns: runs });
});

Deno.test("random agents walk in the same way when each turn is another process's", async () => {
  const makings = fc.array(making.map((each) => ({ ...each, isReopened: true, leaves: [] })), {
    minLength: 5,
    maxLength: 5,
  });
  await fc.assert(fc.asyncProperty(agents(2), makings, SLOTS, compare), { numRuns: runs / 2 });
});

Deno.test("random agents walk in the same way when their turns are interrupted anywhere, and nothing finished is done again", async () => {
  const makings = fc.array(making, { minLength: 4, maxLength: 4 });
  await fc.assert(fc.asyncProperty(agents(20), makings, SLOTS, compare), { numRuns: runs / 2 });
});
