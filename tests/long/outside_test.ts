// A project of somebody else, in a folder elsewhere: its program and its gadget import "orrery", with the compiler options that Deno
// has by itself. `orrery help library` says which settings it needs; both ways that it names are tried.

import assert from "node:assert/strict";
import { join } from "node:path";
import { isDeno26, PROJECT_ROOT, runProgram, type RunResult } from "../_run.ts";

const DOOR = join(PROJECT_ROOT, "mod.ts");
const LINKED = { links: [PROJECT_ROOT], imports: { orrery: DOOR } };
const PLAIN = { imports: { orrery: DOOR } };

const GADGET = `import { defineGadget } from "orrery";

export default defineGadget({
  name: "Shout",
  description: "Gives a text in capital letters.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text.toUpperCase(),
});

// @ts-expect-error a gadget has a name: the types are there, and strict
() => defineGadget({ description: "", input: {}, run: () => null });
`;

/** Something of every part: what it is told to do is in the folder, but for the models. */
const PROGRAM = `import {
  createAgent, definePrompt, fakeModel, loadAgent, loadCatalog, openConversation, openJournal, runCalls, runDocument, tags,
} from "orrery";
import type { Json, RunEvent } from "orrery";

const valueOf = async (events: AsyncIterable<RunEvent>): Promise<Json | undefined> => {
  let value: Json | undefined;
  for await (const event of events) {
    if (event.type === "call-result") value = event.result;
    if (event.type === "run-end") value ??= event.value;
  }
  return value;
};

const catalog = await loadCatalog({ root: "." });
console.log(await valueOf(runCalls(["!!!GADGET_START:Shout\\n!!!ARG:text\\nhello\\n!!!GADGET_END\\n"], { catalog })));
await catalog.close?.();

console.log(await valueOf(runDocument("slogan.md", { model: fakeModel(["Light for a year."]) })));

const task = definePrompt({
  path: "task",
  template: "Answer: {question}\\n<answer>…</answer>",
  parser: tags({ requiredXmlTags: ["answer"] }),
});
const agent = createAgent({ name: "researcher", model: fakeModel(["<answer>42</answer>"]), system: "Be brief." });
const { parsed } = await agent.open().ask(task, { question: "6 * 7?" });
console.log(parsed.xmlTags.answer[0]);
// @ts-expect-error the variables of a prompt come from its template
() => agent.open().ask(task, { qestion: "6 * 7?" });

const conversation = await openConversation(await loadAgent("hello.agent.yml"), { store: openJournal("."), user: "ana" });
for await (const event of conversation.start("Hello.")) {
  if (event.type === "message") console.log(event.text);
}
`;

const DOCUMENT = '@llm\nprompt: Write a slogan.\nuse-header: "# Slogan"\n\n@return\nblock: slogan\n';
const AGENT =
  'version: "0.1"\nstructure: { id: hello, action: { id: main, message: { message: Good morning } } }\n';
const SAID = "HELLO\n# Slogan\nLight for a year.\n42\nGood morning\n";

Deno.test("a project elsewhere imports orrery, and its types fit", async (t) => {
  await using place = await makePlace();
  await place.settings(LINKED);
  await t.step("linked, it runs", () => assertSaid(place.deno("run", "-A", "program.ts")));
  await t.step("the types fit", async () => {
    const { code, stderr } = await place.deno("check", "program.ts", "gadgets/shout.ts");
    assert.equal(code, 0, stderr);
  });
  await t.step({
    name: "an entry alone does the same",
    ignore: isDeno26, // 2.6 does not look beside the module for what it imports
    fn: async () => {
      await place.settings(PLAIN);
      await assertSaid(place.deno("run", "-A", "program.ts"));
    },
  });
});

async function assertSaid(run: Promise<RunResult>): Promise<void> {
  const { code, stdout, stderr } = await run;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, SAID);
}

async function makePlace() {
  const folder = await Deno.makeTempDir({ prefix: "orrery-outside-" });
  const write = (path: string, text: string) => Deno.writeTextFile(join(folder, path), text);
  await Deno.mkdir(join(folder, "gadgets"));
  await write("gadgets/shout.ts", GADGET);
  await write("program.ts", PROGRAM);
  await write("slogan.md", DOCUMENT);
  await write("hello.agent.yml", AGENT);
  await Deno.copyFile(join(PROJECT_ROOT, "deno.lock"), join(folder, "deno.lock")); // the packages that are here already
  return {
    settings: (settings: unknown) => write("deno.json", JSON.stringify(settings)),
    deno: (...args: readonly string[]) =>
      runProgram([Deno.execPath(), ...args], { cwd: folder, timeoutMs: 240_000 }),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
