// A gadget's process that starts while its modules are still being prepared, and what becomes of one that nobody wants.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { gadgetProcesses, type StartGadgetOptions } from "../lib/host/start_gadget_process.ts";
import { earlyStart } from "../lib/sandbox/early_start.ts";
import { echoing, FakeProcess } from "./_fake_gadget.ts";

const MIB = 2 ** 20;
const modules = { "0.js": "export default {};\n" };
const wanted = (given: Partial<StartGadgetOptions> = {}): StartGadgetOptions => ({
  modules,
  memoryBytes: 64 * MIB,
  signal: new AbortController().signal,
  ...given,
});

/** Starts processes in memory, each as soon as its modules are there. */
class Starts {
  readonly asked: StartGadgetOptions[] = [];
  readonly processes: FakeProcess[] = [];

  readonly start = async (options: StartGadgetOptions): Promise<FakeProcess> => {
    this.asked.push(options);
    const process = new FakeProcess(echoing);
    this.processes.push(process);
    try {
      await options.modules;
      options.signal.throwIfAborted();
      return process;
    } catch (error) {
      await process.end();
      throw error;
    }
  };
}

Deno.test("the first that wants a process gets the early one, with its own modules; others get new ones", async () => {
  const starts = new Starts();
  const early = earlyStart(starts.start, 64 * MIB);
  assert.equal(starts.asked.length, 1);
  const first = await early.start(wanted());
  assert.equal(first, starts.processes[0]);
  assert.deepEqual(await starts.asked[0]?.modules, modules);
  await early.drop(); // it belongs to somebody
  assert.equal(starts.processes[0]?.isKilled, false);
  assert.notEqual(await early.start(wanted()), first);
  assert.equal(starts.asked.length, 2);
  for (const process of starts.processes) await process.end();
});

Deno.test("an early process of another size is nobody's, and goes when it is dropped", async () => {
  const starts = new Starts();
  const early = earlyStart(starts.start, 64 * MIB);
  const other = await early.start(wanted({ memoryBytes: 32 * MIB }));
  assert.equal(other, starts.processes[1]);
  await early.drop();
  assert.equal(starts.processes[0]?.isKilled, true);
  assert.equal(starts.processes[1]?.isKilled, false);
  await other.end();
});

Deno.test("whoever took it can give it up, before and while it starts", async () => {
  for (const isBefore of [true, false]) {
    const starts = new Starts();
    const early = earlyStart(starts.start, 64 * MIB);
    const abort = new AbortController();
    if (isBefore) abort.abort(new Error("too late"));
    const taken = early.start(wanted({ signal: abort.signal }));
    abort.abort(new Error("too late"));
    await assert.rejects(taken, /too late/);
    assert.equal(starts.processes[0]?.isKilled, true);
  }
});

Deno.test("a process of this machine waits for its modules, and ends when there will be none", async () => {
  const start = gadgetProcesses();
  const late = Promise.withResolvers<Readonly<Record<string, string>>>();
  const starting = start(wanted({ modules: late.promise }));
  await new Promise((resolve) => setTimeout(resolve, 300)); // it has connected by now, or does soon
  late.resolve(modules);
  const process = await starting;
  assert.equal(await Deno.readTextFile(fileURLToPath(`${process.folderUrl}0.js`)), modules["0.js"]);
  await process.end();

  const early = earlyStart(start, 64 * MIB);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await early.drop(); // Deno's own check finds a process that lives on
});

Deno.test("a process of this machine says when it comes on by itself, and when it never will", async () => {
  const early = earlyStart(gadgetProcesses(), 64 * MIB);
  await early.begun;
  await early.drop();
  const none = earlyStart(() => Promise.reject(new Error("no process")), 64 * MIB);
  await none.begun;
  await assert.rejects(none.start(wanted()), /no process/);
});
