// `orrery chat`: line by line through a pipe and at a terminal.
import assert from "node:assert/strict";
import { testProject } from "./_project.ts";
import { atTerminal, noTerminal } from "./_pty.ts";
import { typed, typedTest } from "./_typed.ts";

Deno.test("chat through a pipe: a message a line, an answer a line; resume goes on with it", async () => {
  await using project = await testProject();
  const first = await project.run(["chat", "-m", "script/echo", "-q"], { stdin: "one\n\ntwo\r\nthree" });
  assert.deepEqual(first, { code: 0, stdout: "ECHO[one]\nECHO[two]\nECHO[three]\n", stderr: "" });
  const id = await project.newest();
  const second = await project.run(["resume", id], { stdin: "four\n" });
  assert.deepEqual([second.code, second.stdout], [0, "ECHO[four]\n"]);
  assert.match(second.stderr, /^3 messages so far; the last:\n> three\nECHO\[three\]\n/);
  assert.match(second.stderr, new RegExp(`held; to go on: orrery resume ${id}\n$`));
  const third = await project.run(["resume", id, "-q"], { stdin: "" });
  assert.deepEqual([third.code, third.stdout], [0, ""], third.stderr);
});

Deno.test("chat with tools through a pipe: only answers are on stdout", async () => {
  await using project = await testProject({
    "tools.yml":
      "- text: |\n    Wait.\n\n    !!!GADGET_START:Calculate:a\n    !!!ARG:expression\n    2 * 3\n    !!!GADGET_END\n- text: six\n",
  });
  const { code, stdout, stderr } = await project.run(
    ["chat", "-m", "script/tools.yml", "--tools=Calculate"],
    {
      stdin: "2 * 3?\n",
    },
  );
  assert.deepEqual([code, stdout], [0, "six\n"], stderr);
  assert.match(stderr, /ok {4}a {2}Calculate/);
});

Deno.test("chat: a turn that fails is told, and the conversation goes on; AGENTS.md is known to the model", async () => {
  await using project = await testProject({
    "some.yml": '- error: { status: 400, message: "too strange" }\n- text: better\n',
    "AGENTS.md": "Be brief.\n",
  });
  const { code, stdout, stderr } = await project.run(["chat", "-m", "script/some.yml"], { stdin: "a\nb\n" });
  assert.deepEqual([code, stdout], [0, "better\n"], stderr);
  assert.match(stderr, /warn {2}.*too strange/);
  const trace = await project.run(["trace", await project.newest(), "--json"]);
  assert.match(trace.stdout, /Be brief\./);
});

Deno.test("chat: an AGENTS.md that leads out of the project is not told; one that leads to a file of the project is", async () => {
  await using project = await testProject({ "notes.md": "Be kind.\n", "some.yml": "- text: a\n" });
  const link = `${project.folder}/AGENTS.md`;
  await Deno.writeTextFile(`${project.folder}/../secret.md`, "hush-hush");
  /** What the model was told besides the message. */
  const told = async (): Promise<string> => {
    const { code, stdout } = await project.run(["chat", "-m", "script/some.yml"], { stdin: "hi\n" });
    assert.deepEqual([code, stdout], [0, "a\n"]);
    return (await project.run(["trace", await project.newest(), "--json"])).stdout;
  };
  const none = await told();
  assert.doesNotMatch(none, /AGENTS/);
  await Deno.symlink("../secret.md", link);
  assert.doesNotMatch(await told(), /hush-hush|AGENTS/);
  await Deno.remove(link);
  await Deno.symlink("notes.md", link);
  assert.match(await told(), /Be kind\./);
});

Deno.test("chat --jsonl, --budget, and records", async () => {
  await using project = await testProject();
  const jsonl = await project.run(["chat", "-m", "script/echo", "--jsonl", "-q", "--record", "talk.jsonl"], {
    stdin: "hi\n",
  });
  const types = jsonl.stdout.trim().split("\n").map((line) => JSON.parse(line).type);
  assert.deepEqual([types[0], types.at(-1)], ["run-start", "run-end"]);
  const replay = await project.run(["chat", "--replay", "talk.jsonl", "-q"]);
  assert.deepEqual([replay.code, replay.stdout], [0, "ECHO[hi]\n"], replay.stderr);
  const budget = await project.run(["chat", "-m", "script/echo", "-q", "--budget", "time=0.000001"], {
    stdin: "hi\n",
  });
  assert.equal(budget.code, 6, budget.stderr);
});

typedTest("chat at a terminal: lines that go on, blocks, commands", async () => {
  await using project = await testProject();
  const lines = [
    "one",
    "two \\",
    "more",
    '"""',
    "a",
    "",
    "b \\",
    '"""',
    "",
    "/help",
    "/nope",
    "three",
    "/quit",
    "never",
  ];
  const at = { cwd: project.folder, env: project.env };
  const { code, stdout, stderr } = await typed(["chat", "-m", "script/echo"], { ...at, lines });
  assert.deepEqual([code, stdout], [
    0,
    "ECHO[one]\nECHO[two \nmore]\nECHO[a\n\nb \\]\nECHO[three]\n",
  ]);
  assert.match(
    stderr,
    /\n> … {3}model [^\n]*\n> … … … … {3}model [^\n]*\n> > A line is a message\.\n[^]*There is no \/nope; \/help shows what there is\n> {3}model /,
  );
  const open = await typed(["chat", "-m", "script/echo"], { ...at, lines: ['"""', "left open"] });
  assert.deepEqual([open.code, open.stdout], [0, "ECHO[left open]\n"]);
});

Deno.test("chat at a terminal: Ctrl-C stops the answer and its gadgets; what had been said is the answer; twice ends the conversation", async () => {
  const missing = await noTerminal();
  if (missing !== undefined) return console.log(`not run here: ${missing}`);
  await using project = await testProject({
    "slow.yml": `- { when: first, chunks: ["begun", " and", " so", " on", " for", " ever"], delayMs: 300 }
- { when: second, calls: [ { name: Wait, input: { seconds: 60 } } ] }
- { when: third, calls: [ { name: Now, input: {} } ] }
- { when: "", text: never, delayMs: 60000 }
`,
  });
  const chat = atTerminal(
    ["chat", "-m", "script/slow.yml", "--tools", "Wait,Now", "--tools-mode", "native"],
    {
      cwd: project.folder,
      env: project.env,
    },
  );
  await chat.until("> ");
  for (const [message, shown] of [["first", "begun"], ["second", "model "], ["third", "Now"]] as const) {
    await chat.type(`${message}\n`);
    await chat.until(shown);
    await chat.type("\x03");
    await chat.until("stopped; Ctrl-C once more ends the conversation");
    await chat.until("> ");
  }
  await chat.type("\x03");
  const { code, screen } = await chat.end();
  assert.equal(code, 130, screen);
  assert.match(screen, /error call_1 {2}Wait {2}\d[^\n]*\n {8}chat: the answer was stopped\n/);
  const { stdout } = await project.run(["trace", await project.newest(), "--json"]);
  const { steps }: {
    readonly steps: readonly { readonly kind: string; readonly outcome: { ok?: unknown } }[];
  } = JSON
    .parse(stdout);
  const answers = steps.flatMap(({ kind, outcome }) =>
    kind === "model" ? [(outcome.ok as { readonly text: string }).text] : []
  );
  assert.deepEqual(answers, ["begun", "", "[stopped]", "", "[stopped]"]);
});

Deno.test("ask: a question and its context", async () => {
  await using project = await testProject();
  const asked = async (words: readonly string[], stdin?: string): Promise<string> =>
    (await project.run(["ask", ...words, "-m", "script/echo", "-q"], stdin === undefined ? {} : { stdin }))
      .stdout;
  assert.equal(await asked(["a", "b"]), "ECHO[a b]");
  assert.equal(await asked([], "text"), "ECHO[text]");
  assert.equal(await asked(["a"], "\n"), "ECHO[a]");
  assert.equal(await asked(["a"], "x\n"), "ECHO[a\n\n<stdin>\nx\n</stdin>]");
});
