// A step that looks into a collection (conversations.md 2.8), in a conversation.

import assert from "node:assert/strict";
import {
  type Collection,
  type Json,
  memoryJournal,
  type Passage,
  PermissionRefused,
  type Store,
} from "../mod.ts";
import { memoryCollection } from "./_collections.ts";
import { ask, chain, endOf, eventsOf, type StepJson, talk } from "./_conversation_turns.ts";

interface Looking {
  readonly collection?: Collection;
  readonly step?: { readonly limit?: number; readonly secondary?: boolean };
  readonly store?: Store;
}

function find(step: Looking["step"]): StepJson {
  const target = { slot: { name: "docs", destination: "session" } };
  return { id: "find", retriever: { query: { name: "question" }, target, ...step } };
}

/** Takes the step; gives what is in its target afterwards, what was told of its effects, and why it failed. */
async function look(question: Json | undefined, { collection, step, store }: Looking = {}) {
  const one = await talk(chain([find(step)]), {
    ...(collection !== undefined && { collection }),
    ...(store !== undefined && { store }),
    slots: question === undefined ? {} : { question },
  });
  const events = await one.start();
  const told = [...eventsOf(events, "step-start"), ...eventsOf(events, "step-end")]
    .filter(({ key }) => key.endsWith("/retrieve")).map(({ type, key }) => `${type} ${key}`);
  const { "session.docs": value } = one.conversation.slots();
  return { value: value === undefined ? undefined : String(value), told, error: endOf(events).error };
}

async function failure(question: Json | undefined, looking: Looking = {}): Promise<string | undefined> {
  const { value, error } = await look(question, looking);
  assert.equal(value, undefined, "it found something");
  return error;
}

const PAGES = {
  "tyres.md": "# Tyres\n\nA tyre with a nail in it.\n",
  "brakes.md": "# Brakes\n\nA brake stops the wheel.\n",
  "both.md": "A tyre and a brake.\n",
};

Deno.test("retriever: what fits is put into the target, each with its source", async () => {
  using collection = await memoryCollection(PAGES);
  const { value, told } = await look("How do I stop with a brake?", { collection });
  assert.equal(
    value,
    "**Source: brakes**\n# Brakes\n\nA brake stops the wheel.\n\n**Source: both**\nA tyre and a brake.",
  );
  assert.deepEqual(told, ["step-start main/find/retrieve", "step-end main/find/retrieve"]);
  assert.equal((await look("xyzzy", { collection })).value, "");
  assert.match(
    (await look("brake", { collection, step: { limit: 1 } })).value ?? "",
    /^\*\*Source: brakes\*\*\n[^*]*$/,
  );
});

Deno.test("retriever: a list of questions, each with its own passages; what several find is said once", async () => {
  using collection = await memoryCollection(PAGES);
  const sources = async (question: Json, limit: number) =>
    ((await look(question, { collection, step: { limit } })).value ?? "").match(/(?<=Source: )\w+/g) ?? [];
  assert.deepEqual(await sources(["brake", "tyre"], 1), ["brakes", "tyres"]);
  assert.deepEqual(await sources(["brake", " ", null, "tyre"], 2), ["brakes", "both", "tyres"]);
  assert.deepEqual(await sources(["nail", "nails"], 4), ["tyres"]);
});

Deno.test("retriever: an empty question, no collection, and what is no text", async () => {
  using collection = await memoryCollection(PAGES);
  for (const empty of [undefined, null, "", " \n", [], ["", null]]) {
    assert.equal(
      await failure(empty, { collection }),
      'step "find": query slot "conversation.question" is empty',
    );
  }
  assert.equal(await failure("brake"), 'step "find": no document collection is configured');
  assert.equal(await failure(""), 'step "find": query slot "conversation.question" is empty');
  for (const odd of [{ a: 1 }, ["brake", ["tyre"]]]) {
    assert.equal(
      await failure(odd, { collection }),
      'step "find": query slot "conversation.question" must hold text or a list of texts',
    );
  }
  assert.equal((await look(42, { collection })).value, "");
});

/** Fails so often, then gives one passage. */
function failing(times: number, error: Error = new Error("the model of the embeddings is away")) {
  const asked: unknown[] = [];
  const passage: Passage = { name: "A", document: "a", text: "text", score: 1 };
  const collection: Collection = {
    search(query, { limit, secondary, signal }) {
      asked.push([query, limit, secondary, signal instanceof AbortSignal]);
      return asked.length <= times ? Promise.reject(error) : Promise.resolve([passage]);
    },
  };
  return { collection, asked };
}

Deno.test("retriever: what fails is tried once more", async () => {
  const once = failing(1);
  assert.equal(
    (await look("x", { collection: once.collection, step: { secondary: false, limit: 2 } })).value,
    "**Source: A**\ntext",
  );
  assert.deepEqual(once.asked, [["x", 2, false, true], ["x", 2, false, true]]);
  const twice = failing(2);
  assert.equal(await failure("x", twice), 'step "find": the model of the embeddings is away');
  assert.equal(twice.asked.length, 2);
  const request = { kind: "read", value: "/a.md" } as const;
  const refused = failing(
    9,
    new PermissionRefused("Reading a.md is not allowed", { request, flag: "--allow-read=a.md" }),
  );
  assert.equal(await failure("x", refused), 'step "find": Reading a.md is not allowed');
  assert.equal(refused.asked.length, 1, "a refusal does not pass");
});

Deno.test("retriever: a resumed turn is answered from the journal", async () => {
  const store = memoryJournal();
  const { collection, asked } = failing(0);
  const options = { collection, store, slots: { question: "x" } };
  const steps = chain([find({}), { id: "b", llm: { prompts: [{ user: "go" }] } }, ask("q")]);
  const one = await talk(steps, { ...options, model: () => new Promise<string>(() => {}) });
  for await (const event of one.conversation.start()) {
    if (event.type === "step-start" && event.kind === "model") break;
  }
  assert.deepEqual([one.conversation.status, one.conversation.slots()], ["running", {}]);
  const again = await talk(steps, { ...options, id: one.conversation.id, model: () => Promise.resolve("b") });
  assert.equal(endOf(await again.retry()).status, "held");
  assert.equal(again.conversation.slots()["session.docs"], "**Source: A**\ntext");
  assert.equal(asked.length, 1);
  const { steps: kept } = store.read(one.conversation.id);
  assert.deepEqual(kept.filter(({ kind }) => kind === "read").map(({ key, input }) => [key, input]), [
    ["main/find/retrieve", { queries: ["x"], limit: 4, secondary: true }],
  ]);
});
