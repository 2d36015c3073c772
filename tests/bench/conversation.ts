// Turns of conversations through the public door: an agent of three steps, of which one asks a model that answers at once. What a turn in
// SQLite costs is mostly its commits, that is the disk's.

import { join } from "node:path";
import { loadAgent, memoryJournal, openConversation } from "../../mod.ts";
import type { AgentFile, Conversation, ConversationOptions, Journal } from "../../mod.ts";
import { sqliteJournal } from "../../lib/journal/sqlite_journal.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const BATCHES = 7;
const TURNS = 300;
/** Before the first batch that counts: what is compiled late. */
const WARM_UP = 2;
const LONG_TURNS = 2000;
const SHORT_TURNS = 10;
const CONVERSATIONS = 10_000;
const SAMPLES = 51;

const AGENT = `version: "0.1"
structure:
  id: support
  action:
    id: main
    chain:
      - { id: ask, llm: { prompts: [ { system: "Be kind, it is time {{n}}." } ], memory: [ { selector: all } ], memory-limit: 10, hold: true } }
      - { id: n, counter: { slot: { name: n } } }
      - { id: again, flow: { action: repeat } }
`;

/** The rows of the table: turns of one conversation, of a long one, and of one among many. */
export async function benchConversation(): Promise<readonly Row[]> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-bench-" });
  try {
    const agent = await loadAgent({ file: "support.agent.yml", text: AGENT });
    using sqlite = storeIn(join(folder, "turns.db"));
    using many = storeIn(join(folder, "many.db"));
    const memory = memoryJournal();
    return [
      await turns(agent, { store: memory, what: "in memory", limit: 1 }),
      await turns(agent, { store: sqlite, what: "in SQLite, FULL", limit: 5 }),
      ...await longConversation(agent, { store: memory, what: "memory" }),
      ...await longConversation(agent, { store: sqlite, what: "SQLite" }),
      ...await amongMany(agent, many),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function storeIn(path: string): Journal {
  return sqliteJournal(path, { owner: { host: "here", pid: 1 } });
}

function open(agent: AgentFile, options: Pick<ConversationOptions, "store" | "id">): Promise<Conversation> {
  return openConversation(agent, { ...options, model: () => Promise.resolve("An answer of some length.") });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Each message answers the hold of the turn before. */
async function answer(conversation: Conversation): Promise<void> {
  const events = conversation.turns === 0 ? conversation.start("hello") : conversation.say("What now?");
  for await (const _event of events);
  if (conversation.status !== "held") throw new Error(`the conversation is ${conversation.status}`);
}

async function answered(conversation: Conversation, times: number): Promise<Conversation> {
  for (let n = conversation.turns; n < times; n++) await answer(conversation);
  return conversation;
}

async function turns(
  agent: AgentFile,
  { store, what, limit }: { readonly store: Journal; readonly what: string; readonly limit: number },
): Promise<Row> {
  const times: number[] = [];
  for (let batch = 0; batch < WARM_UP + BATCHES; batch++) {
    const conversation = await open(agent, { store });
    const ms = await timed(() => answered(conversation, TURNS));
    if (batch >= WARM_UP) times.push(ms / TURNS);
  }
  return { what: `a turn of three steps, ${what}`, value: median(times), unit: "ms", limit };
}

/** A conversation does not get slower with its turns, whether it is held by this process or opened by its id. */
async function longConversation(
  agent: AgentFile,
  { store, what }: { readonly store: Journal; readonly what: string },
): Promise<readonly Row[]> {
  const long = await answered(await open(agent, { store }), LONG_TURNS);
  const first = await answered(await open(agent, { store }), SHORT_TURNS);
  const times: Record<"short" | "long" | "shortOpened" | "longOpened", number[]> = {
    short: [],
    long: [],
    shortOpened: [],
    longOpened: [],
  };
  const opened = (id: string) => timed(async () => await answer(await open(agent, { store, id })));
  for (let sample = 0; sample < SAMPLES; sample++) {
    const anew = await open(agent, { store, id: store.branch(first.id, { turn: SHORT_TURNS }) });
    times.short.push(await timed(() => answer(anew)));
    times.long.push(await timed(() => answer(long)));
    times.shortOpened.push(await opened(store.branch(first.id, { turn: SHORT_TURNS })));
    times.longOpened.push(await opened(long.id));
  }
  const rows = (how: string, short: readonly number[], long: readonly number[]): readonly Row[] => [
    { what: `${how} after 10 turns, ${what}`, value: median(short), unit: "ms" },
    {
      what: `the same after 2,000`,
      value: median(long),
      unit: "ms",
      ratio: median(long) / median(short),
      of: "after 10",
      limit: 1.5,
    },
  ];
  return [
    ...rows("an answer", times.short, times.long),
    ...rows("opened by id, and an answer", times.shortOpened, times.longOpened),
  ];
}

/** Nor do all of them with their number. */
async function amongMany(agent: AgentFile, store: Journal): Promise<readonly Row[]> {
  const first = await answered(await open(agent, { store }), 1);
  const ids = Array.from({ length: CONVERSATIONS }, () => store.branch(first.id, { turn: 1 }));
  const times: Record<"list" | "open" | "answer", number[]> = { list: [], open: [], answer: [] };
  for (let sample = 0; sample < SAMPLES; sample++) {
    const id = ids[sample * 191] ?? "";
    times.list.push(
      await timed(() => Promise.resolve(store.list({ kind: "conversation", status: "held", limit: 20 }))),
    );
    let conversation: Conversation | undefined;
    times.open.push(await timed(async () => conversation = await open(agent, { store, id })));
    times.answer.push(await timed(async () => conversation && await answer(conversation)));
  }
  const row = (what: string, list: readonly number[]): Row => ({
    what: `${what} of 10,000 conversations`,
    value: median(list),
    unit: "ms",
    limit: 50,
  });
  return [
    row("the 20 newest", times.list),
    row("one opened by id", times.open),
    row("an answer of one", times.answer),
  ];
}
