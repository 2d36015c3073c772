// The process of a gadget from the outside, with real processes and a real socket: however it begins and ends, nothing of it is left.

import assert from "node:assert/strict";
import { join } from "node:path";
import { isProcessAlive } from "../../lib/host/process.ts";
import { sweep } from "../../lib/host/files/private_folder.ts";
import { EarlyEnd, gadgetProcesses } from "../../lib/host/commands/gadget_process.ts";
import { GadgetHost } from "../../lib/sandbox/gadget/host.ts";
import { fakeHost, LIMITS, listening, loading, until } from "../_fake_gadget.ts";
import { PROJECT_ROOT } from "../_run.ts";

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
