import assert from "node:assert/strict";
import {
  fakeModel,
  memoryFiles,
  type Message,
  ModelError,
  type ModelPart,
  type ModelRequest,
  ProblemsError,
  systemClock,
  virtualClock,
} from "../mod.ts";
import { openModels, type OpenModelsOptions } from "../lib/models/open_models.ts";
import { testProject } from "./_project.ts";

function modelsOf(files: Readonly<Record<string, string>> = {}, options: Partial<OpenModelsOptions> = {}) {
  return openModels({
    settings: {},
    fetch: () => Promise.reject(new Error("this test has no network")),
    env: () => undefined,
    clock: systemClock,
    files: memoryFiles(files),
    retry: { baseMs: 1 },
    ...options,
  });
}

const user = (content: string): Message => ({ role: "user", content });
const TOOLS = [{ name: "Now", description: "Tells the time.", input: { type: "object" } }];

/** An answer in a few words. */
async function answerOf(
  models: ReturnType<typeof modelsOf>,
  id: string,
  request: ModelRequest | string,
): Promise<string> {
  const model = await models.find(id);
  const parts = await Array.fromAsync(
    model.stream(typeof request === "string" ? { messages: [user(request)] } : request),
  );
  return parts.map(shown).filter((text) => text !== "").join(" ");
}

function shown(part: ModelPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "call":
      return `${part.call.id}=${part.call.name}(${part.call.arguments})`;
    case "retry":
      return `retry${part.attempt}`;
    case "finish":
      return part.reason === "calls" ? "calls" : "";
    default:
      return "";
  }
}

async function errorOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    (value) => assert.fail(`gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  assert.ok(error instanceof Error);
  return error;
}

Deno.test("script/echo: its rules", async () => {
  const models = modelsOf();
  const ask = (request: ModelRequest | string) => answerOf(models, "script/echo", request);
  assert.equal(await ask("Hello\nyou"), "ECHO[Hello\nyou]");
  assert.equal(await ask("before\nSAY:\n two\nlines \n"), " two\nlines \n");
  assert.equal(await ask("SAY:\nfirst\nTHEN:\nsecond"), "first");
  assert.equal(await ask("x\nSAY:"), "");
  assert.equal(await ask(" SAY:\nno"), "ECHO[ SAY:\nno]");
  const call = 'Do it\nCALL Now {"zone": "JST"}\nCALL Now {broken';
  assert.equal(await ask(call), `ECHO[${call}]`);
  assert.equal(
    await ask({ messages: [user(call)], tools: TOOLS }),
    'call_1=Now({"zone": "JST"}) call_2=Now({broken) calls',
  );
  const result: Message = { role: "tool", id: "call_1", name: "Now", content: `a \n\t b${"c".repeat(100)}` };
  assert.equal(await ask({ messages: [user(call), result], tools: TOOLS }), `TOOLSAID[a b${"c".repeat(77)}]`);
  const invalid = user("The answer is not valid: it is no JSON");
  assert.equal(await ask({ messages: [user("SAY:\nx\nTHEN:\n{}"), invalid] }), "{}");
  assert.equal(await ask({ messages: [user("Hi"), invalid] }), `ECHO[${invalid.content}]`);
  assert.equal(await ask({ messages: [user("SAY:\none END two STOP")], stop: ["STOP", " END"] }), "one");
  const media: Message = {
    role: "user",
    content: [{ type: "media", mediaType: "image/png", data: "" }, { type: "text", text: "look" }],
  };
  assert.equal(await ask({ messages: [media] }), "ECHO[look]");
});

Deno.test("script/echo: it fails as it is told, and is tried again without waiting", async () => {
  const models = modelsOf({}, { retry: { baseMs: 1_000_000 } });
  const error = await errorOf(answerOf(models, "script/echo", "FAIL"));
  assert.ok(error instanceof ModelError);
  assert.deepEqual([error.code, error.message], ["request", "script provider failed"]);
  assert.equal(await answerOf(models, "script/echo", "FAIL 2"), "retry1 retry2 ECHO[FAIL 2]");
  assert.equal(await answerOf(models, "script/echo", "FAIL 2"), "ECHO[FAIL 2]");
  const once = await errorOf(answerOf(modelsOf(), "script/echo", { messages: [user("FAIL 2")], retries: 1 }));
  assert.match(once.message, /^script provider failed \(asked 2 times; /);
});

Deno.test("script/FILE: replies in order, of YAML and of JSON lines", async () => {
  const yaml = `
- text: "one"
- chunks: ["tw", "o"]
- object: { a: [1] }
- calls: [{ name: Now, input: { zone: JST } }, { name: Now }]
- text: "Let me see. "
  calls: [{ name: Now, input: {} }]
- when: "^weather"
  text: sunny
- when: again
  text: and again
  repeat: true
- error: { status: 500, message: down }
- text: last
`;
  const models = modelsOf({ "replies.yaml": yaml, "r.jsonl": '{"text":"a"}\n\n{"text":"b"}\r\n' });
  const ask = (text: string, id = "script/replies.yaml") => answerOf(models, id, text);
  assert.equal(await ask("x"), "one");
  assert.equal(await ask("weather?"), "tw o");
  assert.equal(await ask("x"), '{"a":[1]}');
  assert.equal(await ask("x"), 'call_1=Now({"zone":"JST"}) call_2=Now({}) calls');
  assert.equal(await ask("x"), "Let me see.  call_3=Now({}) calls");
  assert.equal(await ask("again"), "and again");
  assert.equal(await ask("again"), "and again");
  assert.equal(await ask("my weather"), "retry1 last");
  assert.equal(await ask("weather"), "sunny");
  const error = await errorOf(ask("the last word"));
  assert.ok(error instanceof ModelError);
  assert.deepEqual([error.code, error.message], [
    "request",
    'script/replies.yaml has no reply: none of the 1 replies left fits. The last message is user: "the last word"',
  ]);
  assert.equal(await ask("x", "script:r.jsonl"), "a");
  assert.equal(await ask("x", "script/r.jsonl"), "b");
  const over = await errorOf(ask("y", "script/r.jsonl"));
  assert.equal(
    over.message,
    'script/r.jsonl has no reply: all 2 replies are used. The last message is user: "y"',
  );
});

Deno.test("script/FILE: chunks take their time, and errors say how long to wait", async () => {
  const clock = virtualClock();
  const yaml =
    '- chunks: ["a", "b", "c"]\n  delayMs: 100\n- error: { status: 429, retryAfterMs: 5000 }\n- text: ok\n';
  const models = modelsOf({ "s.yml": yaml }, { clock });
  const times: number[] = [];
  await clock.run((async () => {
    const model = await models.find("script/s.yml");
    for await (const part of model.stream({ messages: [] })) {
      if (part.type === "text") times.push(clock.now());
    }
    assert.equal(await answerOf(models, "script/s.yml", "x"), "retry1 ok");
  })());
  assert.deepEqual(times, [100, 200, 300]);
  assert.equal(clock.now(), 5300);
});

Deno.test("script/FILE: what is wrong is told with its place", async () => {
  const problems = async (text: string, file = "s.yaml") => {
    const error = await errorOf(answerOf(modelsOf({ [file]: text }), `script/${file}`, "x"));
    assert.ok(error instanceof ProblemsError, error.message);
    return error.message.split("\n");
  };
  assert.deepEqual(await problems("text: one"), [
    "s.yaml:1:1: Found something else, expected a list of replies",
  ]);
  assert.deepEqual(
    await problems(
      '- txt: one\n- text: [1]\n- text: a\n  chunks: []\n- text: a\n  when: "("\n- calls: [{ nam: x }]\n- error: { status: -1 }\n',
    ),
    [
      's.yaml:1:3: Unknown key "txt". Did you mean "text"?',
      "s.yaml:1:3: Found a reply that says nothing, expected text, chunks, calls, object or error",
      "s.yaml:2:9: Found [1], expected text",
      "s.yaml:4:11: Found text and chunks, expected one of them",
      's.yaml:6:9: Found "(", expected a regular expression (Invalid regular expression: /(/u: Unterminated group)',
      's.yaml:7:13: Unknown key "nam". Did you mean "name"?',
      "s.yaml:7:11: Found nothing, expected text",
      "s.yaml:8:20: Found -1, expected a whole number from 0",
    ],
  );
  assert.deepEqual(await problems('{"text":"a"}\n{"text":1}\nnone\n', "s.jsonl"), [
    "s.jsonl:2:1: Found 1, expected text",
    `s.jsonl:3:1: Found a line that is not JSON (${jsonProblem("none")})`,
  ]);
  const missing = await errorOf(answerOf(modelsOf(), "script/none.yaml", "x"));
  assert.ok(missing instanceof ModelError);
  assert.equal(missing.code, "config");
  assert.match(missing.message, /^The model script\/none\.yaml cannot be opened: .*none\.yaml/);
});

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
}

Deno.test("replay/FILE is what the caller makes of it", async () => {
  const replay = (file: string) => fakeModel([`from ${file}`], { id: `replay/${file}` });
  assert.equal(await answerOf(modelsOf({}, { replay }), "replay/run.jsonl", "x"), "from run.jsonl");
  assert.throws(() => modelsOf().find("replay/run.jsonl"), {
    name: "ModelError",
    message: "The model replay/run.jsonl cannot be opened here: nothing that reads records was given",
  });
});

Deno.test("fakeModel: replies, parts, errors and functions", async () => {
  const model = fakeModel([
    "one",
    [{ type: "call", call: { id: "1", name: "Now", arguments: "" } }],
    new Error("no"),
  ]);
  const ask = async () => (await Array.fromAsync(model.stream({ messages: [user("x")] }))).map(shown);
  assert.deepEqual(await ask(), ["one", ""]);
  assert.deepEqual(await ask(), ["1=Now()", "calls"]);
  assert.equal((await errorOf(ask())).message, "no");
  assert.equal((await errorOf(ask())).message, "fake/model has no reply: all 3 are used");
  assert.equal(model.requests.length, 4);
  const echo = fakeModel(({ messages }) => `${messages.length} messages`, { id: "a/b", contextTokens: 9 });
  assert.deepEqual([echo.id, echo.contextTokens], ["a/b", 9]);
  const [text, finish] = await Array.fromAsync(echo.stream({ messages: [] }));
  assert.deepEqual([text, finish], [
    { type: "text", text: "0 messages" },
    { type: "finish", reason: "stop", usage: { input: 0, output: 0 }, model: "a/b" },
  ]);
});

Deno.test("script/FILE: a thought is no part of what ask, prompts, documents and conversations take as the answer", async () => {
  const call =
    "<think>\nPerhaps\n!!!GADGET_START:Calculate:c\n!!!ARG:expression\n6*7\n!!!GADGET_END\nno.\n</think>\n";
  const reply = (text: string) => JSON.stringify([{ text, repeat: true }]);
  await using project = await testProject({
    "call.yml": reply(`${call}Shall I?`),
    "unclosed.yml": reply(call.replace("</think>", "")),
    "closed.yml": JSON.stringify([{
      chunks: ["Hm, ", call.slice("<think>\n".length), "\nShall I?"],
      repeat: true,
    }]),
    "json.yml": reply('<thinking>{"a": 1}?</thinking>{"a": [2]}'),
    "tags.yml": reply("<think>Is it <answer>no</answer>?</think>\n<answer>yes</answer>"),
    "schema.json": '{ "type": "object" }',
    "prompts/yes.prompt.md": "---\ntags: { requiredXmlTags: [answer] }\n---\nYes or no?\n",
    "a.md": "# A\n\n@llm\nprompt: Go\n\n@return\nblock: llm-response-block\n",
    "a.agent.yml":
      'version: "0.1"\nstructure:\n  id: a\n  action:\n    id: m\n    llm: { prompts: [{ user: Go }] }\n',
  });
  const said = async (...args: readonly string[]): Promise<string> => (await project.run(args)).stdout.trim();
  for (const name of ["call", "closed"]) {
    assert.equal(
      await said("ask", "Go", "--tools", "Calculate", "--model", `script/${name}.yml`),
      "Shall I?",
      name,
    );
  }
  const { stdout, stderr } = await project.run([
    "ask",
    "Go",
    "--tools",
    "Calculate",
    "--model",
    "script/unclosed.yml",
  ]);
  assert.ok(!`${stdout}${stderr.replaceAll(/\b1q\w{10}\b/g, "")}`.includes("42"), `${stdout}${stderr}`);
  assert.deepEqual(
    JSON.parse(await said("ask", "Go", "--schema", "schema.json", "--model", "script/json.yml")),
    {
      a: [2],
    },
  );
  assert.match(await said("run", "yes", "--model", "script/tags.yml"), /"raw": "<answer>yes<\/answer>"/);
  assert.equal(await said("run", "a.md", "--model", "script/call.yml"), "# LLM response block\nShall I?");
  assert.equal(await said("run", "a.agent.yml", "--model", "script/call.yml"), "Shall I?");
});
