// Real processes of gadgets, from outside: whatever a gadget does in one, and however it begins and dies, only the calls that were in it
// fail, each in words of its own, none is made twice, and nothing of it is left. And who is let in at the socket where one connects.

import assert from "node:assert/strict";
import { isProcessAlive } from "../../lib/host/process.ts";
import { EarlyEnd, gadgetCommand, gadgetProcesses } from "../../lib/host/commands/gadget_process.ts";
import { GadgetHost, type GadgetHostOptions } from "../../lib/sandbox/gadget/host.ts";
import { fakeHost, joined, LIMITS, listening, loading, turn, until } from "../_fake_gadget.ts";
import { REAL_LIMITS, type RealGadget, realGadget } from "../_real_gadget.ts";
import { isStream } from "../../lib/core/async.ts";
import { join } from "node:path";
import { sweep } from "../../lib/host/files/private_folder.ts";
import { PROJECT_ROOT } from "../_run.ts";
import {
  connectFlags,
  type GadgetConnection,
  type GadgetListener,
  listenForGadget,
  newToken,
  tokenConnection,
} from "../../lib/host/commands/gadget_listener.ts";

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
  /** How many of them have ended, as we hear of it. */
  readonly ended: () => number;
  /** How many calls have begun. */
  readonly began: () => number;
  call(does: string, name?: string, signal?: AbortSignal): Promise<unknown>;
}

async function deaths(options: Partial<GadgetHostOptions> = {}): Promise<Deaths> {
  const pids: number[] = [];
  let ended = 0;
  let began = 0;
  const start = gadgetProcesses();
  const real = await realGadget(GADGET, {
    start: async (wanted) => {
      const process = await start(wanted);
      pids.push(process.pid);
      process.ended.then(() => ended++);
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
    ended: () => ended,
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
    await until(() => gadget.ended() === round);
    await turn();
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

const REAL_GADGET = `
interface Input { does: string }
export default {
  name: "Real",
  input: { type: "object", properties: { does: { type: "string" } } },
  format(result: unknown) { return "told " + JSON.stringify(result); },
  async run({ does }: Input, context: { signal: AbortSignal }) {
    switch (does) {
      case "throw": throw new RangeError("boom");
      case "loop": while (true);
      case "wait": return await new Promise((_resolve, reject) => context.signal.addEventListener("abort", reject));
      case "heap": { const kept: unknown[] = []; while (true) kept.push([kept.length, {}]); }
      case "buffers": { const kept: unknown[] = []; while (true) { kept.push(new Uint8Array(1e6).fill(1)); await null; } }
      case "stream": return (async function* () { for (let at = 0; at < 100; at++) yield at + " "; })();
      case "sync": return Deno.readTextFileSync("a.txt");
      case "flood": { for (let at = 0; at < 30_000; at++) console.log("line", at); return 1; }
      case "late": { context.signal.addEventListener("abort", () => setTimeout(() => console.log("late"), 1)); await new Promise(() => {}); }
    }
    return does;
  },
};
`;

Deno.test("a real gadget in a real process", async (t) => {
  await using gadget = await realGadget(REAL_GADGET, {
    perform: () => Promise.resolve({ ok: null, bytes: new TextEncoder().encode("of a file") }),
    limits: { ...REAL_LIMITS, memoryBytes: 128 * 2 ** 20, maxFrameBytes: 40 * 2 ** 20 },
  });
  const { host } = gadget;
  const call = (does: string, signal?: AbortSignal) =>
    host.call({ does }, listening({ ...(signal && { signal }) }));

  await t.step("results, streams, effects, texts", async () => {
    assert.equal((await host.describe()).name, "Real");
    assert.equal(await call("echo"), "echo");
    const stream = await call("stream");
    assert.ok(isStream(stream));
    assert.equal(String(await joined(stream)).split(" ").length, 101);
    assert.equal(await call("sync"), "of a file");
    assert.equal(await host.format({ a: 1 }, listening().call), 'told {"a":1}');
    const listener = listening();
    assert.equal(await host.call({ does: "flood" }, listener), 1);
    assert.match(listener.logs.at(-1) ?? "", /messages of this log are missing/);
  });
  await t.step("what it throws points at its source", async () => {
    await assert.rejects(call("throw"), (error: Error) => {
      assert.equal(error.name, "RangeError");
      assert.match(error.stack ?? "", /real\.ts:9:27/);
      return true;
    });
  });
  await t.step("cancels that are heard, and that are not", async () => {
    for (const does of ["wait", "late", "loop"]) {
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error("enough")), 50);
      await assert.rejects(call(does, abort.signal), /enough/);
      assert.equal(await call("again"), "again");
    }
  });
  await t.step("too much memory, in the heap and beside it", async () => {
    await assert.rejects(call("heap"), /ran out of memory: a gadget may take 128 MiB/);
    if (Deno.build.os === "linux") {
      await assert.rejects(call("buffers"), /ran out of memory: a gadget may take 128 MiB/);
    }
    assert.equal(await call("again"), "again");
  });
  await t.step("hundreds at once", async () => {
    const names = Array.from({ length: 500 }, (_, at) => `call ${at}`);
    assert.deepEqual(await Promise.all(names.map((name) => call(name))), names);
  });
});

const IS_LINUX = Deno.build.os === "linux";
const script = new URL("../_gadget_script.ts", import.meta.url).href;
const startScript = gadgetProcesses({ module: script });

function start(behaviour: string, signal: AbortSignal = new AbortController().signal) {
  return startScript({ modules: { "behaviour.txt": behaviour }, memoryBytes: 2 ** 26, signal });
}

function hostOf(behaviour: string): GadgetHost {
  const { host } = fakeHost(loading(), {
    start: ({ modules, ...options }) =>
      startScript({ ...options, modules: { ...modules, "behaviour.txt": behaviour } }),
    limits: { ...LIMITS, startMs: 20_000, cancelMs: 250 },
  });
  return host;
}

/** The folders that this process has made for gadgets. */
function folders(): readonly string[] {
  const temporary = Deno.makeTempDirSync();
  Deno.removeSync(temporary);
  const parent = join(temporary, "..");
  return [...Deno.readDirSync(parent)].map(({ name }) => name).filter((name) =>
    name.startsWith(`orrery-gadget-${Deno.pid}-`)
  );
}

for (const behaviour of ["echo", "strangers", "twice"]) {
  Deno.test(`a process that begins like this is let in once: ${behaviour}`, async () => {
    const process = await start(behaviour);
    assert.equal(folders().length, 1);
    const folder = new URL(process.folderUrl);
    if (Deno.build.os !== "windows") assert.equal((Deno.statSync(folder).mode ?? 0) & 0o777, 0o700);
    if (IS_LINUX) assert.ok((process.memoryBytes() ?? 0) > 2 ** 20);
    await process.end();
    assert.deepEqual(await process.ended, { exitCode: 137, signal: "SIGKILL", stderr: "" });
    assert.deepEqual(folders(), []);
  });
}

for (const [behaviour, code] of [["exit", 7], ["die", 9]] as const) {
  Deno.test(`a process that ends before it is let in is told as such: ${behaviour}`, async () => {
    await assert.rejects(start(behaviour), (error) => {
      assert.ok(error instanceof EarlyEnd);
      assert.equal(error.end.exitCode, code);
      assert.equal(error.end.stderr, behaviour === "exit" ? "no luck\n" : "");
      return true;
    });
    assert.deepEqual(folders(), []);
  });
}

for (const behaviour of ["silent", "stall"]) {
  Deno.test(`a process that is never let in is given up: ${behaviour}`, async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error("too late")), 700);
    await assert.rejects(start(behaviour, abort.signal), /too late/);
    assert.deepEqual(folders(), []);
  });
}

Deno.test("ten thousand calls over the socket", async () => {
  const host = hostOf("echo");
  const listener = listening();
  for (let at = 0; at < 2_000; at++) await host.call({ at }, listener);
  const before = Deno.memoryUsage().heapUsed;
  const began = performance.now();
  for (let at = 0; at < 10_000; at++) await host.call({ at }, listener);
  console.log(`${((performance.now() - began) / 10).toFixed(1)} us a call`);
  assert.ok(Deno.memoryUsage().heapUsed - before < 30 * 2 ** 20);
  await host.end();
  assert.deepEqual(folders(), []);
});

Deno.test("a flood of logs holds nobody up", async () => {
  const host = hostOf("flood");
  const abort = new AbortController();
  const listener = listening({ signal: abort.signal });
  const call = host.call(1, listener);
  setTimeout(() => abort.abort(new Error("enough")), 500);
  await assert.rejects(call, /enough/);
  const characters = listener.logs.reduce((sum, text) => sum + text.length, 0);
  assert.ok(characters < 1_200_000 && characters > 1_000_000, `${characters}`);
  assert.match(listener.logs.at(-1) ?? "", /characters in \d+ messages of this log are missing/);
  await host.end();
});

Deno.test("a process that runs out of memory says so", async () => {
  const host = hostOf("memory");
  await assert.rejects(host.call(1, listening()), /ran out of memory: a gadget may take 256 MiB/);
  await host.end();
  assert.deepEqual(folders(), []);
});

async function childOf(
  args: readonly string[],
  kill: boolean,
): Promise<{ readonly pid: number; readonly folder: string }> {
  const parent = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", join(PROJECT_ROOT, "tests/_gadget_parent.ts"), ...args],
    stdout: "piped",
  }).spawn();
  const reader = parent.stdout.getReader();
  const [pid, folder = ""] = new TextDecoder().decode((await reader.read()).value).trim().split(" ");
  if (kill) parent.kill("SIGKILL");
  await parent.status;
  await reader.cancel();
  return { pid: Number(pid), folder };
}

function isGone(folder: string): boolean {
  try {
    Deno.statSync(new URL(folder));
    return false;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return true;
  }
}

for (const behaviour of ["loop", "echo", "watched"]) {
  Deno.test(`nothing is left when we are killed: ${behaviour}`, async () => {
    if (!IS_LINUX) return console.log("not run here: only Linux lets us look for a process");
    const { pid, folder } = await childOf([behaviour, "stay"], true);
    assert.ok(pid > 0);
    await until(() => isProcessAlive({ pid }) === false);
    if (folder !== "") await until(() => isGone(folder));
  });
}

Deno.test("a process that is not held does not keep a program that is done", async () => {
  if (!IS_LINUX) return console.log("not run here: only Linux lets us look for a process");
  const { pid, folder } = await childOf(["echo"], false);
  await until(() => isProcessAlive({ pid }) === false);
  assert.throws(() => Deno.statSync(new URL(folder)), Deno.errors.NotFound);
});

for (const end of ["throws", "throws later", "rejects"]) {
  Deno.test(`nothing is left by a program that ends like this: it ${end}`, async () => {
    const { pid, folder } = await childOf(["echo", end], false);
    if (IS_LINUX) await until(() => isProcessAlive({ pid }) === false);
    assert.throws(() => Deno.statSync(new URL(folder)), Deno.errors.NotFound);
  });
}

Deno.test("a program that goes on after an error has its folder still", async () => {
  const parent = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", join(PROJECT_ROOT, "tests/_gadget_parent.ts"), "echo", "goes on"],
    stdout: "piped",
  }).spawn();
  const reader = parent.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const [, folder = ""] = ((await reader.read()).value ?? "").trim().split(" ");
  const before = [...Deno.readDirSync(new URL(folder))].map(({ name }) => name);
  assert.equal((await reader.read()).value, "on\n");
  assert.deepEqual([...Deno.readDirSync(new URL(folder))].map(({ name }) => name), before);
  await reader.cancel();
  parent.kill("SIGKILL");
  await parent.status;
  await until(() => isGone(folder));
});

Deno.test("a folder whose process is gone is swept at once, also when its number was given again", async () => {
  if (!IS_LINUX) return console.log("not run here: only Linux tells when a process was started");
  const { folder } = await childOf(["echo", "stay"], true);
  await until(() => isGone(folder));
  await Deno.mkdir(new URL(folder)); // as where nobody could take it away
  const name = new URL(folder).pathname.split("/").at(-2) ?? "";
  const place = join(new URL(folder).pathname, "..");
  const numbered = name.replace(/gadget-\d+-/, `gadget-${Deno.pid}-`);
  await Deno.mkdir(join(place, numbered));
  assert.match(name, /^orrery-gadget-\d+-n\d+-t\d+-/);
  await sweep(place);
  for (const each of [name, numbered]) {
    assert.throws(() => Deno.statSync(join(place, each)), Deno.errors.NotFound);
  }
});

Deno.test("what killed processes have left is swept", async () => {
  const parent = await Deno.makeTempDir();
  const old = new Date(Date.now() - 7_200_000);
  const own = IS_LINUX ? /\d+/.exec(Deno.readLinkSync("/proc/self/ns/pid"))?.[0] : "0";
  for (
    const name of [
      "orrery-gadget-999999999-a",
      "orrery-gadget-999999998-b",
      `orrery-gadget-${Deno.pid}-c`,
      "other-999999999-d",
      `orrery-gadget-999999999-n${own}-e`,
      "orrery-gadget-999999999-n1-f",
      `orrery-gadget-${Deno.pid}-n${own}-g`,
    ]
  ) {
    await Deno.mkdir(join(parent, name));
    if (!/[bef]$/.test(name)) await Deno.utime(join(parent, name), old, old);
  }
  await sweep(parent);
  const left = [...Deno.readDirSync(parent)].map(({ name }) => name.slice(-1)).sort();
  assert.deepEqual(left, IS_LINUX ? ["b", "c", "d", "f", "g"] : ["a", "b", "c", "d", "e", "f", "g"]);
  await Deno.remove(parent, { recursive: true });
});

Deno.test("a reader that is slow slows the gadget down", async () => {
  await using real = await realGadget(`
let given = 0;
async function* pieces() { while (true) { given++; yield "x".repeat(65_536); } }
export default {
  name: "Floods",
  input: { type: "object", properties: { does: { type: "string" } } },
  run: ({ does }: { does: string }) => does === "counts" ? { given } : pieces(),
};
`);
  const counts = async () => await real.host.call({ does: "counts" }, listening()) as { given: number };
  const before = (await counts()).given;
  const stream = await real.host.call({ does: "large" }, listening());
  assert.ok(isStream(stream));
  const reader = stream[Symbol.asyncIterator]();
  for (let taken = 1; taken <= 3; taken++) {
    await reader.next();
    await turn(100);
    const { given } = await counts();
    assert.ok(given - before <= 17 + taken, `${given - before} given, ${taken} taken`);
  }
  await reader.return?.();
});

const CONNECT = `
const at = JSON.parse(Deno.args[0]);
const connection = "path" in at
  ? await Deno.connect({ transport: "unix", path: at.path })
  : await Deno.connect({ hostname: "127.0.0.1", port: at.port });
await connection.write(new Uint8Array([7]));
`;

async function withFolder(name: string, work: (folder: string) => Promise<void>): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-" }));
  try {
    const folder = join(base, name);
    await Deno.mkdir(folder, { recursive: true });
    await work(folder);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

const hasSockets = Deno.build.os !== "windows";
const PLACES = { "a b": hasSockets ? "path" : "port", ["long".repeat(30)]: "port" } as const;

for (const [name, kind] of Object.entries(PLACES)) {
  Deno.test(`a process connects with its flags, and not without one of them: ${name.slice(0, 8)}, ${kind}`, () =>
    withFolder(name, async (folder) => {
      using waiting = listenForGadget(folder);
      assert.ok(kind in waiting.at, JSON.stringify(waiting.at));
      const script = join(folder, "connect.js");
      await Deno.writeTextFile(script, CONNECT);
      const start = (flags: readonly string[]) =>
        new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            "--no-prompt",
            "--no-config",
            "--no-lock",
            ...flags,
            script,
            JSON.stringify(waiting.at),
          ],
          stdin: "null",
          stderr: "piped",
        }).output();
      const allowed = [`--allow-read=${folder}`, ...connectFlags(waiting.at)];
      const accepted = waiting.listener.accept();
      accepted.catch(() => {});
      const { code, stderr } = await start(allowed);
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const connection = await accepted;
      const byte = new Uint8Array(2);
      assert.equal(await connection.read(byte), 1);
      connection.close();
      for (const flag of connectFlags(waiting.at)) {
        const { code, stderr } = await start(allowed.filter((other) => other !== flag));
        assert.equal(code, 1, `it connects without ${flag}`);
        assert.match(new TextDecoder().decode(stderr), /NotCapable/);
      }
      waiting[Symbol.dispose]();
      assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["connect.js"]);
      waiting[Symbol.dispose]();
    }));
}

Deno.test("a folder that Deno's flags cannot name is told, with what to do", () => {
  const at = { port: 1 };
  assert.throws(
    () => gadgetCommand({ at, folder: "/tmp/a,b", memoryBytes: 1 }),
    /a comma in its name.*\/tmp\/a,b; set TMPDIR/,
  );
});

/** The settings of a compiler that change what it makes. */
const EMITTED = /^(jsx|experimentalDecorators|emitDecoratorMetadata)/;

Deno.test("a gadget's process compiles the modules that it shares with Orrery as Orrery does, into the same file", async () => {
  const { args } = gadgetCommand({ at: { port: 1 }, folder: "/tmp/a", memoryBytes: 1 });
  const config = args.find((arg) => arg.startsWith("--config="))?.slice("--config=".length) ?? "";
  const [own, gadgets] = await Promise.all(
    [join(PROJECT_ROOT, "deno.json"), config].map(async (file) => JSON.parse(await Deno.readTextFile(file))),
  );
  const emitted = Object.entries(own.compilerOptions).filter(([name]) => EMITTED.test(name));
  assert.deepEqual(gadgets, { compilerOptions: Object.fromEntries(emitted) });
});

/** Says nothing before the turn has come. */
class FakeConnection {
  isClosed = false;
  #left: Uint8Array;
  readonly #turn: Promise<void>;

  constructor(said: Uint8Array, turn: Promise<void>) {
    this.#left = said;
    this.#turn = turn;
  }

  async read(into: Uint8Array): Promise<number | null> {
    await this.#turn;
    const piece = this.#left.subarray(0, into.length);
    this.#left = this.#left.subarray(piece.length);
    into.set(piece);
    return piece.length === 0 ? null : piece.length;
  }

  close(): void {
    this.isClosed = true;
  }
}

/** Five that say this, all in the turn in which the last of them has been accepted, and who waits for them. */
function five(said: Uint8Array) {
  const turn = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const connections = Array.from({ length: 5 }, () => new FakeConnection(said, turn.promise));
  let next = 0;
  const listener = {
    close: closed.resolve,
    async accept(): Promise<GadgetConnection> {
      const connection = connections[next++];
      if (connection !== undefined) return connection as unknown as GadgetConnection;
      turn.resolve();
      await closed.promise;
      throw new Deno.errors.BadResource();
    },
  };
  return { connections, listener: listener as unknown as GadgetListener["listener"] };
}

Deno.test("of several that say the token in the same turn one is let in, and the others are closed", async () => {
  const token = newToken();
  const { connections, listener } = five(new TextEncoder().encode(token));
  const letIn = await tokenConnection(listener, { token, signal: new AbortController().signal });
  await new Promise((resolve) => setTimeout(resolve));
  const open = connections.filter(({ isClosed }) => !isClosed);
  assert.equal(open.length, 1);
  assert.equal(open[0], letIn as unknown);
});

Deno.test("of several that say another token none is let in, and all are closed at the end", async () => {
  const { connections, listener } = five(new TextEncoder().encode(newToken()));
  const given = new AbortController();
  const waiting = tokenConnection(listener, { token: newToken(), signal: given.signal });
  await new Promise((resolve) => setTimeout(resolve));
  given.abort(new Error("given up"));
  await assert.rejects(waiting, /given up/);
  assert.deepEqual(connections.map(({ isClosed }) => isClosed), connections.map(() => true));
});
