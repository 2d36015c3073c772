import assert from "node:assert/strict";
import graphCases from "./spec/calls/graph.json" with { type: "json" };
import {
  type AnyGadget,
  type Clock,
  createCatalog,
  type GadgetContext,
  runCalls,
  type RunEvent,
  virtualClock,
} from "../mod.ts";

interface GadgetSpec {
  readonly takes?: number;
  readonly throws?: string;
  readonly returns?: unknown;
  readonly maxConcurrent?: number;
  readonly exclusive?: boolean;
  readonly timeoutMs?: number;
  readonly input?: Record<string, unknown>;
}

interface GraphCase {
  readonly name: string;
  readonly script: string | readonly { readonly at: number; readonly text: string }[];
  readonly gadgets: Readonly<Record<string, GadgetSpec>>;
  readonly limit?: number;
  readonly abortAt?: number;
  readonly expect: {
    readonly starts: Readonly<Record<string, readonly [number, number]>>;
    readonly outcome: Readonly<Record<string, "result" | "error" | "skip">>;
    readonly reason?: Readonly<Record<string, string | readonly string[]>>;
    readonly order?: readonly string[];
    readonly totalMs: readonly [number, number];
    readonly maxRunning: number;
    readonly inputs?: Readonly<Record<string, unknown>>;
  };
}

/** What the gadgets of a case saw. */
class Watch {
  readonly starts = new Map<string, number>();
  readonly inputs = new Map<string, unknown>();
  running = 0;
  maxRunning = 0;
}

function gadgetOf(
  name: string,
  spec: GadgetSpec,
  { clock, watch }: { clock: Clock; watch: Watch },
): AnyGadget {
  const { takes = 0, throws, returns = "ok", ...rest } = spec;
  return {
    name,
    ...rest,
    async run(input: unknown, context: GadgetContext) {
      watch.starts.set(context.invocationId, clock.now());
      watch.inputs.set(context.invocationId, input);
      watch.maxRunning = Math.max(watch.maxRunning, ++watch.running);
      context.signal.addEventListener("abort", () => watch.running--, { once: true });
      await clock.sleep(takes, context.signal);
      watch.running--;
      if (throws !== undefined) throw new Error(throws);
      return returns;
    },
  };
}

async function* play(script: GraphCase["script"], clock: Clock): AsyncGenerator<string> {
  for (const { at, text } of typeof script === "string" ? [{ at: 0, text: script }] : script) {
    if (at > clock.now()) await clock.sleep(at - clock.now());
    yield text;
  }
}

async function runCase(one: GraphCase): Promise<{ events: RunEvent[]; watch: Watch; totalMs: number }> {
  const clock = virtualClock();
  const watch = new Watch();
  const catalog = createCatalog(
    Object.entries(one.gadgets).map(([name, spec]) => gadgetOf(name, spec, { clock, watch })),
  );
  const abort = new AbortController();
  if (one.abortAt !== undefined) clock.sleep(one.abortAt).then(() => abort.abort());
  const events: RunEvent[] = [];
  let totalMs = 0;
  await clock.run((async () => {
    const limits = one.limit === undefined ? {} : { concurrency: one.limit };
    for await (
      const event of runCalls(play(one.script, clock), { catalog, clock, limits, signal: abort.signal })
    ) events.push(event);
    totalMs = clock.now();
  })());
  return { events, watch, totalMs };
}

const isOutcome = (
  event: RunEvent,
): event is RunEvent & { readonly type: "call-result" | "call-error" | "call-skip" } =>
  event.type === "call-result" || event.type === "call-error" || event.type === "call-skip";

/** `id`, or `id@line` for the second call of an id. */
function keysOf(events: readonly RunEvent[]): Map<RunEvent, string> {
  const firstLine = new Map<string, number>();
  for (const event of events) {
    if (event.type === "call-open" && !firstLine.has(event.invocationId)) {
      firstLine.set(event.invocationId, event.line);
    }
  }
  return new Map(
    events.filter(isOutcome).map((event) => {
      const isFirst = firstLine.get(event.invocationId) === event.line;
      return [event, isFirst ? event.invocationId : `${event.invocationId}@${event.line}`];
    }),
  );
}

const textOf = (event: RunEvent): string =>
  event.type === "call-error" ? event.error : event.type === "call-skip" ? event.reason : "";

const cases: readonly GraphCase[] = JSON.parse(JSON.stringify(graphCases));

Deno.test("calls: every case of graph.json, exact in virtual time", async () => {
  for (const one of cases) {
    const { events, watch, totalMs } = await runCase(one);
    const { expect, name } = one;
    const keys = keysOf(events);
    const outcomes = events.filter(isOutcome);
    const starts = Object.fromEntries(Object.entries(expect.starts).map(([id, [at]]) => [id, at]));
    assert.deepEqual(Object.fromEntries(watch.starts), starts, `${name}: starts`);
    assert.equal(outcomes.length, Object.keys(expect.outcome).length, `${name}: one outcome a call`);
    assert.deepEqual(
      Object.fromEntries(outcomes.map((event) => [keys.get(event), event.type.slice(5)])),
      expect.outcome,
      name,
    );
    for (const event of outcomes) {
      for (const part of [expect.reason?.[keys.get(event) ?? ""] ?? []].flat()) {
        assert.ok(textOf(event).includes(part), `${name}: "${textOf(event)}" lacks "${part}"`);
      }
    }
    if (expect.order !== undefined) {
      const order = outcomes.filter((event) => event.type !== "call-skip").map((event) => keys.get(event));
      assert.deepEqual(order, expect.order, `${name}: order`);
    }
    assert.equal(totalMs, expect.totalMs[0], `${name}: total`);
    assert.equal(watch.maxRunning, expect.maxRunning, `${name}: at once`);
    for (const [id, input] of Object.entries(expect.inputs ?? {})) {
      assert.deepEqual(watch.inputs.get(id), input, `${name}: input of ${id}`);
    }
    assert.deepEqual(events.map((event) => event.seq), events.map((_, i) => i + 1), name);
    assert.equal(events.at(-1)?.type, "run-end", name);
  }
});
