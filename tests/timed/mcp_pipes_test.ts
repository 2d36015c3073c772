import assert from "node:assert/strict";
import { join } from "node:path";
import { hostPipes } from "../../lib/host/commands/pipe_process.ts";
import { isAlive } from "../_mcp.ts";
import { posixTest } from "../_posix_test.ts";

const pipes = hostPipes();
const cwd = Deno.cwd();
const bash = (script: string, onStderr: (text: string) => void = () => {}) =>
  pipes.start("bash", { args: ["-c", script], cwd, onStderr });

async function textOf(stdout: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdout) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

posixTest("pipes: what is written arrives whole and in order, and stdin ends with the process", async () => {
  const cat = pipes.start("cat", { cwd });
  const read = textOf(cat.stdout);
  const parts = Array.from({ length: 50 }, (_, index) => `${index}:${"ü".repeat(10_000)}\n`);
  await Promise.all(parts.map((part) => cat.write(part)));
  await cat.end();
  assert.equal(await read, parts.join(""));
  assert.deepEqual(await cat.ended, { exitCode: 0 });
  await assert.rejects(cat.write("more"), { message: "it has ended" });
});

posixTest(
  "pipes: stderr comes as it is written, and its end before the end of the process is told",
  async () => {
    const lines: string[] = [];
    const failing = bash("echo one >&2; printf 'grüße' >&2; exit 3", (text) => lines.push(text));
    assert.deepEqual(await failing.ended, { exitCode: 3 });
    assert.equal(lines.join(""), "one\ngrüße");
    await failing.end();
  },
);

posixTest("pipes: a program that writes more than is taken has to wait", async () => {
  let written = 0;
  const script = "for i in $(seq 200); do head -c 65536 /dev/zero; echo -n x >&2; done";
  const flood = bash(script, (text) => written += text.length);
  const chunks = flood.stdout[Symbol.asyncIterator]();
  await chunks.next();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(written < 20, `${written} of 200 pieces were written`);
  await flood.end({ now: true });
  await chunks.return?.();
});

posixTest("pipes: the end takes the whole group, whatever it does", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-pipes-" });
  try {
    const pids = join(folder, "pids");
    const group = bash(`sleep 100 & echo $! > ${pids}; echo $$ >> ${pids}; echo ready; wait`);
    const read = group.stdout[Symbol.asyncIterator]();
    await read.next();
    const ids = (await Deno.readTextFile(pids)).trim().split("\n").map(Number);
    assert.deepEqual(await Promise.all(ids.map(isAlive)), [true, true]);
    const start = performance.now();
    await Promise.all([group.end(), group.end({ now: true })]);
    assert.ok(performance.now() - start < 400, "the second end does not wait for stdin to be heard");
    assert.deepEqual(await Promise.all(ids.map(isAlive)), [false, false]);
    await read.return?.();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

posixTest("pipes: a program that does not read does not hold up the end", async () => {
  const deaf = pipes.start("sleep", { args: ["100"], cwd });
  const writing = deaf.write("x".repeat(1_000_000)).catch(() => {});
  const start = performance.now();
  await deaf.end();
  assert.ok(performance.now() - start < 2_000);
  await writing;
  await textOf(deaf.stdout);
});

posixTest("pipes: one that waits to be talked to does not keep our own process alive", async () => {
  const script = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const module = import.meta.resolve("../../lib/host/commands/pipe_process.ts");
    await Deno.writeTextFile(
      script,
      `import { hostPipes } from ${JSON.stringify(module)};
const child = hostPipes().start("cat", { cwd: Deno.cwd() });
child.hold(false);
(async () => { for await (const _ of child.stdout); })();
await child.write("hello");
console.log("idle");`,
    );
    const config = new URL("../../deno.json", import.meta.url).pathname;
    const start = performance.now();
    const { stdout, code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `--config=${config}`, script],
    }).output();
    assert.deepEqual([new TextDecoder().decode(stdout), code], ["idle\n", 0]);
    assert.ok(performance.now() - start < 5_000);
  } finally {
    await Deno.remove(script);
  }
});
