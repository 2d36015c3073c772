// What a user waits for at a terminal: the first words of an answer, a check of a large folder, the end behind Ctrl-C.

import assert from "node:assert/strict";
import { join } from "node:path";
import { isAlive } from "../../_mcp.ts";
import { readUntil, testProject } from "../../_project.ts";
import type { TestProject } from "../../_project.ts";
import { providerServer, TEST_KEY } from "../../_provider_server.ts";
import type { ProviderReply } from "../../_provider_server.ts";

/** A script that ignores TERM, and says which process it is. */
const STUBBORN = "trap '' TERM; echo $$ > pid.txt; while :; do sleep 0.1; done";

async function pidOf(project: TestProject): Promise<string> {
  for (let i = 0; i < 400; i++) {
    const pid = (await project.read("pid.txt").catch(() => "")).trim();
    if (pid !== "") return pid;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("pid.txt did not come");
}

const SLOW = `
- chunks: ["first line\\n", "second\\n", "third\\n", "fourth\\n", "fifth\\n"]
  delayMs: 200
`;

Deno.test("ask: the answer streams, and a reader that goes away ends it without an error", async () => {
  await using project = await testProject({ "slow.yml": SLOW });
  const child = project.start(["ask", "x", "-m", "script/slow.yml"]);
  await child.stdin.close();
  const started = performance.now();
  const reader = child.stdout.getReader();
  await readUntil(reader, "first line\n");
  assert.ok(performance.now() - started < 900, "the first line comes before the last is written");
  await reader.cancel();
  assert.equal((await child.status).code, 0);
  assert.equal(await new Response(child.stderr).text(), "");
});

Deno.test("check: a folder of 500 documents takes less than 2 seconds", async () => {
  await using project = await testProject({ "orrery.yaml": "models: { default: script/echo }\n" });
  for (let i = 0; i < 500; i++) {
    const text = `---\ntitle: Number ${i}\n---\n\n# Intro\n\n${"Some text. ".repeat(50)}\n\n` +
      "@llm\nprompt: Go on\nblock: intro\n\n@return\nblock: intro\n";
    await Deno.writeTextFile(join(project.folder, `d${i}.md`), text);
  }
  const start = performance.now();
  const { code, stderr } = await project.run(["check"]);
  const ms = performance.now() - start;
  assert.deepEqual([code, stderr], [0, "501 files, 0 errors, 0 warnings\n"]);
  assert.ok(ms < 2000, `${ms} ms`);
});

const WAITS: readonly { readonly name: string; readonly reply: ProviderReply; readonly until: string }[] = [
  { name: "that has said it is overloaded", reply: { status: 429 }, until: "trying again in" },
  { name: "that hangs", reply: { parts: [{ text: ["a", "b"] }], hangAfterBytes: 1 }, until: "" },
];

for (const { name, reply, until } of WAITS) {
  for (const times of [1, 2]) {
    Deno.test(`Ctrl-C ${times === 1 ? "once" : "twice"} while a provider is waited for ${name}`, async () => {
      if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
      const asked = Promise.withResolvers<void>();
      await using provider = providerServer(() => {
        asked.resolve();
        return reply;
      });
      await using project = await testProject();
      const env = { OPENAI_API_KEY: TEST_KEY, OPENAI_BASE_URL: `${provider.url}/v1` };
      const child = project.start(["ask", "Hi", "-m", "openai/test"], { env });
      await child.stdin.close();
      const reader = child.stderr.getReader();
      await asked.promise;
      await readUntil(reader, until);
      const started = performance.now();
      for (let i = 0; i < times; i++) child.kill("SIGINT");
      const said = await readUntil(reader, "to go on: orrery resume ");
      await Promise.all([reader.cancel(), child.stdout.cancel()]);
      assert.equal((await child.status).code, 130, said);
      assert.ok(performance.now() - started < 1_000);
      assert.doesNotMatch(said, /error: |\n\s+at /);
      assert.equal(JSON.parse((await project.run(["runs", "--json"])).stdout)[0].status, "stopped");
    });
  }
}

Deno.test("ask: Ctrl-C twice ends it at once, and what a gadget started; it can go on", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject({
    "tools.yml":
      `- text: |\n    !!!GADGET_START:RunCommand:stubborn\n    !!!ARG:command\n    sh\n    !!!ARG:args/0\n    -c\n    !!!ARG:args/1\n    ${STUBBORN}\n    !!!GADGET_END\n- text: went on\n`,
  });
  const flags = ["--tools=RunCommand", "--allow-run"];
  const child = project.start(["ask", "x", "-m", "script/tools.yml", ...flags]);
  await child.stdin.close();
  const pid = await pidOf(project);
  child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = performance.now();
  child.kill("SIGINT");
  const { code } = await child.status;
  assert.equal(code, 130);
  assert.ok(performance.now() - second < 1_000);
  const id = await project.newest();
  assert.match(
    await new Response(child.stderr).text(),
    new RegExp(`stopped; to go on: orrery resume ${id}\n`),
  );
  await child.stdout.cancel();
  assert.equal(await isAlive(Number(pid)), false);
  const resumed = await project.run(["resume", id, "--skip", "all", "-q"]);
  assert.deepEqual([resumed.code, resumed.stdout], [0, "went on"], resumed.stderr);
});

Deno.test("Ctrl-C twice: at once, and no child is left, not even one that ignores TERM", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject({
    "stubborn.calls":
      `!!!GADGET_START:RunCommand:stubborn\n!!!ARG:command\nsh\n!!!ARG:args/0\n-c\n!!!ARG:args/1\n${STUBBORN}\n!!!GADGET_END\n`,
  });
  const child = project.start(["run", "stubborn.calls", "--allow-run=sh"]);
  await child.stdin.close();
  const pid = await pidOf(project);
  child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 150));
  const second = performance.now();
  child.kill("SIGINT");
  const [{ code }, stderr] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    child.stdout.cancel(),
  ]);
  assert.equal(code, 130);
  assert.ok(performance.now() - second < 1_000);
  assert.match(stderr, /stopped; to go on: orrery resume /);
  for (let i = 0; i < 40 && await isAlive(Number(pid)); i++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.equal(await isAlive(Number(pid)), false);
});
