// What runs side by side in a tactic with equal content (prompts.md 10): a resumed run gives each branch what it had, whatever arrives first.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  defineTactic,
  type Journal,
  memoryJournal,
  type Model,
  ModelError,
  PromptRegistry,
  type RunEvent,
  type RunJournal,
  type Tactic,
  type TacticCtx,
} from "../mod.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import { runTacticRun } from "../lib/run/agent/prompt_run.ts";
import { Replay } from "../lib/run/replay/replay.ts";
import type { RunOptions } from "../lib/run/run.ts";
import { mortalJournal } from "./_mortal_journal.ts";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const NEW_RUN = { kind: "prompt", input: null } as const;

const endOf = (events: readonly RunEvent[]) => {
  const end = events.at(-1);
  return end?.type === "run-end" ? end : assert.fail("no run-end");
};

const warningsOf = (events: readonly RunEvent[]): readonly string[] =>
  events.flatMap((event) => event.type === "warning" ? [event.text] : []);

const tacticOf = (work: (context: TacticCtx<"a" | "b">) => unknown): Tactic =>
  defineTactic({ name: "t", agents: ["a", "b"], call: (_task: unknown, context) => work(context) });

async function run(
  tactic: Tactic,
  { model, ...options }: RunOptions & { model: Model },
): Promise<RunEvent[]> {
  const agent = (name: string) => ({ definition: { name, system: `I am ${name}` }, model: () => model });
  return await Array.fromAsync(runTacticRun({
    tactic,
    task: null,
    prompts: new PromptRegistry(),
    agents: new Map([["a", agent("a")], ["b", agent("b")]]),
    startedAt: 0,
    ...options,
  }));
}

/** Says the last message and how often it was asked; `last` is refused until the model is up. */
function counting(isUp = true, asked: string[] = []): Model {
  return {
    id: "test/counting",
    async *stream({ messages }) {
      const said = String(messages.at(-1)?.content);
      if (said === "last" && !isUp) throw new ModelError("killed", { code: "request" });
      await sleep(1);
      asked.push(said);
      yield { type: "text", text: `${said} ${asked.filter((one) => one === said).length}` };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/counting" };
    },
  };
}

const silent: Model = { id: "test/counting", stream: () => assert.fail("the model was asked") };

/** Runs till its last question, which fails, and goes on with it. */
async function resumed(tactic: (isFirst: boolean) => Tactic): Promise<RunEvent[]> {
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  const first = await run(tactic(true), { model: counting(false), journal: kept });
  assert.equal(endOf(first).error, 'agent "a": killed');
  return await run(tactic(false), { model: counting(), journal: journal.open(kept.id) });
}

const assertValue = (events: readonly RunEvent[], value: unknown): void =>
  assert.deepEqual([endOf(events).status, endOf(events).value], ["done", value], endOf(events).error);

Deno.test("order: equal dialogs of unequal branches keep their answers, though the slow branch comes first in the program", async () => {
  const tactic = tacticOf(async ({ agents: { a }, step }) => {
    const voted = Promise.withResolvers<void>(); // no time is short enough on a machine that is busy
    const branch = async (name: string, work: () => Promise<void>) => {
      await step(name, work);
      const vote = `${name} ${(await a.open().say("vote").call()).text}`;
      voted.resolve();
      return vote;
    };
    const votes = await Promise.all([branch("slow", () => voted.promise), branch("quick", () => sleep(1))]);
    await a.open().say("last").call();
    return votes;
  });
  assertValue(await resumed(() => tactic), ["slow vote 2", "quick vote 1"]);
});

Deno.test("order: equal tactics and forks of unequal branches keep what they had", async () => {
  const tactic = tacticOf(async ({ agents: { a }, step, signal }) => {
    let n = 0;
    const inner = defineTactic({
      name: "inner",
      agents: [],
      call: (_same: string, context) => context.step("get", () => ++n),
    });
    const dialog = a.open();
    await dialog.say("open").call();
    const forked = Promise.withResolvers<void>();
    const branch = async (name: string, work: () => Promise<void>) => {
      await step(name, work);
      const got = await inner.run("same", { signal });
      const fork = `${name} ${got} ${(await dialog.fork().say("fork").call()).text}`;
      forked.resolve();
      return fork;
    };
    const all = await Promise.all([branch("slow", () => forked.promise), branch("quick", () => sleep(1))]);
    await a.open().say("last").call();
    return all;
  });
  assertValue(await resumed(() => tactic), ["slow 2 fork 2", "quick 1 fork 1"]);
});

Deno.test("order: a branch that waits for a timer of its own keeps its answer", async () => {
  const tactic = tacticOf(async ({ agents: { a }, step }) => {
    const voted = Promise.withResolvers<void>();
    const vote = async (name: string) => {
      const said = `${name} ${(await a.open().say("vote").call()).text}`;
      voted.resolve();
      return said;
    };
    const votes = await Promise.all([
      step("slow", () => voted.promise).then(() => vote("step")),
      sleep(8).then(() => vote("timer")),
    ]);
    await a.open().say("last").call();
    return votes;
  });
  assertValue(await resumed(() => tactic), ["step vote 2", "timer vote 1"]);
});

Deno.test("order: what is still to be done comes behind what was done", async () => {
  let n = 0;
  const tactic = (isFirst: boolean) =>
    tacticOf(async ({ agents: { a }, step }) => {
      const branch = async (name: string, work: () => unknown) => {
        await step(name, work);
        return `${name} ${await step("same", () => ++n)}`;
      };
      const all = await Promise.all([
        branch("open", () => isFirst ? new Promise(() => undefined) : 0),
        branch("done", () => sleep(1)).then(async (done) => {
          await a.open().say("last").call();
          return done;
        }),
      ]);
      return all;
    });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  await run(tactic(true), { model: counting(false), journal: kept });
  const second = journal.open(kept.id);
  second.settle("step:open", "rerun");
  assertValue(await run(tactic(false), { model: counting(), journal: second }), ["open 2", "done 1"]);
});

Deno.test("order: a program that has changed goes on, and what could be either of two ends the run", async () => {
  const tactic = (isMany: boolean) => (isFirst: boolean) =>
    tacticOf(async ({ agents: { a }, step }) => {
      await step(isFirst ? "old" : "new", () => 0);
      await Promise.all([step("x", () => 1), isMany && step("x", () => 2).catch(() => 0)]);
      return (await a.open().say("last").call()).text;
    });
  const [one, many] = await Promise.all([resumed(tactic(false)), resumed(tactic(true))]);
  assertValue(one, "last 1");
  assert.match(warningsOf(one)[0] ?? "", /step:old/);
  assert.deepEqual([endOf(many).status, endOf(many).reason], ["failed", "diverged"]);
  assert.match(
    endOf(many).error ?? "",
    /^step:x(#2)? comes in another order than before the run was resumed/,
  );
});

Deno.test("order: a step may be tried again in branches, wherever the run died", async () => {
  const tactic = (done: string[]) =>
    tacticOf(async ({ step, agents: { a } }) => {
      let tries = 0;
      const flaky = async (name: string, ms: number) => {
        for (let i = 1;; i++) {
          try {
            return await step("try", async () => {
              await sleep(ms);
              if (++tries % 2 === 1) throw new Error("no luck");
              done.push(name);
              return name;
            }, { input: name });
          } catch {
            if (i === 4) throw new Error(`${name} gave up`);
            await step("note", () => void done.push(`note ${name} ${i}`));
          }
        }
      };
      const all = await Promise.all([flaky("x", 2), flaky("y", 1), a.open().say("beside").call()]);
      return [all[0], all[1], all[2].text];
    });
  let deaths = 0;
  for (let n = 1, isOver = false; !isOver; n++) {
    for (const isDone of [false, true]) {
      const journal = memoryJournal({ isAlive: () => false });
      const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
      const done: string[] = [];
      const events = await run(tactic(done), { model: counting(), journal: first });
      isOver = !first.died();
      if (isOver) assertValue(events, ["x", "y", "beside 1"]);
      if (isOver) break;
      deaths++;
      await sleep(6);
      if (!isOpen(journal, first.id)) continue;
      const second = journal.open(first.id);
      rerunOpen(journal, second);
      assertValue(await run(tactic(done), { model: counting(), journal: second }), ["x", "y", "beside 1"]);
    }
  }
  assert.ok(deaths > 15, String(deaths));
});

Deno.test("order: wherever it died, and however long its work takes then, each branch sees again what it had seen", async () => {
  const delays = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 6, maxLength: 6 });
  const tactic = (ms: readonly number[], seen: Map<string, unknown>) =>
    tacticOf(async ({ step, agents: { a } }) => {
      let n = 0;
      const saw = (what: string, value: unknown) => void seen.set(what, value);
      await Promise.all(["x", "y", "z"].map(async (name, i) => {
        saw(
          `${name} own`,
          await step("own", async () => (await sleep(ms[i] ?? 0), `${name} ${++n}`), { input: name }),
        );
        const dialog = a.open();
        saw(`${name} vote`, (await dialog.say("vote").call()).text);
        saw(`${name} same`, await step("same", async () => (await sleep(ms[i + 3] ?? 0), `same ${name}`)));
        saw(`${name} fork`, (await dialog.fork().say("why").call()).text);
      }));
      return seen.size;
    });
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      delays,
      delays,
      fc.integer({ min: 4, max: 60 }),
      fc.boolean(),
      async (before, after, n, isDone) => {
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
        const [then, now] = [new Map<string, unknown>(), new Map<string, unknown>()];
        await run(tactic(before, then), { model: counting(), journal: first });
        const seen = [...then];
        await sleep(14);
        if (!first.died() || !isOpen(journal, first.id)) return;
        const kept = JSON.stringify(journal.read(first.id).steps.map(({ outcome }) => outcome));
        const second = journal.open(first.id);
        rerunOpen(journal, second);
        assertValue(await run(tactic(after, now), { model: counting(), journal: second }), 12);
        for (const [what, value] of seen) {
          if (!kept.includes(JSON.stringify(value))) continue;
          assert.equal(now.get(what), value, what);
          compared++;
        }
      },
    ),
    { numRuns: 100 },
  );
  assert.ok(compared > 50, String(compared));
});

const isOpen = (journal: Journal, id: string): boolean =>
  ["running", "stopped"].includes(journal.read(id).summary.status);

/** Steps whose end nobody knows are done again. */
function rerunOpen(journal: Journal, opened: RunJournal): void {
  for (const { key, status, idempotent } of journal.read(opened.id).steps) {
    if (status === "started" && !idempotent) opened.settle(key, "rerun");
  }
}

// What nobody waits for

Deno.test("not awaited: a step and a turn that nobody awaits are done before the run is", async () => {
  const done: string[] = [];
  const tactic = tacticOf(({ step, agents: { a } }) => {
    step("late", async () => {
      await sleep(5);
      done.push("late");
    }).then(() => step("later", () => void done.push("later")));
    a.open().say("beside").call();
    return "value";
  });
  const journal = memoryJournal();
  const kept = journal.create(NEW_RUN);
  assertValue(await run(tactic, { model: counting(), journal: kept }), "value");
  assert.deepEqual(done, ["late", "later"]);
  assert.deepEqual(journal.read(kept.id).steps.map(({ status }) => status), [
    "finished",
    "finished",
    "finished",
  ]);
});

Deno.test("not awaited: what a step begins belongs to it, to its end and no longer", async () => {
  const done: string[] = [];
  let late = Promise.resolve("");
  const tactic = tacticOf(async ({ step }) => {
    await step("outer", () => {
      step("inner", async () => {
        await sleep(3);
        done.push("inner");
      });
      late = sleep(20).then(() => step("late", () => done.push("late"))).then(
        String,
        (error) => error.message,
      );
    });
    assert.deepEqual(done, ["inner"]);
    return await late;
  });
  const events = await run(tactic, { model: silent, journal: memoryJournal().create(NEW_RUN) });
  assertValue(
    events,
    'step "late" begins inside of step:outer, which has ended: a run that is resumed would not come to it. ' +
      "Wait for all that is begun in there",
  );
  assert.deepEqual(done, ["inner"]);
});

// Failures

Deno.test("failures: one that the tactic went on after is kept, one that ended it is not", async () => {
  const asked: string[] = [];
  const model = (isUp: boolean): Model => ({
    id: "test/m",
    async *stream({ messages }) {
      const said = String(messages.at(-1)?.content);
      asked.push(said);
      await sleep(1);
      if (said === "fails" || !isUp && said === "last") throw new ModelError("down", { code: "request" });
      yield { type: "text", text: said };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/m" };
    },
  });
  const tactic = tacticOf(async ({ agents: { a }, step }) => {
    const first = await a.open().say("fails").call().catch(({ message, code }) => `${code}: ${message}`);
    await step("noted", () => first);
    return [first, (await a.open().say("last").call()).text];
  });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  assert.equal(endOf(await run(tactic, { model: model(false), journal: kept })).status, "failed");
  assert.deepEqual(asked, ["fails", "last"]);
  assertValue(await run(tactic, { model: model(true), journal: journal.open(kept.id) }), [
    'provider: agent "a": down',
    "last",
  ]);
  assert.deepEqual(asked, ["fails", "last", "last"]);
});

Deno.test("failures: a turn that the tactic aborted stays aborted, and nothing of it is asked about", async () => {
  const { definePrompt } = await import("../lib/prompt/define_prompt.ts");
  const { defineGadget } = await import("../lib/schema/define_gadget.ts");
  const asked: string[] = [];
  const model = (isUp: boolean): Model => ({
    id: "test/m",
    async *stream({ messages, signal }) {
      const said = String(messages.at(-1)?.content);
      asked.push(said);
      if (said === "hangs") {
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      }
      if (!isUp && said === "last") throw new ModelError("down", { code: "request" });
      if (said === "task") yield { type: "call", call: { id: "", name: "hang", arguments: "{}" } };
      else yield { type: "text", text: said };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/m" };
    },
  });
  const hang = defineGadget({
    name: "hang",
    description: "Hangs.",
    run: () => new Promise<string>(() => undefined),
  });
  const task = definePrompt({ path: "task", template: "task", tools: [hang] });
  const tactic = tacticOf(async ({ agents: { a, b }, step }) => {
    const stop = new AbortController();
    const codeOf = (turn: Promise<unknown>) => turn.then(() => "none", ({ code }) => code);
    const turns = [
      codeOf(a.open().say("hangs").call({ signal: stop.signal })),
      codeOf(b.open().ask(task, {}, { signal: stop.signal })),
    ];
    await step("wait", () => sleep(10));
    stop.abort(new Error("enough"));
    const codes = await Promise.all(turns);
    return [codes, (await a.open().say("last").call()).text];
  });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  assert.equal(endOf(await run(tactic, { model: model(false), journal: kept })).error, 'agent "a": down');
  const open = journal.read(kept.id).steps.filter(({ status, kind }) =>
    status === "started" && kind === "gadget"
  );
  assert.deepEqual(open.map(({ key }) => key), []);
  asked.length = 0;
  assertValue(await run(tactic, { model: model(true), journal: journal.open(kept.id) }), [[
    "aborted",
    "aborted",
  ], "last"]);
  assert.deepEqual(asked, ["last"]);
});

// A step inside of another

Deno.test("shared: a step that was begun inside of another cannot be waited for outside, and no catch hides it", async () => {
  let done = 0;
  let shared: Promise<number> | undefined;
  const tactic = tacticOf(async ({ step }) => {
    const get = () => shared ??= step("fetch", () => ++done);
    const inner = await step("outer", async () => (await Promise.all([get(), get().then((n) => n)]))[1]);
    return [inner, await get().catch(() => "hidden")];
  });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  const end = endOf(await run(tactic, { model: silent, journal: kept }));
  assert.deepEqual([end.status, end.reason, done], ["failed", "config", 1]);
  assert.equal(
    end.error,
    'step "fetch" (step:outer/step:fetch) was begun inside of step:outer and is waited for outside of it: a run that is resumed would ' +
      "do it twice. Begin it before, or give what came of it back from there",
  );
});

Deno.test("shared: a step gives back what a step in it gives", async () => {
  const tactic = tacticOf(({ step }) => step("outer", () => step("inner", () => 1)));
  assertValue(await run(tactic, { model: silent, journal: memoryJournal().create(NEW_RUN) }), 1);
});

Deno.test("shared: a resumed run that may do twice what was done inside of a step says so", async () => {
  const tactic = (isFirst: boolean) =>
    tacticOf(async ({ step, agents: { a } }) => {
      let shared: Promise<number> | undefined;
      const get = () => shared ??= step("fetch", () => 1);
      await step("outer", () => get());
      await a.open().say("last").call();
      return isFirst ? 0 : await get();
    });
  const events = await resumed(tactic);
  assertValue(events, 1);
  assert.deepEqual(warningsOf(events), [
    "step:fetch is done now, and step:outer/step:fetch was done before the run was resumed: if both are meant to be one, it is done " +
    "twice; begin it before the step or the call that it lies in",
  ]);
});

// Records

async function record(tactic: Tactic, model: Model): Promise<{ events: RunEvent[]; lines: RecordLine[] }> {
  const lines: RecordLine[] = [];
  const events = await run(tactic, {
    model,
    recorder: { write: (line) => void lines.push(structuredClone(line)) },
  });
  return { events, lines };
}

const withTimer = (ms: number) =>
  tacticOf(async ({ step }) => {
    await step("one", () => 1);
    await sleep(ms);
    return await step("two", () => 2);
  });

Deno.test("replay: a timer of the program may take longer than a replay waits for an engine", async () => {
  const { events, lines } = await record(withTimer(150), silent);
  assertValue(events, 2);
  const replay = new Replay({ ...NEW_RUN, id: events[0]?.run ?? "" }, lines, { idleMs: 80 });
  assert.equal(JSON.stringify(await run(withTimer(150), { model: silent, replay })), JSON.stringify(events));
});

Deno.test("replay: a program that takes much longer than it did, or never goes on, is told of", async () => {
  const { events, lines } = await record(withTimer(20), silent);
  const replay = new Replay({ ...NEW_RUN, id: events[0]?.run ?? "" }, lines, { idleMs: 40 });
  const end = endOf(await run(withTimer(200), { model: silent, replay }));
  assert.deepEqual([end.reason, end.error], [
    "diverged",
    'The record goes on with the step "step:two", and the run did not come to it',
  ]);
  await sleep(200); // the program's own
});
