import assert from "node:assert/strict";
import {
  type Collection,
  type Json,
  memoryJournal,
  type Passage,
  PermissionRefused,
  type RunJournal,
  type StepOf,
} from "../mod.ts";
import { performRetriever } from "../lib/run/conversation/leaf.ts";
import {
  type ConversationMeans,
  ConversationStepError,
  type StepWork,
} from "../lib/run/conversation/work.ts";
import { Run } from "../lib/run/run.ts";
import { memoryCollection } from "./_collections.ts";

const never = (): never => assert.fail("the retriever does not do this");

const STEP: StepOf<"retriever"> = {
  kind: "retriever",
  id: "find",
  conditions: [],
  path: "structure.action",
  span: { line: 1, column: 1 },
  query: { destination: "conversation", name: "question" },
  target: { destination: "session", name: "docs" },
  limit: 4,
  secondary: true,
};

interface Looking {
  readonly collection?: Collection;
  readonly step?: Partial<StepOf<"retriever">>;
  readonly journal?: RunJournal;
}

/** Takes the step; gives what is in its target afterwards, and what was told. */
async function look(question: Json | undefined, { collection, step, journal }: Looking = {}) {
  const run = new Run(journal === undefined ? {} : { journal });
  const written: unknown[] = [];
  const told: string[] = [];
  const events = (async () => {
    for await (const event of run.events) {
      if (event.type === "step-start" || event.type === "step-end") told.push(`${event.type} ${event.key}`);
    }
  })();
  const means: ConversationMeans = {
    models: { find: never },
    http: { fetch: never, open: never },
    tools: { find: never, names: never },
    budget: {},
    calls: {},
    env: never,
    runFile: never,
    askPrompt: never,
    ...(collection === undefined ? {} : { collection }),
  };
  const work: StepWork<StepOf<"retriever">> = {
    run,
    means,
    step: { ...STEP, ...step },
    key: "main/find#2",
    constants: {},
    signal: run.signal,
    fill: never,
    fillValue: never,
    slot: (path) => path.name === "question" ? question : undefined,
    setSlot: (path, value) => written.push([path, value]),
    memory: never,
    delta: never,
    say: never,
    discard: never,
    warn: never,
  };
  try {
    const outcome = await performRetriever(work);
    assert.deepEqual(outcome, { kind: "next" });
    assert.deepEqual(written.map((each) => Array.isArray(each) && each[0]), [STEP.target]);
    const [[, value] = []] = written as [unknown, string][];
    return { value, told };
  } finally {
    run.end({ status: journal === undefined ? "done" : "held" });
    await events;
  }
}

async function failure(question: Json | undefined, looking: Looking = {}): Promise<string> {
  const error = await look(question, looking).then(
    () => assert.fail("it found something"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ConversationStepError && error.step === "find", String(error));
  return error.message;
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
  assert.deepEqual(told, ["step-start main/find#2/retrieve", "step-end main/find#2/retrieve"]);
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
  const journal = memoryJournal();
  const begun = journal.create({ kind: "conversation", input: null });
  const first = failing(0);
  const looked = await look("x", { collection: first.collection, journal: begun });
  const again = failing(9);
  const resumed = await look("x", { collection: again.collection, journal: journal.open(begun.id) });
  assert.deepEqual([looked.value, resumed.value], ["**Source: A**\ntext", "**Source: A**\ntext"]);
  assert.deepEqual([first.asked.length, again.asked.length], [1, 0]);
  const { steps } = journal.read(begun.id);
  assert.deepEqual(steps.map(({ key, kind, input }) => [key, kind, input]), [
    ["main/find#2/retrieve", "read", { queries: ["x"], limit: 4, secondary: true }],
  ]);
});
