// What no flag allows is asked about where somebody is at the terminal (turn.md 2.6).
import assert from "node:assert/strict";
import { join } from "node:path";
import type { RunEvent } from "../mod.ts";
import { type TestProject, testProject } from "./_project.ts";
import { atTerminal, noTerminal } from "./_pty.ts";
import { typed, typedTest } from "./_typed.ts";

/** A call for each path, that writes it; chained: each waits for the one before it. */
const writing = (paths: readonly string[], isChained = false): string =>
  paths.map((path, index) =>
    `!!!GADGET_START:WriteFile:c${index}${isChained && index > 0 ? `:c${index - 1}` : ""}\n` +
    `!!!ARG:path\n${path}\n!!!ARG:content\nx\n!!!GADGET_END\n`
  ).join("");

/** Runs calls at a terminal with these answers: the questions on the screen, and what the run kept. */
async function asking(
  project: TestProject,
  calls: string,
  { answers = [], flags = [] }: { readonly answers?: readonly string[]; readonly flags?: readonly string[] } =
    {},
) {
  await project.write("a.calls", calls);
  const at = { cwd: project.folder, env: project.env, lines: answers };
  const { code, stderr } = await typed(["run", "a.calls", ...flags], at);
  const { stdout } = await project.run(["trace", await project.newest(), "--json"]);
  const { events }: { readonly events: readonly RunEvent[] } = JSON.parse(stdout);
  const asked = stderr.split("\n").filter((line) => line.endsWith("[yes/no]"));
  return { code, asked, events, told: told(events).map((line) => line.replaceAll(`${project.folder}/`, "")) };
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

typedTest(
  "approval: a yes lets the call go on, for the rest of the run; question and answer are told",
  async () => {
    await using project = await testProject();
    const { code, asked, told, events } = await asking(project, writing(["out/a", "out/a"], true), {
      answers: ["yes"],
    });
    assert.equal(code, 0);
    assert.deepEqual(asked, ['Writing "out/a": allow it for this run? [yes/no]']);
    assert.deepEqual(told, [
      "ask write out/a --allow-write=out/a",
      "allow write out/a by terminal",
      "ok c0",
      "ok c1",
    ]);
    const ask = events.find((event) => event.type === "permission-ask");
    assert.equal(ask?.reason, 'Writing "out/a" is not allowed: add --allow-write=out/a');
    assert.equal(ask?.step, "call:c0");
  },
);

typedTest("approval: a no is a refusal that names the flag; what is denied is not asked about", async () => {
  await using project = await testProject();
  const no = await asking(project, writing(["a"]), { answers: ["no"] });
  assert.deepEqual([no.code, no.told], [5, [
    "ask write a --allow-write=a",
    "deny write a by terminal",
    "permission c0 --allow-write=a",
  ]]);
  const refused = no.events.find((event) => event.type === "call-error");
  assert.equal(refused?.error, 'Writing "a" is not allowed: add --allow-write=a');
  const denied = await asking(project, writing(["a"]), { answers: ["yes"], flags: ["--deny-write=a"] });
  assert.deepEqual([denied.code, denied.asked, denied.told], [5, [], ["permission c0"]]);
});

typedTest(
  "approval: two calls that want the same at once are one question, two things are two, one after the other",
  async () => {
    await using project = await testProject();
    const same = await asking(project, writing(["a", "a", "a"]), { answers: ["yes"] });
    assert.deepEqual(same.told.slice(-3).sort(), ["ok c0", "ok c1", "ok c2"]);
    assert.equal(same.asked.length, 1);
    const two = await asking(project, writing(["a", "b"]), { answers: ["yes", "no"] });
    assert.deepEqual(two.told.filter((line) => !line.startsWith("ok") && !line.startsWith("permission")), [
      "ask write a --allow-write=a",
      "allow write a by terminal",
      "ask write b --allow-write=b",
      "deny write b by terminal",
    ]);
    assert.deepEqual(two.told.filter((line) => /^(ok|permission)/.test(line)).sort(), [
      "ok c0",
      "permission c1 --allow-write=b",
    ]);
  },
);

const WRITE = "!!!GADGET_START:WriteFile:w\n!!!ARG:path\nout/a.txt\n!!!ARG:content\nhello\n!!!GADGET_END\n";

typedTest(
  "approval at a terminal: run asks, writes, and keeps what was said; --quiet and a pipe refuse",
  async () => {
    const missing = await noTerminal();
    if (missing !== undefined) return console.log(`not run here: ${missing}`);
    await using project = await testProject({ "a.calls": WRITE });
    const { folder: cwd, env } = project;
    const piped = await project.run(["run", "a.calls", "-q", "--ephemeral"]);
    assert.equal(piped.code, 5);
    assert.match(piped.stderr, /refused; to allow it, add --allow-write=out\/a\.txt\n$/);
    const quiet = await typed(["run", "a.calls", "-q", "--ephemeral"], { cwd, env, lines: ["yes"] });
    assert.equal(quiet.code, 5, quiet.stderr);
    assert.doesNotMatch(quiet.stderr, /allow it for this run/);

    const no = await typed(["run", "a.calls", "--ephemeral"], { cwd, env, lines: ["perhaps", "no"] });
    assert.equal(
      no.stderr.split("allow it for this run? [yes/no]").length,
      3,
      "an answer that is none is asked for again",
    );
    assert.equal(no.code, 5);
    await assert.rejects(Deno.stat(join(cwd, "out")));

    const stopped = atTerminal(["run", "a.calls", "--json"], { cwd, env });
    await stopped.until("allow it for this run? [yes/no]");
    await stopped.type("\x03");
    const { code: stoppedCode, screen: left } = await stopped.end();
    assert.equal(stoppedCode, 130, left);
    assert.match(left, /"status":"stopped"/);

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
  },
);

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
