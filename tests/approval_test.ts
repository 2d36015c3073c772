// What no flag allows is asked about where somebody is at the terminal (turn.md 2.6).
import assert from "node:assert/strict";
import { join } from "node:path";
import { createCatalog, type PermissionRequest, runCalls, type RunEvent, type User } from "../mod.ts";
import { userBehind } from "../lib/cli/run/around.ts";
import type { RunView } from "../lib/cli/run/view.ts";
import type { Terminal } from "../lib/host/terminal/terminal.ts";
import type { TerminalUser } from "../lib/host/terminal/user.ts";
import { approvingPolicy, createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";
import { Approvals } from "../lib/run/approvals.ts";
import { testProject } from "./_project.ts";
import { atTerminal, noTerminal } from "./_pty.ts";

/** Somebody who gives these answers, and what they were asked. */
function answering(...answers: readonly string[]): User & { readonly asked: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  return {
    asked,
    canAnswer: true,
    ask(question, { choices = [] } = {}) {
      asked.push(`${question} [${choices.join("/")}]`);
      return Promise.resolve(left.shift() ?? "no");
    },
  };
}

const NOBODY: User = { canAnswer: false, ask: () => Promise.reject(new Error("nobody is asked")) };

/** Runs calls of a gadget that asks for what its `value` names; a call a word. */
async function asking(
  user: User,
  values: readonly string[],
  options: { readonly deny?: readonly string[]; readonly signal?: AbortSignal; readonly chained?: boolean } =
    {},
): Promise<readonly RunEvent[]> {
  const flags = (options.deny ?? []).map((value) => ({ name: "deny-run", value }));
  const policy = createPolicy(parsePolicyFlags(flags), { root: "/p", cwd: "/p", realPath: (path) => path });
  const approvals = new Approvals(user);
  const guarded = approvingPolicy(policy, (refused) => approvals.ask(refused));
  const catalog = createCatalog([{
    name: "Start",
    description: "Starts a program.",
    input: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
    async run({ value }: { value: string }) {
      const request: PermissionRequest = { kind: "run", value };
      await guarded.permit(request);
      return `started ${value}`;
    },
  }]);
  const text = values.map((value, index) =>
    `!!!GADGET_START:Start:c${index}${options.chained && index > 0 ? `:c${index - 1}` : ""}\n` +
    `!!!ARG:value\n${value}\n!!!GADGET_END\n`
  );
  const { signal } = options;
  return await Array.fromAsync(runCalls(text, { catalog, approvals, ...(signal && { signal }) }));
}

const told = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === "permission-ask"
      ? [`ask ${event.subject} ${event.permissions}`]
      : event.type === "permission-answer"
      ? [`${event.allowed ? "allow" : "deny"} ${event.subject} by ${event.reason}`]
      : event.type === "call-result"
      ? [`ok ${event.invocationId}`]
      : event.type === "call-error"
      ? [`${event.code} ${event.invocationId} ${event.flag ?? ""}`.trim()]
      : []
  );

Deno.test("approval: a yes lets the call go on, for the rest of the run; question and answer are told", async () => {
  const user = answering("yes");
  const events = await asking(user, ["make", "make"], { chained: true });
  assert.deepEqual(user.asked, ['Running "make": allow it for this run? [yes/no]']);
  assert.deepEqual(told(events), [
    "ask run make --allow-run=make",
    "allow run make by terminal",
    "ok c0",
    "ok c1",
  ]);
  const ask = events.find((event) => event.type === "permission-ask");
  assert.equal(ask?.reason, 'Running "make" is not allowed: add --allow-run=make');
  assert.equal(ask?.step, "call:c0");
});

Deno.test("approval: a no is a refusal that names the flag", async () => {
  const events = await asking(answering("no"), ["make"]);
  assert.deepEqual(told(events), [
    "ask run make --allow-run=make",
    "deny run make by terminal",
    "permission c0 --allow-run=make",
  ]);
  const refused = events.find((event) => event.type === "call-error");
  assert.equal(refused?.error, 'Running "make" is not allowed: add --allow-run=make');
});

Deno.test("approval: two calls that want the same at once are one question, two things are two, one after the other", async () => {
  const same = answering("yes");
  assert.deepEqual(told(await asking(same, ["make", "make", "make"])).slice(-3), ["ok c0", "ok c1", "ok c2"]);
  assert.equal(same.asked.length, 1);
  let open = 0;
  const user: User = {
    canAnswer: true,
    async ask(question) {
      assert.equal(++open, 1, "one question at a time");
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      return question.includes("make") ? "yes" : "no";
    },
  };
  const events = told(await asking(user, ["make", "rm"]));
  assert.deepEqual(events.filter((line) => /^(ok|permission)/.test(line)).sort(), [
    "ok c0",
    "permission c1 --allow-run=rm",
  ]);
});

Deno.test("approval: nobody there is a refusal without a question; what is denied is not asked about", async () => {
  assert.deepEqual(told(await asking(NOBODY, ["make"])), [
    "deny run make by nobody",
    "permission c0 --allow-run=make",
  ]);
  const user = answering("yes");
  assert.deepEqual(told(await asking(user, ["make"], { deny: ["make"] })), ["permission c0"]);
  assert.deepEqual(user.asked, []);
});

Deno.test("approval: an abort ends the question", async () => {
  const stop = new AbortController();
  const user: User = {
    canAnswer: true,
    ask: (_question, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        stop.abort(new Error("Ctrl-C"));
      }),
  };
  const events = await asking(user, ["make"], { signal: stop.signal });
  const end = events.at(-1);
  assert.deepEqual([end?.type, end?.type === "run-end" && end.status], ["run-end", "stopped"]);
  assert.deepEqual(told(events).slice(1), ["abort c0"]);
});

Deno.test("user behind a view: it stands still while a question is open, and a stopped answer ends the question", async () => {
  const seen: string[] = [];
  const view = {
    pause: () => Promise.resolve(void seen.push("pause")),
    resume: () => void seen.push("resume"),
  } as unknown as RunView;
  const terminal = { stdinIsTerminal: true, stderr: { isTerminal: true } } as unknown as Terminal;
  const typist = {
    canAnswer: true,
    ask(question: string, { signal }: { signal?: AbortSignal } = {}) {
      seen.push(question);
      if (question === "fine?") return Promise.resolve("yes");
      return new Promise<string>((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason))
      );
    },
  } as TerminalUser;
  const turn = new AbortController();
  const options = { terminal, isQuiet: false, usesStdin: false, typist, turn: () => turn.signal };
  const user = await userBehind(view, options);
  assert.equal(await user.ask("fine?"), "yes");
  const open = user.ask("open?");
  await Promise.resolve();
  turn.abort(new Error("stopped"));
  await assert.rejects(open, /stopped/);
  assert.deepEqual(seen, ["pause", "fine?", "resume", "pause", "open?", "resume"]);
  for (const way of [{ isQuiet: true }, { usesStdin: true }]) {
    assert.equal((await userBehind(view, { ...options, ...way })).canAnswer, false);
  }
});

const WRITE = "!!!GADGET_START:WriteFile:w\n!!!ARG:path\nout/a.txt\n!!!ARG:content\nhello\n!!!GADGET_END\n";

Deno.test("approval at a terminal: run asks, writes, and keeps what was said; --quiet and a pipe refuse", async () => {
  const missing = await noTerminal();
  if (missing !== undefined) return console.log(`not run here: ${missing}`);
  await using project = await testProject({ "a.calls": WRITE });
  const { folder: cwd, env } = project;
  const piped = await project.run(["run", "a.calls", "-q", "--ephemeral"]);
  assert.equal(piped.code, 5);
  assert.match(piped.stderr, /refused; to allow it, add --allow-write=out\/a\.txt\n$/);
  const quiet = await atTerminal(["run", "a.calls", "-q", "--ephemeral"], { cwd, env }).end();
  assert.equal(quiet.code, 5, quiet.screen);
  assert.doesNotMatch(quiet.screen, /allow it for this run/);

  const no = atTerminal(["run", "a.calls", "--ephemeral"], { cwd, env });
  await no.until('Writing "out/a.txt": allow it for this run? [yes/no]');
  await no.type("perhaps\n");
  await no.until("allow it for this run? [yes/no]"); // an answer that is none is asked for again
  await no.type("no\n");
  assert.equal((await no.end()).code, 5);
  await assert.rejects(Deno.stat(join(cwd, "out")));

  const yes = atTerminal(["run", "a.calls"], { cwd, env: { ...env, NO_COLOR: "" } });
  await yes.until("allow it for this run? [yes/no]");
  await yes.type("y\n");
  const { code, screen } = await yes.end();
  assert.equal(code, 0, screen);
  assert.equal(await project.read("out/a.txt"), "hello");
  const { events } = JSON.parse((await project.run(["trace", await project.newest(), "--json"])).stdout);
  const kept = told(events).map((line) => line.replace(/ \S*out\/a\.txt/, " FILE"));
  assert.deepEqual(kept, [
    "ask write FILE --allow-write=out/a.txt",
    "allow write FILE by terminal",
    "ok w",
  ]);
});

Deno.test("approval at a terminal: ask and chat ask too, and the line after an answer is the next message", async () => {
  const missing = await noTerminal();
  if (missing !== undefined) return console.log(`not run here: ${missing}`);
  const reply = WRITE.split("\n").map((line) => `    ${line}\n`).join("");
  await using project = await testProject({ "w.yml": `- text: |\n${reply}- text: written\n- text: bye\n` });
  const { folder: cwd, env } = project;
  const model = ["-m", "script/w.yml", "--tools=WriteFile", "--ephemeral"];
  const ask = atTerminal(["ask", "go", ...model], { cwd, env });
  await ask.until("allow it for this run? [yes/no]");
  await ask.type("y\n");
  const asked = await ask.end();
  assert.equal(asked.code, 0, asked.screen);
  assert.match(asked.screen, /allow write .*--allow-write=out\/a\.txt \(terminal\)[\s\S]*written\n$/);

  const chat = atTerminal(["chat", ...model], { cwd, env });
  await chat.until("> ");
  await chat.type("go\n");
  await chat.until("allow it for this run? [yes/no]");
  await chat.type("n\n");
  await chat.until("written");
  await chat.until("> ");
  await chat.type("so long\n");
  await chat.until("bye");
  await chat.until("> ");
  await chat.type("/quit\n");
  const { code, screen } = await chat.end();
  assert.equal(code, 0, screen);
  assert.match(screen, /is not allowed: add --allow-write=out\/a\.txt/);
});

Deno.test("approval at a terminal: Ctrl-C at the question of a chat stops the answer, and nothing that is typed is lost", async () => {
  const missing = await noTerminal();
  if (missing !== undefined) return console.log(`not run here: ${missing}`);
  const reply = WRITE.split("\n").map((line) => `    ${line}\n`).join("");
  await using project = await testProject({
    "w.yml": `- text: |\n${reply}- { when: "^next message$", text: "heard it" }\n`,
  });
  const { folder: cwd, env } = project;
  const chat = atTerminal(["chat", "-m", "script/w.yml", "--tools=WriteFile", "--ephemeral"], { cwd, env });
  await chat.until("> ");
  await chat.type("go\n");
  await chat.until("allow it for this run? [yes/no]");
  await chat.type("\x03");
  await chat.until("stopped; Ctrl-C once more ends the conversation");
  await chat.type("next message\n"); // while nobody waits for a line
  await chat.until("heard it");
  await chat.until("> ");
  await chat.type("\x04");
  const { code, screen } = await chat.end();
  assert.equal(code, 0, screen);
});
