import assert from "node:assert/strict";
import {
  createAgent,
  defineGadget,
  definePrompt,
  defineTactic,
  fakeModel,
  PromptError,
  PromptRegistry,
  type Tactic,
  tags,
} from "../mod.ts";
import { requireAgents, runTactic, type TacticHost } from "../lib/run/tactic/tactic.ts";

const saveNote = defineGadget({ name: "save_note", description: "Saves a note." });
const task = definePrompt({
  path: "research/task",
  template: "Research: {question}",
  parser: tags({ requiredXmlTags: ["answer"] }),
  tools: [saveNote],
});
const registry = new PromptRegistry();
registry.register(task);

const researcher = defineTactic({
  name: "researcher",
  agents: ["researcher"],
  async call(question: string, { agents, prompts, signal, now }) {
    const dialog = agents.researcher.open({ date: now().toISOString().slice(0, 10) });
    const ask = prompts.get<typeof task>("research/task").link({ save_note: () => "saved" });
    const { parsed } = await dialog.ask(ask, { question }, { signal });
    return parsed.xmlTags.answer[0];
  },
});

const agentOf = (name: string, replies: readonly string[]) =>
  createAgent({ name, model: fakeModel(replies), system: definePrompt({ template: "Today is {date}" }) });

Deno.test("tactic: the task, the agents and the prompts are given, the result has a type", async () => {
  const agents = { researcher: agentOf("researcher", ["<answer>42</answer>"]), other: agentOf("other", []) };
  const answer: string = await researcher.run("What?", { agents, prompts: registry });
  assert.equal(answer, "42");
  assert.deepEqual(registry.get("research/task").unlinked, ["save_note"]);
  assert.ok(Object.isFrozen(researcher) && Object.isFrozen(researcher.agents));
  assert.equal(researcher.kind, "tactic");
});

Deno.test("tactic: what it needs and is not there is told before it begins", async () => {
  const agents = { a: agentOf("a", []), b: agentOf("b", []) };
  const told = (message: string) => new PromptError(message, { code: "define" });
  await assert.rejects(
    researcher.run("x", { agents }),
    told('tactic "researcher" needs agent "researcher", which is not configured (known: a, b)'),
  );
  await assert.rejects(
    researcher.run("x"),
    told('tactic "researcher" needs agent "researcher", which is not configured (known: none)'),
  );
  assert.doesNotThrow(() => requireAgents(researcher, ["researcher"]));
});

Deno.test("tactic: another one that is given its signal has its agents, prompts, time and steps", async () => {
  const seen: string[] = [];
  const host: TacticHost = {
    agents: new Map([["researcher", () => {
      seen.push("made");
      return agentOf("researcher", ["<answer>1</answer>", "<answer>2</answer>"]);
    }]]),
    prompts: registry,
    now: () => new Date(86_400_000),
    step: async (name, perform) => {
      seen.push(name);
      return await perform();
    },
  };
  const inner = defineTactic({
    name: "inner",
    agents: [],
    call: async (text: string, { now, step }) =>
      `${text} ${now().toISOString()} ${await step("write", () => 5)}`,
  });
  const outer = defineTactic({
    name: "outer",
    agents: [],
    async call(question: string, { signal, step }) {
      await step("first", () => undefined);
      const both = await Promise.all([
        researcher.run(question, { signal }),
        researcher.run(question, { signal }),
        inner.run("in", { signal }),
      ]);
      return both.join(", ");
    },
  });
  const result = await runTactic(outer, "q", { host });
  assert.equal(result, "1, 1, in 1970-01-02T00:00:00.000Z 5"); // each run has agents of its own
  assert.deepEqual(seen, ["first", "made", "made", "write"]);
});

Deno.test("tactic: its signal is aborted with the one that it was given", async () => {
  const controller = new AbortController();
  const waits = defineTactic({
    name: "waits",
    agents: [],
    call: (_task: string, { signal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        controller.abort(new Error("enough"));
      }),
  });
  await assert.rejects(waits.run("x", { signal: controller.signal }), /enough/);
  await assert.rejects(waits.run("x", { signal: controller.signal }), /enough/); // aborted from the start
});

Deno.test("tactic: what it throws, its caller gets", async () => {
  const fails = defineTactic({
    name: "fails",
    agents: [],
    call(): string {
      throw new RangeError("no");
    },
  });
  await assert.rejects(fails.run(undefined), new RangeError("no"));
});

Deno.test("tactic: a definition is checked", () => {
  const define = defineTactic as unknown as (definition: unknown) => Tactic;
  const call = () => 1;
  for (
    const [definition, message] of [
      [undefined, "defineTactic takes an object with name, agents and call"],
      [{ agents: [], call }, "tactic: name must be text"],
      [{ name: "t", agents: "a", call }, 'tactic "t": agents must be a list of names'],
      [{ name: "t", agents: [""], call }, 'tactic "t": agents must be a list of names'],
      [{ name: "t", agents: [] }, 'tactic "t": call must be a function'],
      [{ name: "t", agent: [], agents: [], call }, 'tactic "t": unknown key "agent". Did you mean "agents"?'],
    ] as const
  ) assert.throws(() => define(definition), new PromptError(message, { code: "define" }));
});
