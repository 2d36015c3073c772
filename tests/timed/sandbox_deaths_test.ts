// However the process of a gadget dies, only the calls that were in it fail, each in words of its own, and none is made twice.

import assert from "node:assert/strict";
import { isProcessAlive } from "../../lib/host/process.ts";
import { gadgetProcesses } from "../../lib/host/commands/gadget_process.ts";
import type { GadgetHostOptions } from "../../lib/sandbox/gadget/host.ts";
import { listening, until } from "../_fake_gadget.ts";
import { type RealGadget, realGadget } from "../_real_gadget.ts";

const GADGET = `
interface Input { does: string }
function deep(n: number): number { return deep(n + 1) + 1; }
export default {
  name: "Dies",
  input: { type: "object", properties: { does: { type: "string" } } },
  async run({ does }: Input) {
    await Deno.readTextFile("began");
    switch (does) {
      case "wait": return await new Promise((resolve) => setTimeout(resolve, 60_000));
      case "deep": return deep(0);
      case "deep promise": return await (async function again(): Promise<number> { return await again() + 1; })();
      case "deep sort": { const list = Array.from({ length: 50_000 }, (_, at) => at); return list.sort(() => deep(0)); }
      case "pattern": return /(a+)+$/.test("a".repeat(40) + "b");
      case "buffer": return new ArrayBuffer(2 ** 40).byteLength;
      case "regexp": return new RegExp("(".repeat(1e6)).test("a");
      case "json": return JSON.parse("[".repeat(1e6)).length;
    }
    return does;
  },
};
`;

interface Deaths extends RealGadget {
  readonly pids: readonly number[];
  /** How many calls have begun. */
  readonly began: () => number;
  call(does: string, name?: string, signal?: AbortSignal): Promise<unknown>;
}

async function deaths(options: Partial<GadgetHostOptions> = {}): Promise<Deaths> {
  const pids: number[] = [];
  let began = 0;
  const start = gadgetProcesses();
  const real = await realGadget(GADGET, {
    start: async (wanted) => {
      const process = await start(wanted);
      pids.push(process.pid);
      return process;
    },
    perform: () => {
      began++;
      return Promise.resolve({ ok: null, bytes: new Uint8Array() });
    },
    ...options,
  });
  return {
    host: real.host,
    pids,
    began: () => began,
    call: (does, name = "c1", signal) =>
      real.host.call({ does }, listening({ invocationId: name, ...(signal && { signal }) })),
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

Deno.test("a process that is killed from outside fails the calls in it, each once", async () => {
  await using gadget = await deaths();
  const names = ["a", "b", "c"];
  const all = Promise.allSettled(names.map((name) => gadget.call("wait", name)));
  await until(() => gadget.began() === 3);
  const [pid = 0] = gadget.pids;
  Deno.kill(pid, "SIGKILL");
  for (const [at, each] of (await all).entries()) {
    assert.ok(each.status === "rejected");
    const name = names[at];
    const words = Deno.build.os === "windows" ? "ended with exit code" : "ended by the signal SIGKILL";
    assert.ok(
      String(each.reason).startsWith(`GadgetProcessError: The process of gadget real.ts ${words}`),
      String(each.reason),
    );
    assert.ok(
      String(each.reason).endsWith(
        `(in the call "${name}", which is not made again; the next one starts a new process)`,
      ),
      String(each.reason),
    );
  }
  assert.equal(await gadget.call("again"), "again");
  assert.equal(gadget.began(), 4);
  assert.equal(gadget.pids.length, 2);
});

Deno.test("a process that is killed while nobody uses it is noticed by nobody", async () => {
  await using gadget = await deaths();
  for (let round = 1; round <= 3; round++) {
    assert.equal(await gadget.call("x"), "x");
    const pid = gadget.pids.at(-1) ?? 0;
    Deno.kill(pid, "SIGKILL");
    await until(() => isProcessAlive({ pid }) === false);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(await gadget.call("x"), "x");
  assert.equal(gadget.pids.length, 4);
});

Deno.test("a process that was stopped meets its timeout, and is gone", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using gadget = await deaths();
  await gadget.call("x");
  const [pid = 0] = gadget.pids;
  Deno.kill(pid, "SIGSTOP");
  const abort = new AbortController();
  const stopped = gadget.call("x", "stopped", abort.signal);
  const other = gadget.call("x", "other");
  const both = Promise.allSettled([stopped, other]);
  setTimeout(() => abort.abort(new Error("Timed out")), 300);
  const [first, second] = await both;
  assert.match(String(first?.status === "rejected" && first.reason), /^Error: Timed out$/);
  assert.deepEqual(second, { status: "fulfilled", value: "x" }, "it is made in the next process");
  assert.equal(await gadget.call("again"), "again");
  await until(() => isProcessAlive({ pid }) !== true);
});

for (const does of ["deep", "deep promise", "deep sort", "buffer", "regexp", "json"]) {
  Deno.test(`an error of that call alone: ${does}`, async () => {
    await using gadget = await deaths();
    const other = gadget.call("wait", "other");
    other.catch(() => undefined);
    await until(() => gadget.began() === 1);
    const failure = await gadget.call(does).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    assert.match(failure ?? "", /^(RangeError|SyntaxError): |ran out of memory: a gadget may take/);
    assert.equal(await gadget.call("again"), "again");
  });
}

Deno.test("hundreds of calls, and the process killed again and again: each ends once, and is made once at most", async () => {
  await using gadget = await deaths();
  let [done, failed] = [0, 0];
  const kills = setInterval(() => {
    const pid = gadget.pids.at(-1);
    try {
      if (pid !== undefined) Deno.kill(pid, "SIGKILL");
    } catch { /* it is gone */ }
  }, 150);
  try {
    for (let round = 0; round < 40; round++) {
      const calls = Array.from({ length: 10 }, (_, at) => gadget.call(`${round}.${at}`, `${round}.${at}`));
      for (const [at, each] of (await Promise.allSettled(calls)).entries()) {
        if (each.status === "fulfilled") assert.equal(each.value, `${round}.${at}`);
        else {assert.match(
            String(each.reason),
            /ended (by the signal|with exit code)|before it was ready|ended by itself/,
          );}
        if (each.status === "fulfilled") done++;
        else failed++;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    clearInterval(kills);
  }
  assert.equal(done + failed, 400);
  assert.ok(done > 0 && gadget.began() <= 400, `${done} done, ${gadget.began()} begun`);
  // The last kill may not be over: it takes one call along, and the next one is made.
  await gadget.call("the last").catch(() => undefined);
  assert.equal(await gadget.call("again"), "again");
});
