// Modules that never end loading hold nobody up for long, and say which they are and what to do.

import assert from "node:assert/strict";
import { ENDLESS_CLASS } from "../../_endless_types.ts";
import { type TestProject, testProject } from "../../_project.ts";
import { isThorough } from "../../_thorough.ts";

const gadget = (name: string, top = ""): string =>
  `${top}\nexport default { name: "${name}", description: "A test.", run: () => "${name}" };\n`;

const FILES = {
  "gadgets/good.ts": gadget("Good"),
  "gadgets/loops.ts": gadget("Loops", "while (true);"),
  "gadgets/waits.ts": gadget("Waits", "await new Promise(() => {});"),
  "gadgets/slow.ts": gadget("Slow", "await new Promise((resolve) => setTimeout(resolve, 90_000));"),
  "good.calls": "!!!GADGET_START:Good:a\n!!!GADGET_END\n",
  "loops.calls": "!!!GADGET_START:Good:a\n!!!GADGET_END\n!!!GADGET_START:Loops:b\n!!!GADGET_END\n",
};

const problem = (file: string, ms: number): string =>
  `Cannot load gadgets/${file}.ts: The module of gadget gadgets/${file}.ts was not loaded within ${ms} ms: ` +
  "what stands at its top, or in a module that it imports, waits or takes too long; do that in run";

async function timed(project: TestProject, args: readonly string[]) {
  const start = performance.now();
  const ended = await project.run(args);
  return { ...ended, ms: performance.now() - start };
}

Deno.test("modules that never end loading", async (t) => {
  await using project = await testProject(FILES);
  await t.step("a run goes on without them, as soon as its timeout says", async () => {
    const { code, stdout, stderr, ms } = await timed(project, [
      "run",
      "good.calls",
      "--timeout",
      "1",
      "--ephemeral",
    ]);
    assert.deepEqual([code, stdout.trim()], [0, "Good"], stderr);
    assert.ok(ms < 5_000, `${ms} ms`);
  });
  await t.step("a call of one of them says which module and what to do", async () => {
    const { code, stdout, stderr } = await timed(project, [
      "run",
      "loops.calls",
      "--timeout",
      "1",
      "--ephemeral",
    ]);
    assert.equal(code, 1);
    assert.equal(stdout.trim(), "Good");
    assert.ok(stderr.includes(`loops.calls:3: ${problem("loops", 1_000)}`), stderr);
  });
  await t.step("a list names each, and waits for all of them at once", async () => {
    const { code, stdout, stderr, ms } = await timed(project, ["list", "gadgets"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Good +gadgets\/good\.ts +ready/m);
    for (const file of ["loops", "waits", "slow"]) assert.ok(stderr.includes(problem(file, 5_000)), stderr);
    assert.ok(ms > 4_500 && ms < 10_000, `${ms} ms`);
  });
  await t.step("one that cannot even be read is named too", async () => {
    const text = `export const a = ${ENDLESS_CLASS};`;
    await using other = await testProject({ "gadgets/good.ts": gadget("Good"), "gadgets/endless.ts": text });
    const { code, stdout, stderr, ms } = await timed(other, ["list", "gadgets"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Good +gadgets\/good\.ts +ready/m);
    assert.match(
      stderr,
      /Cannot load gadgets\/endless\.ts:1:1: Cannot read this TypeScript: it is nested too deeply/,
    );
    assert.ok(ms < 10_000, `${ms} ms`);
  });
  await t.step("nor is a look at one gadget held up for long, or a check", async () => {
    if (!isThorough) return; // five seconds each
    const shown = await timed(project, ["show", "gadget", "Good"]);
    assert.deepEqual([shown.code, shown.ms < 10_000], [0, true], `${shown.ms} ms: ${shown.stderr}`);
    const checked = await timed(project, ["check", "good.calls"]);
    assert.deepEqual([checked.code, checked.ms < 10_000], [0, true], `${checked.ms} ms: ${checked.stderr}`);
  });
  await t.step("Ctrl-C ends the waiting", async () => {
    if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
    const child = project.start(["run", "good.calls", "--ephemeral"]);
    await child.stdin.close();
    const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()];
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const start = performance.now();
    child.kill("SIGINT");
    assert.equal((await child.status).code, 130);
    assert.ok(performance.now() - start < 1_500, `${performance.now() - start} ms`);
    await Promise.all(outputs);
  });
});
