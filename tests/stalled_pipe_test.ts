// The first call of a slow pipe ends before the second is written: the pipe stands still until its result has been seen.

import assert from "node:assert/strict";
import { orreryCommand, testEnvironment } from "./_run.ts";

const FIRST = "!!!GADGET_START:Calculate:first\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n";
const SECOND = "!!!GADGET_START:Calculate:second:first\n!!!ARG:expression\n42 / 2\n!!!GADGET_END\n";

Deno.test("the first call of a stalled pipe ends before the second is written", async () => {
  const [program, ...args] = orreryCommand();
  const child = new Deno.Command(program, {
    args: [...args, "run", "-", "--jsonl", "--quiet"],
    clearEnv: true,
    env: testEnvironment(),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdin = child.stdin.getWriter();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  const readUntil = async (text: string): Promise<void> => {
    while (!seen.includes(text)) {
      const { done, value } = await lines.read();
      if (done) assert.fail(`${text} did not come; seen: ${seen}`);
      seen += value;
    }
  };
  await stdin.write(new TextEncoder().encode(FIRST));
  await readUntil('"type":"call-result","invocationId":"first"');
  assert.ok(!seen.includes("second"));
  await stdin.write(new TextEncoder().encode(SECOND));
  await stdin.close();
  await readUntil('"type":"run-end"');
  assert.match(seen, /"invocationId":"second","line":5,"result":21/);
  await lines.cancel();
  await child.stderr.cancel();
  assert.equal((await child.status).code, 0);
});
