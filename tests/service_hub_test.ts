// Whoever reads a run, however slowly and however often they come back, has seen the same in the end.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { RunEvent, RunEventBody } from "../mod.ts";
import { Asks } from "../lib/service/runs/asks.ts";
import { HeldRun } from "../lib/service/runs/held_run.ts";
import type { HistoryBounds } from "../lib/service/runs/history.ts";
import { keptReader } from "../lib/service/runs/reader.ts";
import { RunSummary } from "../lib/service/runs/summary.ts";
import type { Frame, RunReader } from "../lib/service/service.ts";

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

Deno.test("a reader that waits gets what comes, and is let go when it leaves", async () => {
  const play = new Play({}, { isKept: false });
  const [stays, leaves] = [play.hub.read({ after: 0 }), play.hub.read({ after: 0 })];
  const [got, none] = [stays.next({ maxBytes: 100 }), leaves.next({ maxBytes: 100 })];
  leaves.leave();
  assert.equal(await none, undefined);
  play.tell({ type: "warning", text: "here" });
  assert.equal((await got)?.length, 1);
  const last = stays.next({ maxBytes: 100 });
  play.hub.end();
  assert.equal(await last, undefined);
});

Deno.test("asks come behind their events, and are taken back when they are answered", async () => {
  const play = new Play({}, { isKept: false });
  const { hub } = play;
  const reader = hub.read({ after: 0 });
  play.tell({ type: "warning", text: "before" });
  const answered = play.asks.ask({ kind: "question", question: "Which?", choices: ["a", "b"] });
  const [, ask] = await reader.next({ maxBytes: 1_000 }) ?? [];
  assert.deepEqual(ask, { ask: { ask: "a1", kind: "question", question: "Which?", choices: ["a", "b"] } });
  assert.equal(hub.answer("a1", { text: "c" }, { by: "http" }), false);
  assert.equal(hub.answer("a1", { allow: true }, { by: "http" }), false);
  assert.equal(hub.answer("a1", { text: "b" }, { by: "http" }), true);
  assert.equal(hub.answer("a1", { text: "b" }, { by: "http" }), false);
  assert.deepEqual(await answered, { answer: { text: "b" }, by: "http" });
  assert.deepEqual(await reader.next({ maxBytes: 1_000 }), [{ answered: "a1" }]);
  assert.deepEqual(await hub.read({ after: 1 }).next({ maxBytes: 1_000 }), [{ answered: "a1" }]);
  play.tell({ type: "warning", text: "after" });
  hub.end();
  const behind = await hub.read({ after: 1 }).next({ maxBytes: 1_000 }) ?? [];
  assert.deepEqual(behind.map((frame) => "event" in frame ? frame.event.seq : frame), [2, {
    answered: "a1",
  }]);
  assert.equal(await hub.read({ after: 2 }).next({ maxBytes: 1_000 }), undefined, "who has its end has all");
});

Deno.test("an ask ends with its signal", async () => {
  const { hub, asks } = new Play({}, { isKept: false });
  const stop = new AbortController();
  const answered = asks.ask({ kind: "permission", question: "May it?" }, { signal: stop.signal });
  assert.equal(hub.state.asks.length, 1);
  stop.abort(new Error("enough"));
  await assert.rejects(answered, /enough/);
  assert.deepEqual(hub.state.asks, []);
});

Deno.test("a number beyond the newest event is the newest", async () => {
  const play = new Play({}, { isKept: false });
  play.tell({ type: "warning", text: "old" });
  const reader = play.hub.read({ after: 99 });
  play.tell({ type: "warning", text: "new" });
  const frames = await reader.next({ maxBytes: 1_000 });
  assert.deepEqual(frames?.map((frame) => "event" in frame && frame.event.seq), [2]);
});

Deno.test("events that are all there are read in parts", async () => {
  const { all, tell } = listing();
  for (let n = 0; n < 50; n++) tell({ type: "warning", text: "x".repeat(100) });
  const kept = (after: number) => all.filter(({ seq }) => seq > after).slice(0, 7);
  const reader = keptReader(kept, { after: 10 });
  const seqs: number[] = [];
  let parts = 0;
  for (
    let frames = await reader.next({ maxBytes: 1_000 });
    frames;
    frames = await reader.next({ maxBytes: 1_000 })
  ) {
    parts++;
    for (const frame of frames) if ("event" in frame) seqs.push(frame.event.seq);
  }
  assert.deepEqual(seqs, Array.from({ length: 40 }, (_, index) => index + 11));
  assert.ok(parts > 5, String(parts));
  assert.equal(await keptReader(kept, { after: 50 }).next({ maxBytes: 10 }), undefined);
});

function shown({ texts }: Seen): readonly (readonly [string, string])[] {
  return [...texts].filter(([, text]) => text !== "").sort();
}

function listing(): { readonly all: readonly RunEvent[]; readonly tell: (body: RunEventBody) => void } {
  const all: RunEvent[] = [];
  return { all, tell: (body) => void all.push({ ...body, seq: all.length + 1, at: 0, run: "r" }) };
}
