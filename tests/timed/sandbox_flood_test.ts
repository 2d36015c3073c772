// A gadget that gives, logs or tells without end: the call ends, what is left out is said, and Orrery holds no more of it than a result.

import assert from "node:assert/strict";
import { runCalls } from "../../mod.ts";
import { gadgetFolder } from "../_gadgets.ts";

const GADGET = `
let [given, closed] = [0, 0];
async function* pieces(text: string) {
  try {
    while (true) {
      given++;
      yield text;
    }
  } finally {
    closed++;
  }
}
interface Context { log(text: string): void; progress(done: number, total?: number): void }
export default {
  name: "Floods",
  input: { type: "object", properties: { does: { type: "string" } } },
  run({ does }: { does: string }, { log, progress }: Context) {
    switch (does) {
      case "large": return pieces("x".repeat(65_536));
      case "small": return pieces("0123456789abcde\\n");
      case "empty": return pieces("");
      case "counts": return { given, closed };
      case "text": return "y".repeat(1e8);
    }
    for (let at = 1; at <= 1e6; at++) {
      if (does === "logs") log("line " + at);
      else progress(at, 1e6);
    }
    return does;
  },
};
`;

const RESULT_BYTES = 2 ** 20;

interface Told {
  readonly result: unknown;
  readonly error: string;
  readonly logs: readonly string[];
  readonly progress: readonly number[];
  /** The most that this process has grown while it ran, in MB. */
  readonly grownMb: number;
}

Deno.test("floods of a gadget end, and take no memory", async (t) => {
  await using folder = await gadgetFolder({
    files: { "gadgets/floods.ts": GADGET },
    trust: ["gadgets/floods.ts"],
  });
  const { catalog } = folder;

  async function run(does: string, timeoutMs = 60_000): Promise<Told> {
    const text = `!!!GADGET_START:Floods\n!!!ARG:does\n${does}\n!!!GADGET_END\n`;
    const before = Deno.memoryUsage().rss;
    let [result, error, grown]: [unknown, string, number] = [undefined, "", 0];
    const logs: string[] = [];
    const progress: number[] = [];
    const watch = setInterval(() => grown = Math.max(grown, Deno.memoryUsage().rss - before), 20);
    for await (const event of runCalls([text], { catalog, limits: { timeoutMs } })) {
      if (event.type === "call-log") logs.push(event.text);
      if (event.type === "call-progress") progress.push(event.done);
      if (event.type === "call-result") result = event.result;
      if (event.type === "call-error") error = event.error;
    }
    clearInterval(watch);
    return { result, error, logs, progress, grownMb: grown / 2 ** 20 };
  }

  const CUT =
    /\n\[cut: the stream was ended here, so nobody knows how much is missing; limits\.result-bytes is 1048576\]$/;
  for (const does of ["large", "small"]) {
    await t.step(`an endless stream of ${does} pieces`, async () => {
      const before = await run("counts");
      const { result, logs, grownMb, error } = await run(does);
      assert.match(String(result), CUT, error);
      assert.equal(String(result).replace(CUT, "").length, RESULT_BYTES);
      assert.equal(logs.join("").length, RESULT_BYTES);
      assert.ok(logs.length < 12_000, `${logs.length} events`);
      assert.ok(grownMb < 150, `${grownMb} MB`);
      const after = await run("counts");
      const [was, is] = [before.result, after.result] as { given: number; closed: number }[];
      assert.equal((is?.closed ?? 0) - (was?.closed ?? 0), 1, "its source was not closed");
      const most = RESULT_BYTES / (does === "large" ? 65_536 : 16) + 40;
      assert.ok((is?.given ?? Infinity) - (was?.given ?? 0) <= most, JSON.stringify([was, is]));
    });
  }
  await t.step("an endless stream of nothing takes its time and no memory", async () => {
    const { error, logs, grownMb } = await run("empty", 1_500);
    assert.match(error, /^Timed out after 1500 ms$/);
    assert.equal(logs.join(""), "");
    assert.ok(grownMb < 150, `${grownMb} MB`);
  });
  await t.step("a million lines of a log, a million reports of progress", async () => {
    const logged = await run("logs");
    assert.equal(logged.result, "logs");
    assert.ok(logged.logs.length <= 10_000);
    assert.equal(logged.logs.filter((text) => text.includes("[cut: ")).length, 1);
    const told = await run("progress");
    assert.equal(told.result, "progress");
    assert.ok(told.progress.length <= 10_000);
    assert.equal(told.progress.at(-1), 1e6);
    assert.match(told.logs.join(""), /^\n\[cut: 99\d{4} reports of progress are left out; [^\n]+\]\n$/);
    for (const { grownMb } of [logged, told]) assert.ok(grownMb < 150, `${grownMb} MB`);
  });
  await t.step("a text of 100 MB is cut, and its size is told", async () => {
    const { result, error } = await run("text");
    assert.equal(error, "");
    const missing = `${
      1e8 - RESULT_BYTES
    } of ${1e8} bytes are missing; limits.result-bytes is ${RESULT_BYTES}`;
    assert.equal(result, `${"y".repeat(RESULT_BYTES)}\n[cut: ${missing}]`);
  });
});
