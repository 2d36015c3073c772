// What the examples of conversations show besides their cases in tests/spec/examples/: tests of their own, schemas for editors, several
// visits of one person, and a server that is really there.

import assert from "node:assert/strict";
import { join } from "node:path";
import { readProject } from "./architecture/project_tree.ts";
import { testProject } from "./_project.ts";
import type { TestProject } from "./_project.ts";
import { orrery, PROJECT_ROOT } from "./_run.ts";

const FOLDER = join(PROJECT_ROOT, "examples", "conversations");

async function exampleProject(): Promise<TestProject> {
  return await testProject(Object.fromEntries(await readProject(FOLDER)));
}

Deno.test("every agent of the examples has tests, and all of them pass", async () => {
  const names = [...(await readProject(FOLDER)).keys()];
  const agents = names.filter((name) => name.endsWith(".agent.yml"));
  assert.ok(agents.length >= 5, agents.join());
  for (const agent of agents) {
    const tests = agent.replace(".agent.yml", ".conversation-test.yml");
    assert.ok(names.includes(tests), `${agent} has no ${tests}`);
  }
  await using project = await exampleProject();
  const { code, stdout, stderr } = await project.run(["test", "."]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /\n\d+ passed, 0 failed\n$/);
  const check = await project.run(["check", "."]);
  const found = [check.code, check.stdout, check.stderr];
  const files = 2 * agents.length + 2; // with their tests, the collection and the settings
  assert.deepEqual(found, [0, "", `${files} files, 0 errors, 0 warnings\n`]);
});

Deno.test("the schemas that their modelines name are those that orrery schema prints", async () => {
  const files = await readProject(FOLDER);
  for (const kind of ["agent", "conversation-test"]) {
    const { stdout } = await orrery(["schema", kind]);
    const hint = `orrery schema ${kind} > examples/conversations/${kind}.schema.json makes it anew`;
    assert.equal(files.get(`${kind}.schema.json`), stdout, hint);
    const named = [...files].filter(([name]) => name.endsWith(`.${kind}.yml`));
    assert.ok(named.length >= 5);
    for (const [name, text] of named) {
      assert.ok(text.startsWith(`# yaml-language-server: $schema=${kind}.schema.json\n`), name);
    }
  }
});

Deno.test("onboarding: what was said in one conversation is known in the next, of this person alone", async () => {
  await using project = await exampleProject();
  const visit = async (user: string): Promise<string> => {
    const { code, stdout, stderr } = await project.run([
      ...["run", "onboarding.agent.yml", "--user", user, "--module", "first-week"],
      ...["--say", "Ana, in the workshop.", "--model", "script/models/onboarding.yml"],
    ]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.match(await visit("ana"), /^Welcome! [^]*\n\nYour task, Ana: Visit all three stations\.\n$/);
  assert.equal(
    await visit("ana"),
    "Good to see you again, Ana.\n\nIs this done: Visit all three stations.\n\nYour task, Ana: Mend three flat tyres.\n",
  );
  assert.match(await visit("bo"), /^Welcome! /);
});

Deno.test("feed: the events of a server are read while they come", async () => {
  await using project = await exampleProject();
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-net=127.0.0.1", join(FOLDER, "feed", "server.ts"), "0", "50"],
    stdout: "piped",
  }).spawn();
  try {
    const port = await portOf(server);
    const { code, stdout, stderr } = await project.run([
      ...["run", "feed.agent.yml", "--slot", `port=${port}`, `--allow-net=127.0.0.1:${port}`],
      ...["--model", "script/models/feed.yml", "--jsonl"],
    ]);
    assert.equal(code, 0, stderr);
    const events: readonly { readonly type: string; readonly step?: string; readonly text?: string }[] =
      stdout
        .trim().split("\n").map((line) => JSON.parse(line));
    const deltas = events.filter(({ type, step }) => type === "text-delta" && step === "listen");
    assert.equal(deltas.length, 3);
    assert.deepEqual(events.flatMap(({ type, text }) => type === "message" ? [text] : []), [
      "Harbour, pier 2:",
      "At 8:00 it is calm and dry, 17 degrees. At 12:00 there is a light wind from the west. From 14:00 on there may be thunderstorms.",
      "Go now and be back by two, before the thunderstorm.",
      "Have a good day.",
    ]);
  } finally {
    server.kill();
    await server.status;
  }
});

/** What it says in its first line. */
async function portOf({ stdout }: Deno.ChildProcess): Promise<string> {
  let said = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    const port = /:(\d+)\/lake\n/.exec(said)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error(`the server said ${JSON.stringify(said)}`);
}
