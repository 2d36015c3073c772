// Models without a network: those of scripts, as the command line asks them, and that of a program's own replies.
import assert from "node:assert/strict";
import { fakeModel, type Message, type ModelPart, type RunEvent } from "../mod.ts";
import { type TestProject, testProject } from "./_project.ts";

const user = (content: string): Message => ({ role: "user", content });

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

interface Asked {
  /** Of each answer of the model: its text and its calls. */
  readonly answers: readonly string[];
  readonly warnings: readonly string[];
  readonly end: RunEvent & { readonly type: "run-end" };
  readonly events: readonly RunEvent[];
}

/** Asks once, and tells what the model said each time that it was asked. */
async function asked(project: TestProject, text: string, ...args: readonly string[]): Promise<Asked> {
  const { stdout } = await project.run(["ask", text, "--jsonl", "--ephemeral", ...args]);
  const events: readonly RunEvent[] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const end = events.at(-1);
  assert.ok(end?.type === "run-end", stdout);
  const answers = events.flatMap((event) => {
    if (event.type !== "step-end" || event.outcome === undefined) return [];
    // deno-lint-ignore no-explicit-any
    const { text, calls } = event.outcome as any;
    return [
      [
        text,
        ...calls.map(({ id, name, arguments: given }: Record<string, string>) => `${id}=${name}(${given})`),
      ]
        .filter((said) => said !== "").join(" "),
    ];
  });
  const warnings = events.flatMap((event) => event.type === "warning" ? [event.text] : []);
  return { answers, warnings, end, events };
}

Deno.test("script/echo: its rules", async () => {
  await using project = await testProject();
  const echo = async (text: string, ...args: readonly string[]) =>
    (await asked(project, text, "-m", "script/echo", ...args)).answers;
  assert.deepEqual(await echo("Hello\nyou"), ["ECHO[Hello\nyou]"]);
  assert.deepEqual(await echo("before\nSAY:\n two\nlines"), [" two\nlines"]);
  assert.deepEqual(await echo("SAY:\nfirst\nTHEN:\nsecond"), ["first"]);
  assert.deepEqual(await echo("a\n SAY:\nno"), ["ECHO[a\n SAY:\nno]"]);
  const empty = await asked(project, "x\nSAY:", "-m", "script/echo");
  assert.deepEqual([empty.end.status, empty.end.error], ["failed", "script/echo gave an empty answer"]);
  const call = 'Do it\nCALL Now {"zone": "JST"}\nCALL Now {broken';
  assert.deepEqual(await echo(call), [`ECHO[${call}]`]);
  const native = ["--tools", "Now,Template", "--tools-mode", "native"];
  const [calls, told] = await echo(call, ...native);
  assert.equal(calls, 'call_1=Now({"zone": "JST"}) call_2=Now({broken)');
  assert.match(told ?? "", /^TOOLSAID\[Error: The arguments are not valid JSON \(/);
  const template = JSON.stringify(`a \n\t b${"c".repeat(100)}`);
  const [, said] = await echo(`CALL Template {"template": ${template}}`, ...native);
  assert.equal(said, `TOOLSAID[a b${"c".repeat(77)}]`);
});

Deno.test("script/echo: it fails as it is told, and is tried again without waiting", async () => {
  await using project = await testProject();
  const { end } = await asked(project, "FAIL", "-m", "script/echo");
  assert.deepEqual([end.status, end.reason, end.error], ["failed", "provider", "script provider failed"]);
  const { answers, warnings } = await asked(project, "FAIL 2", "-m", "script/echo");
  assert.deepEqual(answers, ["ECHO[FAIL 2]"]);
  assert.deepEqual(warnings, Array(2).fill("script provider failed; trying again in 0 s"));
  const chat = await project.run(["chat", "-m", "script/echo", "-q"], { stdin: "FAIL 2\nFAIL 2\n" });
  assert.deepEqual([chat.code, chat.stdout], [0, "ECHO[FAIL 2]\nECHO[FAIL 2]\n"], chat.stderr);
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
- error: { status: 500, message: down, retryAfterMs: 1 }
- text: last
`;
  await using project = await testProject({
    "replies.yaml": yaml,
    "r.jsonl": '{"text":"a"}\n\n{"text":"b"}\r\n',
  });
  const said = ["x", "weather?", "x", "x", "again", "again", "my weather", "weather", "the last word"];
  const chat = async (model: string, lines: readonly string[]) => {
    const args = ["chat", "-m", model, "--tools", "Now", "--tools-mode", "native"];
    return await project.run(args, { stdin: lines.map((line) => `${line}\n`).join("") });
  };
  const { code, stdout, stderr } = await chat("script/replies.yaml", said);
  assert.equal(code, 0);
  assert.equal(stdout, 'one\ntwo\n{"a":[1]}\nlast\nand again\nand again\nsunny\n');
  assert.deepEqual([...stderr.matchAll(/ok {4}(call_\d)/g)].map(([, id]) => id), [
    "call_1",
    "call_2",
    "call_3",
  ]);
  assert.match(stderr, /^ {2}warn {2}script\/replies\.yaml: down \(500\); trying again in 0 s$/m);
  assert.match(
    stderr,
    /script\/replies\.yaml has no reply: none of the 1 replies left fits\. The last message is user: "the last word"$/m,
  );
  const lines = await chat("script:r.jsonl", ["x", "x", "y"]);
  assert.equal(lines.stdout, "a\nb\n");
  assert.match(
    lines.stderr,
    /script\/r\.jsonl has no reply: all 2 replies are used\. The last message is user: "y"$/m,
  );
});

Deno.test("script/FILE: chunks take their time, and errors say how long to wait", async () => {
  await using project = await testProject({
    "s.yml": '- error: { status: 429, retryAfterMs: 100 }\n- chunks: ["a", "b", "c"]\n  delayMs: 20\n',
  });
  const { events, warnings, answers } = await asked(project, "x", "-m", "script/s.yml");
  assert.deepEqual(answers, ["abc"]);
  assert.match(warnings[0] ?? "", /; trying again in 0\.1 s$/);
  const waited = events.find(({ type }) => type === "warning")?.at ?? NaN;
  const times = events.flatMap((event) => event.type === "text-delta" ? [event.at] : []);
  assert.equal(times.length, 3);
  const early = 2; // timers of the system may be that much
  for (const [n, at] of times.entries()) {
    assert.ok(at - waited >= 100 + 20 * (n + 1) - early, `${at} after ${waited}`);
  }
});

Deno.test("script/FILE: what is wrong is told with its place", async () => {
  const problems = async (text: string, file = "s.yaml") => {
    await using project = await testProject({ [file]: text });
    const { code, stderr } = await project.run(["ask", "x", "-m", `script/${file}`, "-q"]);
    assert.equal(code, 2);
    return stderr.split("\n").filter((line) => line.startsWith(file)).map((line) =>
      line.replace(" error:", "")
    );
  };
  assert.deepEqual(await problems("text: one"), [
    "s.yaml:1:1: file: must be a list, found a mapping",
  ]);
  assert.deepEqual(
    await problems(
      '- txt: one\n- text: [1]\n- text: a\n  chunks: []\n- text: a\n  when: "("\n- calls: [{ nam: x }]\n- error: { status: -1 }\n- when: x\n',
    ),
    [
      's.yaml:1:3: [0]: unknown key "txt" in a reply (did you mean "text"?)',
      "s.yaml:2:9: [1].text: must be text, found a list",
      's.yaml:4:11: [2].chunks: stands beside "text": a reply says one thing',
      "s.yaml:6:9: [3].when: must be a regular expression (Invalid regular expression: /(/u: Unterminated group)",
      's.yaml:7:13: [4].calls[0]: unknown key "nam" in a call (did you mean "name"?)',
      "s.yaml:8:20: [5].error.status: must be a whole number, 0 or more",
      "s.yaml:9:3: [6]: is a reply that says nothing; it needs text, chunks, calls, object or error",
    ],
  );
  assert.deepEqual(await problems('{"text":"a"}\n{"text":1}\nnone\n', "s.jsonl"), [
    "s.jsonl:2:1: text: must be text, found a number",
    `s.jsonl:3:1: This line is not JSON (${jsonProblem("none")})`,
  ]);
  await using project = await testProject();
  const missing = await project.run(["ask", "x", "-m", "script/none.yaml", "-q"]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /^error: The model script\/none\.yaml cannot be opened: .*none\.yaml/);
});

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
}

Deno.test("replay/FILE gives the answers of a record, whatever is asked", async () => {
  await using project = await testProject();
  await project.run(["ask", "One", "-m", "script/echo", "--record", "run.jsonl"]);
  const again = await project.run(["ask", "Two", "-m", "replay/run.jsonl", "-q"]);
  assert.deepEqual(again, { code: 0, stdout: "ECHO[One]", stderr: "" });
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

Deno.test("script/FILE: is found in the project's root from a folder where nothing may be read", async () => {
  const clerk = "- text: Hello\n  repeat: true\n";
  await using project = await testProject({
    "p/orrery.yaml": "models: { default: script/clerk.yml }\n",
    "p/clerk.yml": clerk,
    "p/a.md": "# A\n\n@llm\nprompt: Hi\n",
  });
  const outside = (...args: readonly string[]) => project.run(args);
  assert.match((await outside("check", "p")).stderr, /, 0 errors, 0 warnings$/m);
  const ran = await outside("run", "p/a.md", "--ephemeral", "-q");
  assert.deepEqual([ran.code, ran.stderr], [0, ""], ran.stderr);
  assert.match(ran.stdout, /Hello/);
  const refused = await outside("run", "p/a.md", "--ephemeral", "-q", "-m", "script/gone.yml");
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /gone\.yml/);
});
