// What is held of runs and of a project, as properties: readers, states, what has ended, and settings that change while they are read. What a
// client sees of it is in server_runs_test.ts and server_sse_test.ts.

import assert from "node:assert/strict";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { type Clock, type RunEvent, type RunEventBody, virtualClock } from "../mod.ts";
import { type TextSource, TextStreams } from "../lib/server/text_streams.ts";
import { HttpProblem } from "../lib/server/problem.ts";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { ProjectHold } from "../lib/service/project_hold.ts";
import { Asks } from "../lib/service/runs/asks.ts";
import { HeldRun } from "../lib/service/runs/held_run.ts";
import type { HistoryBounds } from "../lib/service/runs/history.ts";
import { RunRegistry } from "../lib/service/runs/registry.ts";
import { RunSummary } from "../lib/service/runs/summary.ts";
import type { Frame, RunReader } from "../lib/service/service.ts";
import { testProject } from "./_project.ts";
import { pause } from "./_waiting.ts";

type Doing =
  | { readonly do: "say"; readonly step: string; readonly text: string }
  | { readonly do: "complete"; readonly step: string }
  | { readonly do: "again"; readonly step: string }
  | { readonly do: "tell"; readonly text: string }
  | { readonly do: "read"; readonly who: number; readonly maxBytes: number }
  | { readonly do: "come back"; readonly who: number };

const READERS = 3;
const step = fc.constantFrom("s1", "s2");
const who = fc.nat({ max: READERS - 1 });
const doing: fc.Arbitrary<Doing> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("say"), step, text: fc.string({ maxLength: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("complete"), step }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("again"), step }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("tell"), text: fc.string({ maxLength: 9 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("read"), who, maxBytes: fc.constantFrom(1, 300, 5_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("come back"), who }) },
);

/** What somebody knows who does with the events what a page does. */
class Seen {
  readonly texts = new Map<string, string>();
  readonly said: string[] = [];
  readonly other: number[] = [];
  readonly gaps: number[] = [];
  seq = 0;
  frames = 0;

  take(frame: Frame): void {
    this.frames++;
    if ("gap" in frame) this.gaps.push(frame.gap);
    if (!("event" in frame)) return;
    const { event } = frame;
    assert.ok(event.seq > this.seq, `${event.seq} came behind ${this.seq}`);
    this.seq = event.seq;
    if (event.type === "text-delta") {
      this.texts.set(event.step, (this.texts.get(event.step) ?? "") + event.text);
      return;
    }
    this.other.push(event.seq);
    if (event.type === "message") {
      this.said.push(`${event.step}: ${event.text}`);
      this.texts.delete(event.step);
    }
    if (event.type === "step-start") this.texts.delete(event.key);
  }
}

class Play {
  readonly hub: HeldRun;
  readonly all: RunEvent[] = [];
  readonly truth = new Seen();
  readonly seen: Seen[] = [];
  readonly #readers: RunReader[] = [];

  readonly asks = new Asks();
  /** @param options.atOnce how many events a journal gives at once */
  constructor(
    bounds: HistoryBounds,
    { isKept, atOnce = Infinity }: { readonly isKept: boolean; readonly atOnce?: number },
  ) {
    const kept = (after: number) =>
      this.all.filter(({ type, seq }) => type !== "text-delta" && seq > after).slice(0, atOnce);
    this.hub = new HeldRun({
      id: "r",
      kind: "ask",
      startedAt: 0,
      asks: this.asks,
      ...bounds,
      ...(isKept ? { earlier: kept } : {}),
    });
    for (let index = 0; index < READERS; index++) {
      this.seen.push(new Seen());
      this.#readers.push(this.hub.read({ after: 0 }));
    }
  }

  async do(one: Doing): Promise<void> {
    switch (one.do) {
      case "say":
        return this.tell({ type: "text-delta", step: one.step, text: one.text });
      case "complete":
        return this.tell({
          type: "message",
          step: one.step,
          n: 1,
          text: this.truth.texts.get(one.step) ?? "",
        });
      case "again":
        return this.tell({ type: "step-start", key: one.step, kind: "model", name: "m", attempt: 2 });
      case "tell":
        return this.tell({ type: "warning", text: one.text });
      case "read":
        return void await this.#read(one.who, one.maxBytes);
      case "come back":
        this.#readers[one.who]?.leave();
        this.#readers[one.who] = this.hub.read({ after: this.seen[one.who]?.seq ?? 0 });
        return;
      default:
        return one satisfies never;
    }
  }

  tell(body: RunEventBody): void {
    const event = { ...body, seq: this.all.length + 1, at: this.all.length, run: "r" };
    this.all.push(event);
    this.truth.take({ event });
    this.hub.push(event);
  }

  async end(): Promise<void> {
    this.tell({ type: "run-end", status: "done", usage: { input: 0, output: 0 } });
    this.hub.end();
    for (let index = 0; index < READERS; index++) {
      while (await this.#read(index, 200) !== undefined);
    }
  }

  /** Waits only where there is something. */
  async #read(index: number, maxBytes: number): Promise<true | undefined> {
    const [reader, seen] = [this.#readers[index], this.seen[index]];
    if (reader === undefined || seen === undefined) return undefined;
    if (!this.hub.isOver && seen.seq >= this.hub.newest) return undefined;
    const frames = await reader.next({ maxBytes });
    if (frames === undefined) return undefined;
    assert.ok(frames.length > 0);
    frames.forEach((frame) => seen.take(frame));
    return true;
  }
}

Deno.test("every reader sees the same texts and events, once each, in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(doing, { maxLength: 120 }), async (doings) => {
      const play = new Play({}, { isKept: false });
      for (const one of doings) await play.do(one);
      await play.end();
      for (const seen of play.seen) {
        assert.deepEqual(seen.other, play.truth.other);
        assert.deepEqual(seen.said, play.truth.said);
        assert.deepEqual(shown(seen), shown(play.truth));
        assert.deepEqual(seen.gaps, []);
      }
    }),
    { numRuns: 300 },
  );
});

const parts = fc.constantFrom(1, 2, 5, 20, Infinity);

Deno.test("what is not held any more comes from the journal, in its place", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(doing, { minLength: 30, maxLength: 150 }), parts, async (doings, atOnce) => {
      const play = new Play({ maxEvents: 8, maxBytes: 4_000 }, { isKept: true, atOnce });
      for (const one of doings) await play.do(one);
      await play.end();
      for (const seen of play.seen) {
        assert.deepEqual(seen.other, play.truth.other);
        assert.deepEqual(seen.said, play.truth.said);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("the calls of a state are those of all events, held or kept", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat({ max: 6 }), fc.constantFrom("open", "run", "result", "error", "look")), {
        maxLength: 120,
      }),
      parts,
      (doings, atOnce) => {
        const play = new Play({ maxEvents: 8, maxBytes: 4_000 }, { isKept: true, atOnce });
        const expected = () => {
          const whole = new RunSummary({ withCalls: true });
          for (const event of play.all) whole.add(event);
          return whole.calls;
        };
        for (const [n, what] of doings) {
          const call = { invocationId: `c${n}`, line: n + 1 };
          if (what === "open") {
            play.tell({ type: "call-open", ...call, gadgetName: "X", dependencies: [] });
          } else if (what === "run") play.tell({ type: "call-run", ...call });
          else if (what === "result") play.tell({ type: "call-result", ...call, result: [n] });
          else if (what === "error") play.tell({ type: "call-error", ...call, code: "failed", error: "no" });
          else {
            const before = play.hub.state.calls;
            const asIt = JSON.stringify(before);
            assert.deepEqual(before, expected());
            play.tell({ type: "call-result", ...call, result: "later" });
            assert.deepEqual(play.hub.state.calls, expected());
            assert.equal(JSON.stringify(before), asIt, "what was given stays as it was");
          }
        }
        play.hub.end();
        assert.deepEqual(play.hub.state.calls, expected());
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("a state that is asked for when the journal is closed has no calls", () => {
  const earlier = () => {
    throw new Error("database is not open");
  };
  const hub = new HeldRun({ id: "r", kind: "conversation", startedAt: 0, before: 5, earlier });
  hub.push({ type: "warning", text: "w", seq: 6, at: 0, run: "r" });
  hub.end();
  assert.deepEqual([hub.state.status, "calls" in hub.state], ["failed", false]);
});

Deno.test("where there is no journal a gap says what is missing", async () => {
  const play = new Play({ maxEvents: 8 }, { isKept: false });
  for (let n = 0; n < 100; n++) await play.do({ do: "tell", text: String(n) });
  const reader = play.hub.read({ after: 0 });
  const frames = await reader.next({ maxBytes: 100_000 }) ?? [];
  const [gap, first] = frames;
  assert.ok(gap !== undefined && "gap" in gap && gap.gap > 80, JSON.stringify(gap));
  assert.ok(first !== undefined && "event" in first);
  assert.equal(first.event.seq, gap.gap + 1);
  assert.equal(frames.length, 100 - gap.gap + 1);
});

Deno.test("a slow reader gets the text of a step as one event, with the last number", async () => {
  const play = new Play({}, { isKept: false });
  for (let n = 0; n < 1_000; n++) play.tell({ type: "text-delta", step: "s1", text: `${n} ` });
  const first = await play.hub.read({ after: 0 }).next({ maxBytes: 100_000 });
  assert.deepEqual(first?.map((frame) => "event" in frame && frame.event.seq), [1_000]);
  const later = await play.hub.read({ after: 998 }).next({ maxBytes: 100_000 });
  assert.deepEqual(
    later?.map((frame) => "event" in frame && frame.event.type === "text-delta" && frame.event.text),
    [
      "998 999 ",
    ],
  );
});

Deno.test("a text that is read in small parts is whole", async () => {
  const play = new Play({}, { isKept: false });
  for (let n = 0; n < 1_000; n++) play.tell({ type: "text-delta", step: "s1", text: `${n} ` });
  play.hub.end();
  const seen = new Seen();
  const reader = play.hub.read({ after: 0 });
  for (
    let frames = await reader.next({ maxBytes: 50 });
    frames;
    frames = await reader.next({ maxBytes: 50 })
  ) {
    frames.forEach((frame) => seen.take(frame));
  }
  assert.equal(seen.texts.get("s1"), play.truth.texts.get("s1"));
  assert.ok(seen.frames > 40 && seen.frames < 200, String(seen.frames));
});

function shown({ texts }: Seen): readonly (readonly [string, string])[] {
  return [...texts].filter(([, text]) => text !== "").sort();
}

function held(id: string): HeldRun {
  return new HeldRun({ id, kind: "calls", startedAt: 0 });
}

Deno.test("of the runs that have ended only so many bytes are held", async () => {
  const registry = new RunRegistry({ clock: virtualClock(), isKept: true });
  const run = (name: number): WeakRef<HeldRun> => {
    const ended = held(`r${name}`);
    ended.push({ type: "warning", text: "x".repeat(4_000_000), run: ended.id, seq: 1, at: 0 });
    registry.add(ended);
    ended.end();
    registry.ended(ended);
    return new WeakRef(ended);
  };
  const runs = Array.from({ length: 20 }, (_run, name) => run(name));
  await new Promise((resolve) => setTimeout(resolve, 0)); // until then a WeakRef holds what it was made of
  assert.equal([...registry.all].length, 8);
  if (isCollected()) assert.equal(runs.filter((each) => each.deref() !== undefined).length, 8);
});

Deno.test("of the runs that nobody keeps the last thousand that have ended are held, and all that are under way", () => {
  const registry = new RunRegistry({ clock: virtualClock(), isKept: false });
  const slow = held("slow");
  registry.add(slow);
  for (let number = 0; number < 2_500; number++) {
    const run = held(`r${number}`);
    registry.add(run);
    registry.ended(run);
  }
  const ids = [...registry.all].map(({ id }) => id);
  assert.deepEqual(ids, [...Array.from({ length: 1_000 }, (_, at) => `r${1_500 + at}`), "slow"]);
  assert.deepEqual([registry.find("r1499"), registry.find("r1500")?.id], [undefined, "r1500"]);
  assert.deepEqual([registry.find("slow"), registry.active], [slow, 1]);
});

Deno.test("a run that is elsewhere takes no place, and is neither waited for nor cancelled at the end", async () => {
  const clock = virtualClock();
  const registry = new RunRegistry({ clock, isKept: true, limit: () => 1 });
  const stops = [new AbortController(), new AbortController()];
  const [own, other] = stops.map((stop, at) =>
    new HeldRun({ id: `r${at}`, kind: "calls", startedAt: 0, stop, isElsewhere: at === 1 })
  );
  assert.ok(own && other);
  registry.add(other);
  assert.equal(registry.active, 0);
  registry.enter()();
  registry.add(own);
  assert.throws(() => registry.assertRoom(), /1 runs are under way/);
  await clock.run(registry.stop({ graceMs: 1 }));
  assert.deepEqual(stops.map(({ signal }) => signal.aborted), [true, false]);
});

Deno.test("what is held of kept runs is what is under way, and what ended in the last five seconds", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const steps = fc.array(fc.oneof(
    fc.record({ do: fc.constantFrom("begin", "end", "remove"), id }),
    fc.record({ do: fc.constant("wait"), ms: fc.integer({ min: 0, max: 4_000 }) }),
  ));
  fc.assert(fc.property(steps, (script) => {
    let now = 0;
    const clock: Clock = { now: () => now, sleep: () => Promise.reject(new Error("nobody waits")) };
    const registry = new RunRegistry({ clock, isKept: true });
    const active = new Map<string, HeldRun>();
    let ended: { readonly run: HeldRun; readonly at: number }[] = [];
    for (const step of script) {
      if ("ms" in step) now += step.ms;
      else if (step.do === "begin" && !active.has(step.id)) {
        const run = held(step.id);
        active.set(step.id, run);
        ended = ended.filter(({ run }) => run.id !== step.id);
        registry.add(run);
      } else if (step.do === "end") {
        const run = active.get(step.id);
        if (run === undefined) continue;
        active.delete(step.id);
        ended.push({ run, at: now });
        registry.ended(run);
      } else if (step.do === "remove" && !active.has(step.id)) {
        ended = ended.filter(({ run }) => run.id !== step.id);
        registry.remove(step.id);
      }
      ended = ended.filter(({ at }) => at >= now - 5_000);
      for (const name of ["a", "b", "c", "d"]) {
        const expected = active.get(name) ?? ended.find(({ run }) => run.id === name)?.run;
        assert.equal(registry.find(name), expected);
      }
      assert.deepEqual([...registry.all], [...ended.map(({ run }) => run), ...active.values()]);
      assert.equal(registry.active, active.size);
    }
  }));
});

/** False where a running Deno cannot be told to (2.6). */
function isCollected(): boolean {
  setFlagsFromString("--expose-gc");
  const isThere = runInNewContext("typeof gc === 'function' && (gc(), true)") === true;
  setFlagsFromString("--no-expose-gc");
  return isThere;
}

const LOOKED_AGAIN_MS = 1_050;

const GOOD = "limits: { runs: 3 }\n";
const BAD = "limits: { runs: x }\n";
const NEW = "limits: { runs: 4 }\n";

/** A project whose settings are written in place. */
async function heldProject(): Promise<
  AsyncDisposable & {
    readonly hold: ProjectHold;
    write(text: string): void;
    runs(): Promise<number>;
  }
> {
  const project = await testProject({ "orrery.yaml": GOOD });
  const hold = await ProjectHold.open({
    folder: project.folder,
    grants: NO_GRANTS,
    ephemeral: true,
    notice: () => {},
  });
  const path = join(project.folder, "orrery.yaml");
  return {
    hold,
    write: (text) => Deno.writeTextFileSync(path, text),
    async runs() {
      await pause(LOOKED_AGAIN_MS);
      return (await hold.current()).app.project.config.limits.runs;
    },
    async [Symbol.asyncDispose]() {
      await hold[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

Deno.test("settings that are repaired while they are read are seen at the next look", async () => {
  await Promise.all(Array.from({ length: 24 }, async (_, delay) => {
    await using held = await heldProject();
    await pause(LOOKED_AGAIN_MS);
    held.write(BAD);
    const looked = held.hold.current();
    for (let turn = 0; turn < delay; turn++) await Promise.resolve();
    if (delay % 2 === 1) await pause(delay / 4);
    held.write(NEW);
    await looked;
    assert.equal(await held.runs(), 4, `repaired after ${delay} turns`);
  }));
});

Deno.test("a reader that waits gets a comment, one that leaves is known to have left, and there are so many and no more", async () => {
  const streams = new TextStreams({ idleMs: 30, most: 2 });
  const silent = (): TextSource => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const next = async () => ({ value: await promise, done: true as const });
    return { texts: { next }, leave: () => resolve(undefined) };
  };
  const readers = [streams.open(silent()), streams.open(silent())].map(({ body }) => body?.getReader());
  assert.throws(
    () => streams.open(silent()),
    (error) =>
      error instanceof HttpProblem && error.details.status === 503 && error.details.code === "readers" &&
      error.details.headers?.["retry-after"] === "1",
  );
  const awake = setTimeout(() => {}, 10_000); // its timer keeps no process alive
  const { value } = await readers[0]?.read() ?? {};
  clearTimeout(awake);
  assert.equal(new TextDecoder().decode(value), ": \n\n");
  assert.equal(streams.size, 2);
  for (const reader of readers) await reader?.cancel();
  assert.equal(streams.size, 0);
  streams.close();
});
