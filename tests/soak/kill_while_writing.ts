// A file that a gadget writes is there whole, old or new, at whatever moment the process is killed.

import assert from "node:assert/strict";
import { join } from "node:path";
import { orreryCommand, testEnvironment } from "../_run.ts";

const KILLS = 60;
/** From the beginning of a life to behind its end. */
const KILLS_A_LIFE = 12;
const BYTES = 8_000_000;

/** Kills `orrery run` with SIGKILL at moments spread over its whole life; gives what was seen. */
export async function killWhileWriting(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-kill-" });
  try {
    let [killed, written, lifeMs] = [0, 0, 0];
    await Deno.writeTextFile(join(folder, "big.txt"), contentOf(0));
    for (let i = 0; i < KILLS; i++) {
      // Measured anew: what the killed ones leave on a disk makes the next ones slower.
      if (i % KILLS_A_LIFE === 0) lifeMs = await runOnce(folder, 0, undefined);
      const version = i % 25 + 1;
      const killAfterMs = lifeMs * (0.3 + i % KILLS_A_LIFE / KILLS_A_LIFE);
      if (await runOnce(folder, version, killAfterMs) < 0) killed++;
      const text = await Deno.readTextFile(join(folder, "big.txt"));
      assert.equal(text.length, BYTES, `after kill ${i}: ${text.length} of ${BYTES} characters`);
      assert.equal(text, text[0]?.repeat(BYTES), `after kill ${i}: two versions are mixed`);
      if (text[0] === contentOf(version)[0]) written++;
    }
    assert.ok(killed > KILLS / 4, `only ${killed} of ${KILLS} runs were killed before their end`);
    assert.ok(written > 2, "no run that was killed late had written its file");
    return `${killed} of ${KILLS} runs killed, the file was whole each time, ${written} times the new one`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function contentOf(version: number): string {
  return String.fromCharCode(97 + version % 26).repeat(BYTES);
}

/** The milliseconds of a whole run; -1 when it was killed before. */
async function runOnce(folder: string, version: number, killAfterMs: number | undefined): Promise<number> {
  const [program, ...args] = orreryCommand();
  const text = `!!!GADGET_START:WriteFile\n!!!ARG:path\nbig.txt\n!!!ARG:content\n${
    contentOf(version)
  }\n!!!GADGET_END\n`;
  await Deno.writeTextFile(join(folder, "write.calls"), text);
  const start = performance.now();
  const child = new Deno.Command(program, {
    args: [...args, "run", "write.calls", "--quiet", "--allow-write=."],
    cwd: folder,
    clearEnv: true,
    env: testEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const { signal } = await child.status;
  clearTimeout(timer);
  return signal === null ? performance.now() - start : -1;
}
