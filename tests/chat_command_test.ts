// `orrery chat`: line by line through a pipe, and the parts of the terminal's side that need no terminal.
import assert from "node:assert/strict";
import { createCatalog, type Model, type ModelPart } from "../mod.ts";
import { question } from "../lib/cli/ask/ask.ts";
import { ChatStop, typedMessages } from "../lib/cli/chat/lines.ts";
import type { Terminal } from "../lib/host/terminal/terminal.ts";
import { agentsText } from "../lib/service/prompt/open.ts";
import { stoppableCatalog, stoppableModel } from "../lib/service/start/stoppable.ts";
import { testProject } from "./_project.ts";

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
  await Deno.symlink("../secret.md", link);
  assert.equal(await agentsText(project.folder), "");
  const { code, stdout } = await project.run(["chat", "-m", "script/some.yml"], { stdin: "hi\n" });
  assert.deepEqual([code, stdout], [0, "a\n"]);
  assert.doesNotMatch((await project.run(["trace", await project.newest(), "--json"])).stdout, /hush-hush/);
  await Deno.remove(link);
  assert.equal(await agentsText(project.folder), "");
  await Deno.symlink("notes.md", link);
  assert.equal(await agentsText(project.folder), "Be kind.");
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

/** Somebody who types these lines. */
function typist(lines: readonly string[]) {
  const left = [...lines];
  return {
    prompts: [] as string[],
    canAnswer: true,
    ask: () => Promise.resolve(""),
    line(prompt: string) {
      this.prompts.push(prompt);
      return Promise.resolve(left.shift());
    },
  };
}

Deno.test("typed messages: lines that go on, blocks, commands", async () => {
  const user = typist([
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
  ]);
  let said = "";
  const { signal } = new AbortController();
  const messages = typedMessages(user, {
    signal,
    say: (text) => Promise.resolve(void (said += text)),
  });
  const got: (string | undefined)[] = [];
  for (let message = await messages.next();; message = await messages.next()) {
    got.push(message);
    if (message === undefined) break;
  }
  assert.deepEqual(got, ["one", "two \nmore", "a\n\nb \\", "three", undefined]);
  assert.match(said, /^A line is a message\.\n[\s\S]*There is no \/nope; \/help shows what there is\n$/);
  assert.deepEqual(user.prompts.slice(0, 4), ["> ", "> ", "… ", "> "]);
  assert.equal(
    await typedMessages(typist(['"""', "left open"]), { signal, say: () => Promise.resolve() }).next(),
    "left open",
  );
});

function interrupts() {
  let press = () => {};
  const terminal = {
    onInterrupt(listener: () => void) {
      press = listener;
      return { [Symbol.dispose]() {} };
    },
  } as unknown as Terminal;
  return { terminal, press: () => press() };
}

Deno.test("Ctrl-C in a conversation: the answer first, then the conversation", () => {
  const { terminal, press } = interrupts();
  const said: string[] = [];
  const stop = new ChatStop(terminal, (text) => said.push(text));
  stop.listening();
  press();
  assert.deepEqual([stop.signal.aborted, said.length], [false, 1]);
  stop.answering();
  press();
  assert.deepEqual([stop.turn.aborted, stop.signal.aborted], [true, false]);
  stop.listening();
  stop.answering();
  assert.equal(stop.turn.aborted, false);
  press();
  press();
  assert.deepEqual([stop.signal.aborted, stop.isInterrupted], [true, true]);
  assert.match(said[1] ?? "", /^stopped; Ctrl-C once more ends/);
});

Deno.test("an answer that is stopped is what had been said; one of nothing says so", async () => {
  const slow: Model = {
    id: "test/slow",
    async *stream({ signal }) {
      yield { type: "text", text: "begun" };
      if (signal?.reason?.message === "ended") throw signal.reason;
      await new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      yield { type: "text", text: "never" };
    },
  };
  let turn = new AbortController();
  const model = stoppableModel(slow, () => turn.signal);
  const parts: ModelPart[] = [];
  for await (const part of model.stream({ messages: [] })) {
    parts.push(part);
    if (part.type === "text") turn.abort();
  }
  assert.deepEqual(parts.map((part) => part.type === "text" ? part.text : part.type), ["begun", "finish"]);
  const none = await Array.fromAsync(model.stream({ messages: [] }));
  assert.deepEqual(none.map((part) => part.type === "text" ? part.text : part.type), ["[stopped]", "finish"]);
  turn = new AbortController();
  const run = new AbortController();
  const failing = (async () => {
    for await (const _part of model.stream({ messages: [], signal: run.signal })) {
      run.abort(new Error("ended"));
    }
  })();
  await assert.rejects(failing, /ended/);
});

Deno.test("gadgets are aborted with the answer that called them", async () => {
  const turn = new AbortController();
  const catalog = stoppableCatalog(
    createCatalog([{
      name: "Hang",
      description: "Waits.",
      run: (_input, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    }]),
    () => turn.signal,
  );
  const gadget = await catalog.maybeFind("Hang")?.load();
  const running = gadget?.run?.({} as never, {
    signal: new AbortController().signal,
    invocationId: "a",
    dependencies: {},
    call: { gadgetName: "Hang", invocationId: "a", parameters: {} },
    log: () => {},
    progress: () => {},
  });
  turn.abort(new Error("stopped"));
  await assert.rejects(Promise.resolve(running), /stopped/);
});

Deno.test("a question and its context", () => {
  assert.equal(question(["a", "b"], undefined), "a b");
  assert.equal(question([], "text"), "text");
  assert.equal(question(["a"], "\n"), "a");
  assert.equal(question(["a"], "x\n"), "a\n\n<stdin>\nx\n</stdin>");
});
