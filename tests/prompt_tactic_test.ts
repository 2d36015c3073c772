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
import { testProject } from "./_project.ts";

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
});

const TACTICS = `import { defineTactic, tags } from "orrery";
const researcher = defineTactic({
  name: "researcher",
  agents: ["researcher"],
  async call(question, { agents, prompts, signal, now, step }) {
    await step("made", () => undefined);
    const dialog = agents.researcher.open({ date: now().toISOString().slice(0, 10) });
    const { parsed } = await dialog.ask(prompts.get("research/task"), { question }, { signal });
    return [dialog.messages[0].content, parsed.xmlTags.answer[0]];
  },
});
const inner = defineTactic({
  name: "inner",
  agents: [],
  call: async (text, { now, step }) => [text, now().toISOString(), await step("write", () => 5)],
});
export const outer = defineTactic({
  name: "outer",
  agents: [],
  async call(question, { signal, step, now }) {
    await step("first", () => undefined);
    const [one, two, [text, at, written]] = await Promise.all([
      researcher.run(question, { signal }),
      researcher.run(question, { signal }),
      inner.run("in", { signal }),
    ]);
    const today = "Today is " + now().toISOString().slice(0, 10);
    return [one, two, text, written, at === now().toISOString(), one[0] === today];
  },
});
`;

Deno.test("tactic: another one that is given its signal has its agents, prompts, time and steps", async () => {
  await using project = await testProject({
    "orrery.yaml": "agents: [{ name: researcher, model: script/m.yml, systemPrompt: system }]\n",
    "m.yml": '- { when: Research, text: "<answer>1</answer>", repeat: true }\n',
    "prompts/system.prompt.md": "Today is {date}",
    "prompts/research/task.prompt.md": "---\ntags: { requiredXmlTags: [answer] }\n---\nResearch: {question}",
    "tactics/outer.ts": TACTICS,
  });
  const args = ["run", "outer", "-i", "task=q", "--trust-code", "--json"];
  const { code, stdout, stderr } = await project.run(args);
  assert.equal(code, 0, stderr);
  const [[system, answer], two, ...rest] = JSON.parse(stdout).value;
  assert.deepEqual([two, answer, rest], [[system, "1"], "1", ["in", 5, true, true]]);
  const trace = await project.run(["trace", await project.newest(), "--json"]);
  const keys: string[] = JSON.parse(trace.stdout).steps.map(({ key }: { key: string }) => key);
  assert.deepEqual(keys.map((key) => key.replaceAll(/:[0-9a-f]{12}/g, "")).toSorted(), [
    "step:first",
    "tactic[inner]/step:write",
    "tactic[researcher#2]/dialog[researcher]/turn[1]/model",
    "tactic[researcher#2]/step:made",
    "tactic[researcher]/dialog[researcher]/turn[1]/model",
    "tactic[researcher]/step:made",
  ]);
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
