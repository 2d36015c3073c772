// A call of a provider runs only when it is known to be complete: what each kind of turn makes of a call, and of an answer, that was cut.
import assert from "node:assert/strict";
import {
  type AnyGadget,
  ask,
  createAgent,
  createCatalog,
  definePrompt,
  fakeModel,
  memoryFiles,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  runDocument,
  type RunEvent,
  runPrompt,
  schemaContract,
  type TurnPolicy,
} from "../mod.ts";
import { providerProject } from "./_provider_project.ts";

// The kinds of turns

let runs = 0;

/** Does the worst that it can when it is given nothing. */
const clear = {
  name: "Clear",
  description: "Empties a folder.",
  input: { type: "object", properties: { folder: { type: "string", default: "." } } },
  run: () => `cleared ${++runs} times`,
} as AnyGadget;

const finish = (reason: "length" | "filter" | "other", rawReason?: string): ModelPart => ({
  type: "finish",
  reason,
  usage: { input: 1, output: 1 },
  model: "fake/model",
  ...(rawReason !== undefined && { rawReason }),
});

const BEGUN: ModelPart = { type: "call-start", id: "c1", name: "Clear" };
const CUT: readonly ModelPart[] = [BEGUN, { type: "call-cut", id: "c1", name: "Clear" }];

const withClear = (policy: Partial<TurnPolicy> = {}) => ({
  catalog: createCatalog([clear]),
  tools: ["Clear"],
  policy: { toolsMode: "native" as const, ...policy },
});

const ended = async (events: AsyncIterable<RunEvent>) => {
  const all = await Array.fromAsync(events);
  const end = all.at(-1);
  return end?.type === "run-end" ? { all, end } : assert.fail("the last event is no run-end");
};

/** Each kind of turn, from a model to the text that it ends with. */
const KINDS: Readonly<Record<string, (model: Model) => Promise<unknown>>> = {
  "ask": async (model) => (await ended(ask("Go", { model, ...withClear() }))).end.value,
  "ask, after the reply": async (model) =>
    (await ended(ask("Go", { model, ...withClear({ startCalls: "after-reply" }) }))).end.value,
  "prompt": async (model) => {
    const prompt = definePrompt({ path: "p", template: "Go.", tools: [clear] });
    return (await createAgent({ name: "a", model, system: "" }).open().ask(prompt, {})).text;
  },
  "document": async (model) => {
    const world = { root: "/project", files: memoryFiles({ "a.md": "@llm\nprompt: Go\ntools: Clear\n" }) };
    const { end } = await ended(runDocument("a.md", { world, model, gadgets: [clear] }));
    return end.document?.trimEnd().split("\n").at(-1);
  },
};

for (const [kind, answerOf] of Object.entries(KINDS)) {
  Deno.test(`native calls: ${kind}: a call that was cut is refused, and the model is told why`, async () => {
    runs = 0;
    const reasons: readonly (readonly [ModelPart, RegExp])[] = [
      [
        finish("length"),
        /cut off by the limit of its length\. The .* it was not run\. Call it again, with shorter arguments/,
      ],
      [finish("filter"), /cut off by a filter\. The .* so it was not run\. Call it again/],
      [finish("other", "weird"), /ended for the reason \\?"weird\\?", which is not known\. The .* not run\./],
    ];
    for (const [end, wanted] of reasons) {
      const model = fakeModel([[...CUT, end], "Done."]);
      assert.equal(await answerOf(model), "Done.");
      const [call, told] = model.requests[1]?.messages.slice(-2) ?? [];
      assert.equal(call?.role === "assistant" && call.calls?.[0]?.id, "c1");
      assert.equal(told?.role, "tool");
      assert.match(String(told?.content), wanted);
    }
    assert.equal(runs, 0);
  });
}

const ANY_SCHEMA = { type: "object", required: ["a"] } as const;

/** Each kind that holds an answer to a schema. */
const CONTRACTS: Readonly<Record<string, (model: Model) => Promise<unknown>>> = {
  "ask": (model) => ended(ask("Go", { model, contract: schemaContract(ANY_SCHEMA) })),
  "prompt": async (model) => {
    const prompt = definePrompt({ path: "p", template: "Go.", format: ANY_SCHEMA });
    await createAgent({ name: "a", model, system: "" }).open().ask(prompt, {});
  },
  "document": async (model) => {
    const text = "@llm\nprompt: Go\nschema: {type: object, required: [a]}\n";
    const world = { root: "/project", files: memoryFiles({ "a.md": text }) };
    assert.equal((await ended(runDocument("a.md", { world, model }))).end.status, "done");
  },
};

for (const [kind, askWith] of Object.entries(CONTRACTS)) {
  Deno.test(`${kind}: an answer that was cut is called so when it is asked for again`, async () => {
    const model = fakeModel([[{ type: "text", text: '{"a": [1' }, finish("length")], '{"a": 1}']);
    await askWith(model);
    const told = String(model.requests[1]?.messages.at(-1)?.content);
    assert.match(told, /JSON[^]*\. The answer was cut off by the limit of its length/);
  });
}

Deno.test("prompt: an empty answer is no value of a run", async () => {
  const prompt = definePrompt({ path: "p", template: "Go." });
  const { end } = await ended(runPrompt({ prompt, args: {}, model: fakeModel([" "]) }));
  assert.deepEqual([end.status, end.reason, end.error], [
    "failed",
    "provider",
    'prompt "p": the model gave an empty answer',
  ]);
});

Deno.test("native calls: a call that is resumed as cut stays so", async () => {
  runs = 0;
  const journal = memoryJournal();
  const run = journal.create({ kind: "ask", input: null });
  const first = fakeModel([[...CUT, finish("length")], new ModelError("no", { code: "request" })]);
  assert.equal((await ended(ask("Go", { model: first, journal: run, ...withClear() }))).end.status, "failed");
  const model = fakeModel(["Done."]);
  const again = journal.open(run.id);
  const { end } = await ended(ask("Go", { model, journal: again, ...withClear() }));
  assert.deepEqual([end.status, end.value, runs], ["done", "Done.", 0], end.error);
});

/** An agent with one step, for a provider of the test. */
const agentFile = (step: string) => ({
  "a.agent.yml":
    `version: "0.1"\nstructure:\n  id: a\n  action: { id: m, llm: { prompts: [{ system: Go. }], ${step} } }\n`,
});

Deno.test("native calls: conversation: a call that was cut is refused, and the model is told why", async () => {
  for (
    const [finish, wanted] of [["length", /the limit of its length\. The .* it was not run/], [
      "filter",
      /by a filter\. The .* so it was not run/,
    ]] as const
  ) {
    const call = { call: { id: "c1", name: "Template", arguments: '{"template": "x"}' } };
    await using at = await providerProject([{ parts: [call], finish }, { parts: [{ text: "Done." }] }], {
      files: agentFile("tools: [Template]"),
    });
    const { code, stdout, stderr } = await at.run("run", "a.agent.yml", "-m", "compatible/m", "--jsonl");
    assert.equal(code, 0, stderr);
    const events: readonly RunEvent[] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(events.flatMap((event) => event.type === "message" ? [event.text] : []), ["Done."]);
    assert.ok(!events.some(({ type }) => type === "call-result"));
    const [asked, told] = at.provider.requests[1]?.body.messages.slice(-2) ?? [];
    assert.equal(asked.tool_calls[0].id, "c1");
    assert.deepEqual([told.role, told.tool_call_id], ["tool", "c1"]);
    assert.match(told.content, wanted);
  }
});

Deno.test("conversation: an answer that was cut is called so when it is asked for again", async () => {
  await using at = await providerProject([
    { parts: [{ text: '{"a": [1' }], finish: "length" },
    { parts: [{ text: '{"a": 1}' }] },
  ], { files: agentFile("schema: { type: object, required: [a] }") });
  const { code, stderr } = await at.run("run", "a.agent.yml", "-m", "compatible/m");
  assert.equal(code, 0, stderr);
  const told = String(at.provider.requests[1]?.body.messages.at(-1).content);
  assert.match(told, /JSON[^]*\. The answer was cut off by the limit of its length/);
});
