// The order in which the nodes of a graph run, whatever the graph is, and what waits for time.
import fc from "fast-check";
import assert from "node:assert/strict";
import { clearTimeout as clearNodes, setTimeout as nodes } from "node:timers";
import {
  type Clock,
  createCatalog,
  type NodeOutcome,
  PermissionRefused,
  runCalls,
  type RunEvent,
  schedule,
  type ScheduleNode,
  systemClock,
  virtualClock,
} from "../mod.ts";
import { linkedSignal } from "../lib/core/async.ts";
import { type AskingGadget, PERMIT, SENT, type SentContext } from "../lib/core/gadget.ts";
import { PausableClock } from "../lib/core/clock.ts";
import { quietTimer } from "../lib/host/process.ts";
import { Approvals } from "../lib/run/approvals.ts";
import { createScheduler } from "../lib/schedule/scheduler.ts";

const LIMIT = 3;

interface NodeSpec {
  readonly dependencies: readonly number[];
  readonly takes: number;
  readonly fails: boolean;
  readonly obeys: boolean;
  readonly sync: boolean;
  readonly exclusive: boolean;
  readonly group: number;
  readonly timeoutMs: number;
  readonly gapMs: number;
  /** Until its time begins: undefined for at once. */
  readonly beginsMs: number | undefined;
}

const spec: fc.Arbitrary<NodeSpec> = fc.record({
  dependencies: fc.uniqueArray(fc.nat({ max: 14 }), { maxLength: 3 }),
  takes: fc.nat({ max: 50 }),
  fails: fc.nat({ max: 3 }).map((n) => n === 0),
  obeys: fc.boolean(),
  sync: fc.boolean(),
  exclusive: fc.nat({ max: 5 }).map((n) => n === 0),
  group: fc.nat({ max: 2 }),
  timeoutMs: fc.integer({ min: 10, max: 80 }),
  gapMs: fc.constantFrom(0, 0, 0, 7),
  beginsMs: fc.option(fc.nat({ max: 40 }), { nil: undefined }),
});

interface Seen {
  readonly outcomes: NodeOutcome<string>[];
  readonly starts: string[];
  /** When each started that did. */
  readonly startedAt: Map<string, number>;
  readonly endedAt: Map<string, number>;
  readonly running: Set<string>;
  readonly problems: string[];
}

function nodeOf(
  one: NodeSpec,
  index: number,
  world: { clock: Clock; seen: Seen; specs: readonly NodeSpec[] },
): ScheduleNode<string> {
  const { clock, seen, specs } = world;
  const id = `n${index}`;
  return {
    id,
    dependencies: one.dependencies.map((n) => `n${n}`),
    exclusive: one.exclusive,
    timeoutMs: one.timeoutMs,
    ...(one.group === 0 ? {} : { group: { key: `g${one.group}`, limit: one.group } }),
    run(context) {
      seen.starts.push(id);
      seen.startedAt.set(id, clock.now());
      const alive = [...seen.running].map((other) => specs[Number(other.slice(1))]);
      if (alive.length >= LIMIT) seen.problems.push(`${id} starts beside ${alive.length} others`);
      if (alive.some((other) => other?.exclusive) || (one.exclusive && alive.length > 0)) {
        seen.problems.push(`${id}: exclusive broken`);
      }
      if (one.group > 0 && alive.filter((other) => other?.group === one.group).length >= one.group) {
        seen.problems.push(`${id}: group full`);
      }
      for (const n of one.dependencies) {
        if (context.dependency(`n${n}`) !== `result of n${n}`) {
          seen.problems.push(`${id} started without n${n}`);
        }
      }
      if (one.sync && one.fails) throw new Error(`${id} failed`);
      if (one.sync) return `result of ${id}`;
      seen.running.add(id);
      if (one.beginsMs !== undefined) context.countFrom(clock.sleep(one.beginsMs));
      const sleep = one.obeys ? clock.sleep(one.takes, context.signal) : clock.sleep(one.takes);
      return sleep.then(() => {
        if (one.fails) throw new Error(`${id} failed`);
        return `result of ${id}`;
      });
    },
  };
}

async function runGraph(specs: readonly NodeSpec[], abortAt: number | undefined): Promise<Seen> {
  const clock = virtualClock();
  const seen: Seen = {
    outcomes: [],
    starts: [],
    startedAt: new Map(),
    endedAt: new Map(),
    running: new Set(),
    problems: [],
  };
  const abort = new AbortController();
  if (abortAt !== undefined) clock.sleep(abortAt).then(() => abort.abort());
  // The class, not the stream: what runs at once is only right in the moment of each outcome.
  const onOutcome = (outcome: NodeOutcome<string>): void => {
    seen.running.delete(outcome.id);
    seen.endedAt.set(outcome.id, clock.now());
    seen.outcomes.push(outcome);
  };
  const scheduler = createScheduler<string>({ onOutcome }, {
    concurrency: LIMIT,
    clock,
    signal: abort.signal,
  });
  await clock.run((async () => {
    for (const [index, one] of specs.entries()) {
      if (one.gapMs > 0) await clock.sleep(one.gapMs);
      scheduler.add(nodeOf(one, index, { clock, seen, specs }));
    }
    scheduler.close();
    await scheduler.done;
  })());
  return seen;
}

Deno.test("property: random graphs with failures, timeouts and aborts end each node exactly once and keep every limit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(spec, { maxLength: 15, size: "max" }),
      fc.option(fc.nat({ max: 120 }), { nil: undefined }),
      async (specs, abortAt) => {
        const seen = await runGraph(specs, abortAt);
        const ids = seen.outcomes.map((outcome) => outcome.id);
        assert.equal(new Set(ids).size, ids.length, "an outcome came twice");
        assert.equal(ids.length, specs.length, "an outcome is missing");
        assert.deepEqual(seen.problems, []);
        assert.equal(new Set(seen.starts).size, seen.starts.length, "a node started twice");
        const byId = new Map(seen.outcomes.map((outcome) => [outcome.id, outcome]));
        for (const outcome of seen.outcomes) {
          if (outcome.status === "skip") {
            assert.ok(
              !seen.starts.includes(outcome.id),
              `${outcome.id} ran and was skipped`,
            );
          } else assert.ok(seen.starts.includes(outcome.id), `${outcome.id} did not run`);
          const one = specs[Number(outcome.id.slice(1))];
          const wanted = one?.dependencies ?? [];
          const mostMs = (one?.beginsMs ?? 0) + (one?.timeoutMs ?? 0);
          const tookMs = (seen.endedAt.get(outcome.id) ?? 0) - (seen.startedAt.get(outcome.id) ?? 0);
          if (outcome.status === "error" && outcome.cause === "timeout") {
            assert.equal(tookMs, mostMs, `${outcome.id} was not given its time`);
          } else if (one?.sync === false && outcome.status === "result") {
            assert.ok(one.takes <= mostMs, `${outcome.id} was given more than its time`);
          }
          const allGood = wanted.every((n) => byId.get(`n${n}`)?.status === "result");
          if (abortAt === undefined && outcome.status === "skip") {
            assert.ok(
              !allGood,
              `${outcome.id} was skipped without a reason`,
            );
          }
          if (outcome.status !== "skip") assert.ok(allGood, `${outcome.id} ran without its dependencies`);
        }
      },
    ),
    { numRuns: 150 },
  );
});

function plain(id: string, dependencies: readonly string[] = []): ScheduleNode<string> {
  return { id, dependencies, run: () => `result of ${id}` };
}

async function all(nodes: Iterable<ScheduleNode<string>>): Promise<Map<string, NodeOutcome<string>>> {
  const outcomes = new Map<string, NodeOutcome<string>>();
  for await (const outcome of schedule(nodes)) outcomes.set(outcome.id, outcome);
  return outcomes;
}

const reasonOf = (outcome: NodeOutcome<string> | undefined): string =>
  outcome?.status === "skip" ? outcome.reason : "not skipped";

Deno.test("property: every node on a cycle names a closed walk of real dependencies that begins and ends with it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 4 }), { minLength: 10, maxLength: 10 }),
      async (edges) => {
        const outcomes = await all(edges.map((deps, i) => plain(`n${i}`, deps.map((d) => `n${d}`))));
        const reaches = closure(edges);
        for (const [i] of edges.entries()) {
          const reason = reasonOf(outcomes.get(`n${i}`));
          const onCycle = reaches[i]?.has(i) === true;
          assert.equal(reason.startsWith("Skipped: depends on itself: "), onCycle, reason);
          if (!onCycle) continue;
          const walk = reason.slice("Skipped: depends on itself: ".length).split(" -> ").map((id) =>
            Number(id.slice(1))
          );
          assert.equal(walk[0], i);
          assert.equal(walk.at(-1), i);
          walk.slice(1).forEach((to, k) =>
            assert.ok(edges[walk[k] ?? -1]?.includes(to), `${reason}: no such dependency`)
          );
          assert.equal(new Set(walk.slice(1)).size, walk.length - 1, `${reason}: an inner loop is left`);
        }
      },
    ),
    { numRuns: 300 },
  );
});

/** Which nodes each node depends on, at any distance. */
function closure(edges: readonly (readonly number[])[]): Set<number>[] {
  return edges.map((_, start) => {
    const seen = new Set<number>();
    const open = [...(edges[start] ?? [])];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      open.push(...(edges[node] ?? []));
    }
    return seen;
  });
}

Deno.test("a long cycle is told with its middle left out, and costs no more than a long chain", async () => {
  const size = 20_000;
  const outcomes = await all(Array.from({ length: size }, (_, i) => plain(`n${i}`, [`n${(i + 1) % size}`])));
  assert.equal(outcomes.size, size);
  for (const i of [0, 1, 9_999, size - 1]) {
    const reason = reasonOf(outcomes.get(`n${i}`));
    assert.match(reason, /… -> /);
    assert.ok(reason.length < 300, reason);
    assert.ok(reason.startsWith(`Skipped: depends on itself: n${i} -> n${(i + 1) % size} -> `), reason);
    assert.ok(reason.endsWith(` -> n${i}`), reason);
  }
});

Deno.test("an id that comes twice ends the iteration with an error, after the outcomes", async () => {
  const outcomes: string[] = [];
  await assert.rejects(async () => {
    for await (const outcome of schedule([plain("a"), plain("b"), plain("a")])) outcomes.push(outcome.id);
  }, /Cannot add node "a": it was added before/);
  assert.deepEqual(outcomes, ["a", "b"]);
});

Deno.test("leaving the loop early aborts what runs and closes the source", async () => {
  let aborted = false;
  let closed = false;
  function* source(): Generator<ScheduleNode<string>> {
    try {
      yield {
        id: "long",
        run: ({ signal }) =>
          new Promise((_, reject) =>
            signal.addEventListener("abort", () => {
              aborted = true;
              reject(signal.reason);
            })
          ),
      };
      yield plain("short");
    } finally {
      closed = true;
    }
  }
  for await (const outcome of schedule(source())) {
    assert.equal(outcome.id, "short");
    break;
  }
  assert.ok(aborted);
  assert.ok(closed);
});

Deno.test("a source that never answers does not hold up an abort", async () => {
  const abort = new AbortController();
  async function* stuck(): AsyncGenerator<ScheduleNode<string>> {
    yield plain("a");
    await new Promise(() => undefined);
  }
  const ids: string[] = [];
  for await (const outcome of schedule(stuck(), { signal: abort.signal })) {
    ids.push(outcome.id);
    abort.abort();
  }
  assert.deepEqual(ids, ["a"]);
});

Deno.test("an abort is heard by what is added afterwards, also when nothing was open", async () => {
  for (const before of [0, 1]) {
    const outcomes: NodeOutcome<string>[] = [];
    const abort = new AbortController();
    const scheduler = createScheduler<string>(
      { onOutcome: (outcome) => void outcomes.push(outcome) },
      { signal: abort.signal },
    );
    for (let n = 0; n < before; n++) scheduler.add({ id: `before${n}`, run: () => "at once" });
    const { done } = scheduler;
    abort.abort();
    await done;
    scheduler.add({ id: "after", run: () => "never" });
    scheduler.addFailed("wrong", new Error("never told"));
    assert.deepEqual(outcomes.slice(before).map(({ id, status }) => [id, status]), [
      ["after", "skip"],
      ["wrong", "skip"],
    ]);
    scheduler.close();
    assert.equal(scheduler.isDone, true);
  }
});

Deno.test("an abort that nobody waited for counts too", async () => {
  const outcomes: NodeOutcome<string>[] = [];
  const abort = new AbortController();
  const scheduler = createScheduler<string>(
    { onOutcome: (outcome) => void outcomes.push(outcome) },
    { signal: abort.signal },
  );
  scheduler.add({ id: "first", run: () => "at once" });
  abort.abort();
  scheduler.add({ id: "second", run: () => "never" });
  scheduler.close();
  await scheduler.done;
  assert.deepEqual(outcomes.map(({ id, status }) => `${id} ${status}`), ["first result", "second skip"]);
});

class CountedSignal extends EventTarget {
  listeners = 0;

  override addEventListener(...given: Parameters<EventTarget["addEventListener"]>): void {
    this.listeners++;
    super.addEventListener(...given);
  }

  override removeEventListener(...given: Parameters<EventTarget["removeEventListener"]>): void {
    this.listeners--;
    super.removeEventListener(...given);
  }
}

Deno.test("nobody listens to the signal when all is done", async () => {
  const counted = new CountedSignal();
  const real = new AbortController().signal;
  const signal = new Proxy(real, {
    get: (_target, name) =>
      name.toString().endsWith("EventListener")
        ? Reflect.get(counted, name).bind(counted)
        : Reflect.get(real, name),
  });
  const scheduler = createScheduler<string>({ onOutcome: () => {} }, { signal });
  scheduler.add({ id: "at once", run: () => "now" });
  const work = Promise.withResolvers<string>();
  scheduler.add({ id: "later", run: () => work.promise });
  assert.equal(counted.listeners, 1);
  work.resolve("then");
  scheduler.close();
  await scheduler.done;
  assert.equal(counted.listeners, 0);
});

Deno.test("a node that aborts its own schedule ends with that, whatever it gives", () => {
  for (const gives of [() => "something", () => assert.fail("thrown")]) {
    const outcomes: NodeOutcome<string>[] = [];
    const abort = new AbortController();
    const scheduler = createScheduler<string>(
      { onOutcome: (outcome) => void outcomes.push(outcome) },
      { signal: abort.signal },
    );
    const run = (): string => {
      abort.abort(new Error("enough"));
      return gives();
    };
    scheduler.add({ id: "own", run });
    scheduler.close();
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === "error" && [outcome.cause, String(outcome.error)]),
      [["abort", "Error: enough"]],
    );
    assert.equal(scheduler.isDone, true);
  }
});

// What it waits by: clocks, timers and signals.

Deno.test("a held clock stands, and what slept sleeps longer by as much", async () => {
  const behind = virtualClock();
  const clock = new PausableClock(behind);
  const woke: number[] = [];
  await behind.run((async () => {
    const sleeping = clock.sleep(100).then(() => woke.push(behind.now(), clock.now()));
    await behind.sleep(40);
    const [first, second] = [clock.hold(), clock.hold()];
    await behind.sleep(500);
    assert.equal(clock.now(), 40);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await behind.sleep(500);
    assert.equal(clock.now(), 40);
    second[Symbol.dispose]();
    await sleeping;
  })());
  assert.deepEqual(woke, [1100, 100]);
});

Deno.test("a sleep that is aborted ends, held or not", async () => {
  const behind = virtualClock();
  const clock = new PausableClock(behind);
  const stop = new AbortController();
  const sleeping = clock.sleep(1_000, stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(behind.run(sleeping), /enough/);
});

Deno.test("a call is not late because somebody was asked and took their time", async () => {
  const approvals = new Approvals({
    canAnswer: true,
    ask: () => new Promise((resolve) => setTimeout(() => resolve("yes"), 150)),
  });
  const request = { kind: "write", value: "/p/out" } as const;
  const refused = new PermissionRefused('Writing "out" is not allowed: add --allow-write=out', {
    request,
    flag: "--allow-write=out",
  });
  const asks = { name: "Asks", description: "Asks.", timeoutMs: 60, run: () => approvals.ask(refused) };
  const late = {
    name: "Late",
    description: "Is late.",
    timeoutMs: 60,
    run: async (_input: never, { signal }: { signal: AbortSignal }) => {
      await approvals.ask(refused);
      await systemClock.sleep(5_000, signal);
    },
  };
  const told: string[] = [];
  const text = "!!!GADGET_START:Asks:a\n!!!GADGET_END\n!!!GADGET_START:Late:l:a\n!!!GADGET_END\n";
  for await (const event of runCalls([text], { catalog: createCatalog([asks, late]), approvals })) {
    if (event.type === "call-result") told.push(`${event.invocationId} ${event.result}`);
    if (event.type === "call-error") told.push(`${event.invocationId} ${event.code}`);
  }
  assert.deepEqual(told, ["a true", "l timeout"]);
});

Deno.test("a linked signal is aborted with the first of the others, with its reason, and not after it is disposed of", () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const linked = linkedSignal([a.signal, undefined, b.signal]);
  const free = linkedSignal([a.signal, b.signal]);
  free[Symbol.dispose]();
  b.abort("b");
  a.abort("a");
  assert.deepEqual([linked.signal.aborted, linked.signal.reason, free.signal.aborted], [true, "b", false]);
  assert.equal(linkedSignal([new AbortController().signal, a.signal]).signal.reason, "a");
  assert.equal(linkedSignal([]).signal.aborted, false);
});

const pause = (ms: number) => new Promise<void>((resolve) => nodes(resolve, ms));

/** With what a package puts in the place of Deno's own. */
async function withNodes(work: () => Promise<void>): Promise<void> {
  const own = { setTimeout, clearTimeout };
  Object.assign(globalThis, { setTimeout: nodes, clearTimeout: clearNodes });
  try {
    await work();
  } finally {
    Object.assign(globalThis, own);
  }
}

for (
  const [what, around] of [["Deno", (work: () => Promise<void>) => work()], ["Node", withNodes]] as const
) {
  Deno.test(`a quiet timer does its work, or not when it is disposed of, with the timers of ${what}`, async () => {
    await around(async () => {
      let [done, disposed] = [0, 0];
      using _first = quietTimer(1, () => void done++);
      quietTimer(1, () => void disposed++)[Symbol.dispose]();
      await pause(50);
      assert.deepEqual([done, disposed], [1, 0]);
    });
  });
}

async function endOf(events: AsyncIterable<RunEvent>): Promise<{ readonly status: string }> {
  for await (const event of events) if (event.type === "run-end") return event;
  return assert.fail("there is no run-end");
}

Deno.test("a gadget's time begins when its process was given the call, and when it may run", async () => {
  const ends = async (
    times: { readonly permitMs: number; readonly readyMs: number; readonly takesMs: number },
  ) => {
    const clock = virtualClock();
    const begun: number[] = [];
    const gadget: AskingGadget = {
      name: "Asking",
      description: "Test.",
      timeoutMs: 10,
      [PERMIT]: () => times.permitMs === 0 ? undefined : clock.sleep(times.permitMs),
      run: async (_input: unknown, context: SentContext) => {
        begun.push(clock.now());
        await clock.sleep(times.readyMs);
        context[SENT]?.();
        await clock.sleep(times.takesMs);
        return "done";
      },
    };
    const { status } = await clock.run(
      endOf(runCalls(["!!!GADGET_START:Asking\n"], { catalog: createCatalog([gadget]), clock })),
    );
    assert.deepEqual(begun, [times.permitMs]);
    return `${status} at ${clock.now()}`;
  };
  for (const permitMs of [0, 50]) {
    for (const readyMs of [0, 30]) {
      const startedMs = permitMs + readyMs;
      assert.equal(await ends({ permitMs, readyMs, takesMs: 9 }), `done at ${startedMs + 9}`);
      assert.equal(await ends({ permitMs, readyMs, takesMs: 11 }), `failed at ${startedMs + 10}`);
    }
  }
});
