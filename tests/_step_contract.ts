// What the one door for effects promises an engine, wherever its steps are kept: in SQLite, in memory, in a record that answers them all,
// and in a journal that takes nothing on trust. An engine is any async function; each life is what one process does of it.

import assert from "node:assert/strict";
import { memoryJournal, openJournal } from "../mod.ts";
import type { Journal, Json, RunEvent, RunJournal, StepOutcome, StepStart } from "../mod.ts";
import { PermissionRefused, type RecordLine, type Secrets } from "../lib/core/core.ts";
import { createSecrets } from "../lib/core/secrets.ts";
import { type Effect, EffectError, enterStep, performEffect } from "../lib/run/effect.ts";
import { Replay } from "../lib/run/replay/replay.ts";
import type { Run, RunOptions } from "../lib/run/run.ts";
import { endingRun } from "../lib/run/work_run.ts";
import { goneOn, type StrictJournal, strictJournal } from "./_strict_steps.ts";

export type Engine = (run: Run) => Promise<Json>;

/** What came of a life. */
export interface Life {
  readonly value?: Json;
  readonly error?: unknown;
  readonly events: readonly RunEvent[];
}

export interface Place {
  /** Does the work in a process, which finds what those before it have kept. @param asked says what became of steps whose end is not known */
  life(work: Engine, asked?: (step: StepStart) => "rerun" | StepOutcome | undefined): Promise<Life>;
  /** How often a process may enter a step that is safe to do again. */
  readonly most: number;
  /** Nothing is performed from the second life on, and what was not kept is not there. */
  readonly isRecord?: boolean;
  readonly strict?: StrictJournal;
}

export async function lived(work: Engine, options: RunOptions): Promise<Life> {
  let came: { value?: Json; error?: unknown } = {};
  const events = await Array.fromAsync(endingRun("prompt", options, async (run) => {
    try {
      came = { value: await work(run) };
      return { status: "done", value: came.value ?? null, keepAs: "stopped" };
    } catch (error) {
      came = { error };
      return { status: "failed", error: "the engine has thrown", keepAs: "stopped" };
    }
  }));
  return { ...came, events };
}

function inJournal(journal: Journal, { most, strict, secrets }: Omit<Place, "life"> & Given): Place {
  let id: string | undefined;
  return {
    most,
    strict,
    life(work, asked) {
      id ??= begun(journal);
      const settle = (run: RunJournal): void => {
        for (const step of journal.read(run.id).steps) {
          if (step.status === "finished" || step.idempotent) continue;
          const said = asked?.(step);
          if (said !== undefined) run.settle(step.key, said === "rerun" ? said : { outcome: said });
        }
      };
      return goneOn(journal, id, {
        settle,
        start: (run) => lived(work, { journal: run, secrets }),
      });
    },
  };
}

function begun(journal: Journal): string {
  const run = journal.create({ kind: "test", input: null });
  run.release("stopped");
  return run.id;
}

function inRecord({ secrets }: Given): Place {
  const lines: RecordLine[] = [];
  return {
    most: 1,
    isRecord: true,
    life(work) {
      if (lines.length === 0) {
        return lived(work, { secrets, recorder: { write: (line) => void lines.push(line) } });
      }
      const read = JSON.parse(JSON.stringify(lines));
      const replay = new Replay({ id: "r", kind: "test", input: null }, read, { idleMs: 50 });
      return lived(work, { secrets, replay });
    },
  };
}

export interface Given {
  readonly secrets?: Secrets;
}

const dead = { isAlive: () => false } as const;

/** Makes a place, does something there, and takes it down. */
export type InPlace = (work: (place: Place) => Promise<void>, given?: Given) => Promise<void>;

/** Where this process keeps steps itself. */
export const PLACES: Readonly<Record<string, InPlace>> = {
  async SQLite(work, given = {}) {
    const folder = await Deno.makeTempDir({ prefix: "orrery-step-" });
    try {
      using journal = openJournal(folder, given);
      await work(inJournal(journal, { most: 1, ...given }));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
  memory: (work, given = {}) => work(inJournal(memoryJournal({ ...dead, ...given }), { most: 1, ...given })),
  "a record": (work, given = {}) => work(inRecord(given)),
  async "a journal that trusts nothing"(work, given = {}) {
    for (const seed of [1, 2, 3]) {
      const strict = strictJournal(memoryJournal({ ...dead, ...given }), { seed });
      await work(inJournal(strict, { most: 2, strict, ...given }));
    }
  },
};

const READ = { kind: "read", name: "a file", input: { path: "x" }, isIdempotent: true } as const;
const SHELL = { kind: "shell", name: "a command", input: { script: "x" }, isIdempotent: false } as const;

/** An effect that counts how often it was done, to its end. */
function counted(count: { done: number }, effect: Omit<Effect, "perform">, outcome: Json | Error): Effect {
  return {
    ...effect,
    async perform() {
      await Promise.resolve();
      count.done++;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
}

const failureOf = ({ error }: Life): EffectError =>
  error instanceof EffectError ? error : assert.fail(`no failed step: ${Deno.inspect(error)}`);

const ends = ({ events }: Life, key: string): readonly RunEvent[] =>
  events.filter((event) => event.type === "step-end" && event.key === key);

const CONTRACT: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  async "an effect is done once, and what came of it is there in every life"(place) {
    const count = { done: 0 };
    const outcome = { text: "ä\n", list: [1, null, { deep: true }] };
    const work: Engine = async (run) => {
      const first = await performEffect(run, { ...counted(count, { ...READ, key: "a" }, outcome) });
      return [first ?? null, await performEffect(run, counted(count, { ...READ, key: "b" }, 2)) ?? null];
    };
    const lives = [await place.life(work), await place.life(work), await place.life(work)];
    for (const life of lives) {
      assert.deepEqual(life.value, [outcome, 2]);
      for (const key of ["a", "b"]) {
        const told = ends(life, key);
        assert.equal(told.length, 1, "the end of a step is told once");
        assert.deepEqual("outcome" in (told[0] ?? {}), true);
      }
      const seqs = life.events.map(({ seq }) => seq);
      assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b));
    }
    assert.ok(count.done >= 2 && count.done <= 2 * place.most, `${count.done} times`);
  },
  async "what is not idempotent is asked about when its end is not known, and done once"(place) {
    const done: string[] = [];
    const keys = ["a", "b", "c", "d", "e", "f"];
    const work: Engine = async (run) => {
      const all: Json[] = [];
      for (const key of keys) {
        const perform = () => (done.push(key), Promise.resolve(`did ${key}`));
        all.push(await performEffect(run, { ...SHELL, key, perform }));
      }
      return all;
    };
    const asked: string[] = [];
    const look = ({ key }: StepStart) => {
      asked.push(key);
      return done.includes(key) ? { ok: `did ${key}` } : "rerun" as const;
    };
    for (const life of [await place.life(work, look), await place.life(work, look)]) {
      assert.deepEqual(life.value, keys.map((key) => `did ${key}`));
    }
    assert.deepEqual(done, keys, "each was done, once");
    assert.deepEqual(asked, place.strict === undefined ? [] : keys);
    if (place.strict === undefined) return;
    assert.deepEqual(
      new Set(place.strict.losses.values()),
      new Set(["before its effect", "behind its effect"]),
    );
  },
  async "nothing that may have been done is done again unasked"(place) {
    const count = { done: 0 };
    const stop = { isOn: true };
    const work: Engine = async (run) => {
      if (stop.isOn) {
        enterStep(run, {
          key: "a",
          kind: "shell",
          name: "a command",
          input: { script: "x" },
          idempotent: false,
        });
      } else await performEffect(run, counted(count, { ...SHELL, key: "a" }, 1));
      return null;
    };
    if (place.isRecord) return; // it has the end of all that has one
    await place.life(work);
    stop.isOn = false;
    const { failure, isKept } = failureOf(await place.life(work));
    assert.deepEqual([failure.code, isKept], ["unverified", false]);
    assert.match(failure.message, /^a command was started before the process ended, .* \(step "a"\)$/);
    assert.equal(count.done, 0);
    assert.equal(place.strict?.claims.get("a") ?? 1, 1, "the claim is another attempt's");
    assert.equal((await place.life(work, () => ({ ok: "settled" }))).error, undefined);
    assert.equal(count.done, 0);
  },
  async "a failure is what came of it"(place) {
    const count = { done: 0 };
    const request = { kind: "read", paths: ["x"] } as never; // nobody looks at it
    const refused = new PermissionRefused("not allowed", { request, flag: "--allow-x" });
    const failures = [new Error("no luck"), refused];
    const work: Engine = async (run) => {
      const all: Json[] = [];
      for (const [n, error] of failures.entries()) {
        const failed = performEffect(run, counted(count, { ...READ, key: `${n}` }, error)).then(
          () => assert.fail(),
          (error) => error,
        );
        const error2 = await failed;
        if (!(error2 instanceof EffectError)) throw error2;
        all.push({ ...error2.failure, isKept: error2.isKept });
      }
      return all;
    };
    for (const life of [await place.life(work), await place.life(work)]) {
      assert.deepEqual(life.value, [
        { message: "no luck", code: "error", isKept: true },
        { message: "not allowed", code: "permission", flag: "--allow-x", isKept: true },
      ]);
    }
    assert.ok(count.done >= 2 && count.done <= 2 * place.most, `${count.done} times`);
  },
  async "a failure that is not kept, and nothing, are no outcome: it is done again in the next life"(place) {
    if (place.isRecord) return;
    const given: (Json | Error)[] = [];
    const work: Engine = async (run) => {
      const perform = (): Promise<Json | undefined> => {
        const next = given[0];
        if (next === undefined) return Promise.resolve(undefined);
        if (!(next instanceof Error)) return Promise.resolve(next);
        throw new EffectError({ message: next.message }, { isKept: false, cause: next });
      };
      return await performEffect(run, { ...READ, key: "a", isSilent: true, perform }) ?? "nothing";
    };
    const gone = new RangeError("gone");
    given[0] = gone;
    assert.equal((await place.life(work)).error, gone, "it is thrown as it came");
    given.length = 0;
    assert.equal((await place.life(work)).value, "nothing");
    given[0] = "there";
    assert.equal((await place.life(work)).value, "there");
    given[0] = "changed";
    assert.equal((await place.life(work)).value, "there");
  },
  async "what breaks off is not known to be done"(place) {
    if (place.isRecord) return;
    const stop = new AbortController();
    const work: Engine = async (run) => {
      const perform = (): Promise<Json> => {
        if (stop.signal.aborted) return Promise.resolve("done");
        stop.abort(new Error("stopped"));
        return Promise.reject(new Error("broken off"));
      };
      const { signal } = stop.signal.aborted ? new AbortController() : stop;
      return await performEffect(run, { ...READ, key: "a", signal, perform });
    };
    const first = await place.life(work);
    if (place.strict?.losses.get("a") !== "before its effect") {
      assert.equal(first.error instanceof Error && first.error.message, "stopped");
    }
    assert.equal((await place.life(work)).value, "done");
  },
  async "another input, kind or name is not the same step"(place) {
    const work = (more: Partial<Effect>): Engine => async (run) =>
      await performEffect(run, { ...READ, key: "a", ...more, perform: () => Promise.resolve(1) });
    assert.equal((await place.life(work({}))).value, 1);
    for (const more of [{ input: { path: "y" } }, { kind: "http" }, { name: "another" }] as const) {
      const { error, events } = await place.life(work(more));
      assert.match(
        String(error),
        /Error: Step "a" is not the (?:recorded one|one that was recorded): /,
      );
      const end = events.at(-1);
      assert.deepEqual(end?.type === "run-end" && [end.status, end.reason], ["failed", "diverged"]);
    }
    assert.equal((await place.life(work({}))).value, 1, "what was kept is there still");
  },
  async "steps side by side have each their own outcome"(place) {
    const count = { done: 0 };
    const work: Engine = async (run) => {
      const branch = async (n: number): Promise<Json> => {
        const one = await performEffect(run, counted(count, { ...READ, key: `branch[${n}]/one` }, n));
        const two = await performEffect(run, counted(count, { ...READ, key: `branch[${n}]/two` }, n * 10));
        return [one ?? null, two ?? null];
      };
      return await Promise.all([1, 2, 3].map(branch));
    };
    for (const life of [await place.life(work), await place.life(work)]) {
      assert.deepEqual(life.value, [[1, 10], [2, 20], [3, 30]]);
    }
    const least = 6;
    assert.ok(
      count.done >= least && (place.strict !== undefined || count.done === least),
      `${count.done} times`,
    );
  },
  async "what a model had said is kept with the step that it led to, and is all there is of it"(place) {
    if (place.isRecord) return;
    let prefix: readonly Json[] | undefined;
    const work: Engine = async (run) => {
      const model = { key: "model", kind: "model", name: "m", input: null, idempotent: true } as const;
      const step = enterStep(run, model);
      if (step.outcome !== undefined) return "ok" in await step.outcome ? prefix?.length ?? 0 : null;
      prefix ??= step.prefix;
      if (prefix === undefined) run.prefix("model", () => ({ text: "Hm" }));
      await performEffect(run, { ...SHELL, key: "call", perform: () => Promise.resolve(1) });
      if (prefix !== undefined) step.end({ ok: "all" });
      return prefix?.length ?? 0;
    };
    const rerun = () => "rerun" as const;
    await place.life(work, rerun);
    assert.equal((await place.life(work, rerun)).value, 1);
    assert.deepEqual(prefix, [{ text: "Hm" }]);
    assert.equal((await place.life(work, rerun)).value, 1);
  },
};

/** Registers the tests of the contract for each place. */
export function stepContract(places: Readonly<Record<string, InPlace>>): void {
  for (const [kind, inPlace] of Object.entries(places)) contractOf(kind, inPlace);
}

function contractOf(kind: string, inPlace: InPlace): void {
  for (const [what, check] of Object.entries(CONTRACT)) Deno.test(`${kind}: ${what}`, () => inPlace(check));
  Deno.test(`${kind}: what is secret is taken out before anybody has it`, async () => {
    const secrets = createSecrets();
    secrets.add("KEY", "s3cr3t/value");
    await inPlace(async (place) => {
      const work: Engine = async (run) => {
        const perform = (tell: (text: string) => void): Promise<Json> => {
          tell("is s3cr3t/");
          tell("value!");
          return Promise.resolve({ text: "s3cr3t/value" });
        };
        const given = await performEffect(run, { ...READ, key: "a", input: "s3cr3t/value", perform });
        const failed = performEffect(run, {
          ...READ,
          key: "b",
          perform: () => Promise.reject(new Error("s3cr3t/value is wrong")),
        });
        return [given ?? null, await failed.then(() => "", ({ message }) => String(message))];
      };
      for (const life of [await place.life(work), await place.life(work)]) {
        assert.deepEqual(life.value, [{ text: "[secret KEY]" }, "[secret KEY] is wrong"]);
        assert.ok(!JSON.stringify(life.events).includes("s3cr3t"));
      }
    }, { secrets });
  });
}
