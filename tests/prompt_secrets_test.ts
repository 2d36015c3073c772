// What a run must not tell, planted wherever a turn of a prompt takes something in, and looked for in all that it sends, tells and keeps.
import assert from "node:assert/strict";
import {
  AgentError,
  type AnyGadget,
  defineGadget,
  definePrompt,
  type Handler,
  memoryJournal,
  ModelError,
  type ModelPart,
  ParseError,
  runPrompt,
  tags,
  virtualClock,
} from "../mod.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import type { Secrets } from "../lib/core/world.ts";
import { createSecrets } from "../lib/core/secrets.ts";
import { agentsOfRun } from "../lib/run/agent/prompt_run.ts";
import { Run } from "../lib/run/run.ts";
import { type Script, scriptedModel } from "./_scripted_model.ts";

const KEY = 'sk-"plant\\ed/0+1=2~?&%41 ä☃';

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

const FORMS: Readonly<Record<string, string>> = {
  raw: KEY,
  json: json(KEY),
  slashes: json(KEY).replaceAll("/", "\\/"),
  url: encodeURIComponent(KEY),
  base64: base64(KEY),
};
const ALL = Object.values(FORMS).join(" | ");

function secrets(): Secrets {
  const all = createSecrets();
  all.add("KEY", KEY);
  return all;
}

/** In any form, also inside of JSON texts that hold it. */
function assertNowhere(what: unknown, where: string): void {
  const text = typeof what === "string" ? what : Deno.inspect(what, { depth: 50, strAbbreviateSize: 1e6 });
  const asJson = typeof what === "string" ? what : JSON.stringify(what) ?? "";
  for (const [name, form] of Object.entries({ ...FORMS, "json in json": json(json(KEY)) })) {
    for (const found of [text, asJson]) {
      const at = found.indexOf(form);
      assert.equal(
        at,
        -1,
        `the key is in ${where}, as ${name}: …${found.slice(Math.max(0, at - 60), at + 60)}…`,
      );
    }
  }
}

const tool = (name: string, more: object): AnyGadget =>
  defineGadget({ name, description: name, input: { type: "object" } as const, ...more });

const GADGETS: readonly AnyGadget[] = [
  tool("gives", { run: () => `a ${ALL} b` }),
  tool("nests", { run: () => ({ [KEY]: [{ deep: ALL }] }) }),
  tool("throws", {
    run: () => {
      throw new Error(`failed with ${ALL}`, { cause: new Error(KEY) });
    },
  }),
  tool("formats", { run: () => 1, format: () => `formatted ${ALL}` }),
  tool("breaks", {
    run: () => 1,
    format: () => {
      throw new Error(`format broke with ${ALL}`);
    },
  }),
  defineGadget({
    name: "refuses",
    description: "Refuses.",
    input: {
      "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: `not ${ALL}` }] }) },
    },
    run: () => 1,
  }),
];

const call = (name: string): ModelPart => ({
  type: "call",
  call: { id: "", name, arguments: JSON.stringify({ said: ALL }) },
});

const SCRIPTS: readonly Script[] = [
  [new ModelError(`full of ${ALL}`, { code: "rate-limit" })],
  [...ALL],
  ["I know ", ...ALL, ...GADGETS.map(({ name }) => call(name)), call(`no ${KEY}`)],
  [new ModelError(`down with ${ALL}`, { code: "server" })],
  ["<a>", ...ALL, "</a>"],
];

const HANDLER: Handler = {
  onException: () => `Again, without ${ALL}.`,
  onInterrupt: (prompt) =>
    prompt.extend({ path: "more", template: "{call_results} and {said}".replace("{said}", KEY) }),
  onInterruptFinal: `The end of ${ALL.replaceAll(/[{}]/g, "$&$&")}`,
};

const prompt = definePrompt({
  path: "task",
  template: "What is {what}?",
  parser: tags({ requiredXmlTags: ["a"] }).refine((result) => {
    if (!result.raw.includes("<a>")) throw new ParseError(`it is not ${ALL}`);
    return { ...result, own: ALL };
  }),
  tools: GADGETS,
  handler: HANDLER,
});

const AGENT = { name: "a", system: `You know ${ALL}.`, limits: { interruptSteps: 1 } };

Deno.test("a run of a prompt sends, tells, keeps and records nothing of a secret", async () => {
  const journal = memoryJournal();
  const run = journal.create({ kind: "prompt", input: null });
  const lines: RecordLine[] = [];
  const model = scriptedModel(SCRIPTS);
  const clock = virtualClock();
  const events = await clock.run(Array.fromAsync(runPrompt({
    prompt,
    args: { what: ALL },
    model,
    agent: AGENT,
    clock,
    journal: run,
    secrets: secrets(),
    recorder: { write: (line) => void lines.push(structuredClone(line)) },
  })));
  const end = events.at(-1);
  assert.ok(end?.type === "run-end" && end.status === "done", JSON.stringify(end));
  assert.equal(model.requests.length, 5);
  for (const [i, { messages }] of model.requests.entries()) assertNowhere(messages, `request ${i + 1}`);
  assertNowhere(events, "the events");
  assertNowhere(lines, "the record");
  assertNowhere(journal.read(run.id), "the journal");
  const joined = events.map((event) => event.type === "text-delta" ? event.text : "").join("");
  assertNowhere(joined, "the pieces of the answers, put together");
  const sent = model.requests.at(-1)?.messages.map(({ content }) => content) ?? [];
  const label = Object.keys(FORMS).map(() => "[secret KEY]").join(" | ");
  assert.deepEqual(sent.slice(0, 2), [`You know ${label}.`, `What is ${label}?`]);
  assert.equal(sent.at(-1), `The end of ${label}`);
  assert.ok(sent.some((text) => String(text).startsWith(`formatted ${label}`)));
  assert.ok(sent.some((text) => String(text).startsWith(`Error: format broke with ${label}`)));
});

Deno.test("what a dialog of such a run gives back is masked too: messages, state, replies and errors", async () => {
  const run = new Run({ clock: virtualClock(), secrets: secrets() });
  run.start("prompt", undefined);
  const model = scriptedModel([SCRIPTS[1] ?? [], SCRIPTS[2] ?? [], ["<a>", ...ALL, "</a>"]]);
  const dialog = agentsOfRun(run, {})(AGENT, () => model).open();
  const { parsed, text, state } = await dialog.ask(prompt, { what: ALL });
  assertNowhere(dialog.messages, "the messages");
  assertNowhere([text, parsed.xmlTags, state.calls, state.attempts], "the reply");

  const failing = [
    definePrompt({ template: "x", tools: [`no-${KEY}`] }),
    definePrompt({
      template: "x",
      parser: {
        parse: () => {
          throw new Error(`a bug with ${ALL}`);
        },
      },
    }),
    definePrompt({
      template: "x",
      parser: tags({ requiredXmlTags: ["a"] }),
      handler: { onException: () => null },
    }),
  ];
  for (const each of failing) {
    const other = agentsOfRun(run, {})(AGENT, () => scriptedModel([["no"], ["no"]])).open();
    const error = await other.ask(each).then(
      () => assert.fail("it gave an answer"),
      (error: unknown) => error,
    );
    assert.ok(error instanceof AgentError);
    assertNowhere(error.message, "the error");
    assertNowhere(other.messages.slice(2), "the messages");
  }
  const down = new ModelError(`down with ${ALL}`, { code: "request" });
  const last = agentsOfRun(run, {})(AGENT, () => scriptedModel([[down]])).open();
  await assert.rejects(last.say("x").call(), (error) => {
    assert.ok(error instanceof AgentError && error.code === "provider");
    assertNowhere(error.message, "the error");
    return true;
  });
  run.end({ status: "done" });
  assertNowhere(await Array.fromAsync(run.events), "the events");
});
