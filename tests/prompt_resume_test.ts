// A run of a prompt that dies at any operation of its journal and is gone on with (turn.md 3): the same end, no finished effect done twice.
import assert from "node:assert/strict";
import {
  type AnyGadget,
  defineGadget,
  definePrompt,
  type Journal,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
  type RunEvent,
  type RunJournal,
  runPrompt,
  tags,
  virtualClock,
} from "../mod.ts";
import { mortalJournal } from "./_mortal_journal.ts";
import { type Script, scriptedModel } from "./_scripted_model.ts";
import { goneOn, inBothJournals, strictJournal } from "./_strict_steps.ts";

/** What one process after the other does to the world. */
interface World {
  /** How often each effect was done, to its end. */
  readonly effects: Map<string, number>;
  /** How often the model was asked what, by the number of messages. */
  readonly asked: Map<number, number>;
}

const newWorld = (): World => ({ effects: new Map(), asked: new Map() });

const call = (name: string, input: object): ModelPart => ({
  type: "call",
  call: { id: "", name, arguments: JSON.stringify(input) },
});

/** By the number of messages that it is asked with. */
const REPLIES: Readonly<Record<number, Script>> = {
  2: ["I look. ", call("once", { n: 1 }), call("safe", { n: 2 }), call("fails", {})],
  6: ["no tag"], // the contract is broken
  8: [call("once", { n: 3 }), call("nobody", {})],
  9: ["<a>one, safe and three</a>"],
};

/** It answers by what it is asked, and fails the first time in the world that it is asked the last question. */
function model({ asked }: World): Model {
  return {
    id: "test/model",
    stream(request: ModelRequest) {
      const { length } = request.messages;
      asked.set(length, (asked.get(length) ?? 0) + 1);
      const isDown = length === 9 && asked.get(length) === 1;
      const script = isDown ? [new ModelError("down", { code: "server" })] : REPLIES[length] ?? [];
      return scriptedModel([script]).stream(request);
    },
  };
}

function gadgets({ effects }: World): readonly AnyGadget[] {
  const done = (name: string, n: unknown): void => {
    const effect = `${name} ${n ?? ""}`;
    effects.set(effect, (effects.get(effect) ?? 0) + 1);
  };
  const input = { type: "object" } as const;
  const make = (name: string, more: object): AnyGadget =>
    defineGadget({
      name,
      description: name,
      input,
      run: async ({ n }: { readonly n?: unknown }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        done(name, n);
        return `${name} ${n}`;
      },
      ...more,
    });
  return [
    make("once", {}),
    make("safe", { idempotent: true }),
    make("fails", { run: () => (done("fails", ""), Promise.reject(new Error("no luck"))) }),
  ];
}

async function run(world: World, options: { readonly journal?: RunJournal }): Promise<RunEvent[]> {
  const prompt = definePrompt({
    path: "task",
    template: "Do it.",
    parser: tags({ requiredXmlTags: ["a"] }),
    tools: gadgets(world),
  });
  const events: RunEvent[] = [];
  const clock = virtualClock();
  const quick = { now: () => clock.now(), sleep: waitsOnlyForProviders };
  const agent = { name: "a", system: "S" };
  for await (
    const event of runPrompt({ prompt, args: {}, agent, model: model(world), clock: quick, ...options })
  ) {
    events.push(event);
  }
  return events;
}

/** The time limits of tools are none here, and a wait for a provider is over at once. */
function waitsOnlyForProviders(ms: number, signal?: AbortSignal): Promise<void> {
  return ms >= 60_000
    ? new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true })
    )
    : Promise.resolve();
}

const endOf = (events: readonly RunEvent[]): RunEvent & { readonly type: "run-end" } => {
  const end = events.at(-1);
  return end?.type === "run-end" ? end : assert.fail("no run-end");
};

const EFFECTS = new Map([["once 1", 1], ["safe 2", 1], ["fails ", 1], ["once 3", 1]]);

const idOf = (key: string): string => /call:(.*)$/.exec(key)?.[1] ?? "";

const EFFECT_OF: Readonly<Record<string, string>> = {
  call_1: "once 1",
  call_2: "safe 2",
  call_3: "fails ",
  call_4: "once 3",
};

/** The user looks whether an effect was done whose end is not known. */
function settle(journal: Journal, second: RunJournal, { effects }: World): readonly string[] {
  const open = journal.read(second.id).steps.filter(({ status, idempotent }) =>
    status === "started" && !idempotent
  );
  for (const { key } of open) {
    const effect = EFFECT_OF[idOf(key)] ?? assert.fail(key);
    const outcome = effect.startsWith("fails") ? { error: { message: "no luck" } } : { ok: effect };
    second.settle(key, effects.has(effect) ? { outcome } : "rerun");
  }
  return open.map(({ key }) => key);
}

inBothJournals(
  "a prompt with two rounds, a broken contract and a failed model call ends the same wherever it died",
  async ({ isStrict }) => {
    const plain = newWorld();
    const want = endOf(await run(plain, {}));
    assert.equal(want.status, "done", want.error);
    assert.deepEqual(plain.effects, EFFECTS);
    assert.deepEqual([...plain.asked], [[2, 1], [6, 1], [8, 1], [9, 2]]);
    let [deaths, losses] = [0, 0];
    for (let n = 1;; n++) {
      for (const isDone of [false, true]) {
        const world = newWorld();
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create({ kind: "prompt", input: null }), { n, isDone });
        await run(world, { journal: first });
        await new Promise((resolve) => setTimeout(resolve, 3)); // what still ran has ended by now
        if (!first.died()) {
          assert.ok(deaths >= 40, String(deaths));
          assert.ok(losses >= (isStrict ? 100 : 0), String(losses));
          return;
        }
        deaths++;
        const { status } = journal.read(first.id).summary;
        if (status !== "running" && status !== "stopped") continue; // it died in the very release
        const finished = journal.read(first.id).steps.filter((step) => step.status === "finished");
        const before = new Map(world.effects);
        const asked = new Map(world.asked);
        const open: string[] = [];
        const strict = isStrict ? strictJournal(journal) : undefined;
        const events = await goneOn(strict ?? journal, first.id, {
          settle: (second) => void open.push(...settle(journal, second, world)),
          start: (second) => run(world, { journal: second }),
        });
        const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it; open: ${open.join(" ")}`;
        const end = endOf(events);
        const lost = strict?.losses.size ?? 0; // each may have cost what else was under way
        losses += lost;
        assert.deepEqual([end.status, end.value], [want.status, want.value], `${where}: ${end.error}`);
        assertEventsOf(events, where);
        for (const { key, kind } of finished) {
          const effect = EFFECT_OF[idOf(key)] ?? "";
          if (kind === "gadget") {
            assert.equal(world.effects.get(effect), before.get(effect), `${where}: ${key} again`);
          }
        }
        for (const [effect, times] of world.effects) {
          const most = effect.startsWith("safe") ? 2 + lost : 1;
          assert.ok(times <= most, `${where}: ${effect} was done ${times} times`);
        }
        assert.deepEqual([...world.effects.keys()].toSorted(), [...EFFECTS.keys()].toSorted(), where);
        const answers = finished.filter(({ kind }) => kind === "model").length;
        const total = [...world.asked.values()].reduce((sum, times) => sum + times, 0);
        const earlier = [...asked.values()].reduce((sum, times) => sum + times, 0);
        assert.ok(
          total - earlier <= 5 - answers + lost,
          `${where}: an answer that was kept was asked for again`,
        );
      }
    }
  },
);

/** One outcome for each call, one warning for each wait, and numbers that grow. */
function assertEventsOf(events: readonly RunEvent[], where: string): void {
  const seqs = events.map(({ seq }) => seq);
  assert.ok(seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] ?? 0)), `${where}: ${seqs}`);
  const outcomes = events.flatMap((event) =>
    event.type === "call-result" || event.type === "call-error" ? [`${event.step} ${event.invocationId}`] : []
  );
  assert.equal(new Set(outcomes).size, outcomes.length, `${where}: an outcome was told twice`);
  assert.equal(outcomes.length, 5, where);
}

Deno.test("what was waited for before a resume is not waited for again", async () => {
  const journal = memoryJournal({ isAlive: () => false });
  const prompt = definePrompt({ path: "p", template: "x" });
  const first = journal.create({ kind: "prompt", input: null });
  const clock = virtualClock();
  const full = new ModelError("full", { code: "rate-limit", retryAfterMs: 9_000 });
  const half = new AbortController();
  const dying: Model = {
    id: "test/m",
    stream: () => (half.abort(new Error("killed")), scriptedModel([]).stream({ messages: [] })),
  };
  const asked = scriptedModel([[full]]);
  let n = 0;
  const models: Model = {
    id: "test/m",
    stream: (request) => (n++ === 0 ? asked : dying).stream(request),
  };
  const told = await clock.run(Array.fromAsync(
    runPrompt({ prompt, args: {}, model: models, clock, journal: first, signal: half.signal }),
  ));
  assert.equal(clock.now(), 9_000);
  const again = virtualClock();
  const model = { ...scriptedModel([["yes"]]), id: "test/m" };
  const events = await again.run(
    Array.fromAsync(runPrompt({ prompt, args: {}, model, clock: again, journal: journal.open(first.id) })),
  );
  assert.equal(again.now(), 0);
  assert.deepEqual([endOf(events).status, endOf(events).value], ["done", "yes"]);
  const warnings = (list: readonly RunEvent[]): readonly string[] =>
    list.flatMap((event) => event.type === "warning" ? [event.text] : []);
  assert.deepEqual(warnings(told), ["full; trying again in 9 s"]);
  assert.deepEqual(warnings(events), warnings(told));
});
