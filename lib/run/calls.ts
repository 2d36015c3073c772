import type { Catalog } from "../core/catalog.ts";
import { Channel } from "../core/channel.ts";
import { systemClock } from "../core/clock.ts";
import type { Clock } from "../core/clock.ts";
import type { RunEvent, RunEventBody, RunStatus } from "../core/event.ts";
import type { AnyGadget, GadgetContext } from "../core/gadget.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { eachUntilAborted } from "../core/until_aborted.ts";
import { whenAborted } from "../core/when_aborted.ts";
import { CallParser, treeOf } from "../parse/call_parser.ts";
import type { CallBlock, CallEvent } from "../parse/call_parser.ts";
import { completeMarkers } from "../parse/markers.ts";
import type { Markers } from "../parse/markers.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import type { NodeContext, NodeOutcome } from "../schedule/scheduler.ts";
import { CallError, callFailure } from "./call_error.ts";
import { RESULT_BYTES } from "./call_value.ts";
import { findGadget } from "./find_gadget.ts";
import { ownCopy } from "./placeholders.ts";
import { runGadget } from "./run_gadget.ts";

/** How to run calls. */
export interface RunCallsOptions {
  readonly catalog: Catalog;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** What is not given is the default of the format. */
  readonly markers?: Partial<Markers>;
  readonly limits?: {
    /** How many calls may run at once. Default 16. */
    readonly concurrency?: number;
    /** For gadgets that say nothing else. Default 60,000. */
    readonly timeoutMs?: number;
    /** Of UTF-8 a result may take before it is cut. Default 1,048,576. */
    readonly resultBytes?: number;
  };
  /** Aborts the running calls and skips the rest. */
  readonly signal?: AbortSignal;
  /** Where the text is from, for `run-start`. */
  readonly file?: string;
}

/**
 * Parses call blocks from a stream, runs them as a graph while the stream goes on, and tells what happens (calls.md 5, events.md).
 *
 * The last event is `run-end`: `done` when every call gave a result, else `failed`, or `stopped` after an abort; its `value` is the result
 * of the calls that no other call depends on (one: itself; several: an object by id). A source that throws ends the run as
 * `failed` after the calls it had completed. Leaving the loop early aborts the run.
 *
 * @throws {TypeError} at once, when the markers cannot be told apart.
 *
 * ```ts
 * import { createCatalog, runCalls } from "orrery";
 *
 * const catalog = createCatalog([{ name: "Hello", description: "Greets.", run: () => "hello" }]);
 * for await (const event of runCalls(["!!!GADGET_START:Hello\n"], { catalog })) {
 *   if (event.type === "run-end") console.log(event.status, event.value); // => done hello
 * }
 * ```
 */
export function runCalls(
  chunks: Iterable<string> | AsyncIterable<string>,
  options: RunCallsOptions,
): AsyncIterable<RunEvent> {
  completeMarkers(options.markers);
  return { [Symbol.asyncIterator]: () => new CallRun(new CallParser(options), options).start(chunks) };
}

/** The source is read no further while so many events wait for their reader. */
const MAX_WAITING_EVENTS = 10_000;

/** A run of one text. The parser feeds the scheduler; both tell the channel. */
class CallRun {
  readonly #parser: CallParser;
  readonly #options: RunCallsOptions;
  readonly #clock: Clock;
  readonly #id = crypto.randomUUID();
  readonly #left = new AbortController();
  readonly #signal: AbortSignal;
  /** Settles at the abort: a module that never comes does not hold it up. */
  readonly #aborted: Promise<CallError>;
  readonly #events: Channel<RunEvent>;
  readonly #scheduler: Scheduler<Json>;
  /** By id, in written order; the second call of an id is not among them. */
  readonly #calls = new Map<string, CallBlock>();
  readonly #dependedOn = new Set<string>();
  readonly #results = new Map<string, Json>();
  /** What a gadget tells after its outcome is not heard. */
  readonly #ended = new Set<string>();
  #startedAt = 0;
  #seq = 0;
  #failures = 0;
  /** The call whose block is being read. */
  #openCall: { readonly invocationId: string; readonly line: number } | undefined;

  constructor(parser: CallParser, options: RunCallsOptions) {
    this.#parser = parser;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#events = new Channel({ onReturn: () => this.#left.abort() });
    this.#signal = options.signal === undefined
      ? this.#left.signal
      : AbortSignal.any([options.signal, this.#left.signal]);
    this.#aborted = whenAborted(this.#signal).then(() => new CallError("The run was aborted", "abort"));
    this.#scheduler = new Scheduler<Json>({ onOutcome: (outcome) => this.#onOutcome(outcome) }, {
      ...options.limits,
      clock: this.#clock,
      signal: this.#signal,
    });
  }

  start(chunks: Iterable<string> | AsyncIterable<string>): AsyncIterator<RunEvent> {
    this.#startedAt = this.#clock.now();
    const { file } = this.#options;
    this.#emit({ type: "run-start", kind: "calls", ...(file === undefined ? {} : { file }) });
    this.#read(chunks).then(
      () => this.#finish(undefined),
      (error) => this.#finish(messageOf(error)),
    ).catch((error) => this.#events.fail(error));
    return this.#events;
  }

  async #read(chunks: Iterable<string> | AsyncIterable<string>): Promise<void> {
    await eachUntilAborted(chunks, (chunk) => this.#takeAll(this.#parser.push(chunk)), this.#signal);
    if (!this.#signal.aborted) await this.#takeAll(this.#parser.end());
  }

  /** Waits only where a gadget's module has to be loaded: the calls behind it keep their order. */
  #takeAll(events: readonly CallEvent[], from = 0): void | Promise<void> {
    for (let i = from; i < events.length; i++) {
      const event = events[i];
      if (event?.type === "text-delta") this.#emit({ type: "text-delta", step: "source", text: event.text });
      else if (event?.type === "call-start") this.#open(event);
      else if (event?.type === "call-end") {
        const loading = this.#takeCall(event.call);
        if (loading !== undefined) return loading.then(() => this.#takeAll(events, i + 1));
      }
    }
    return this.#events.room(MAX_WAITING_EVENTS);
  }

  #open(event: CallEvent & { readonly type: "call-start" }): void {
    const { invocationId, gadgetName, dependencies, line } = event;
    this.#openCall = { invocationId, line };
    this.#emit({ type: "call-open", invocationId, gadgetName, dependencies, line });
  }

  #takeCall(call: CallBlock): undefined | Promise<void> {
    const { invocationId, dependencies, parseError, line } = call;
    this.#openCall = undefined;
    if (this.#calls.has(invocationId)) {
      this.#failures++;
      this.#emit({
        type: "call-error",
        invocationId,
        line,
        error: parseError ?? `Duplicate invocation id "${invocationId}"`,
        code: "parse",
      });
      return undefined;
    }
    this.#calls.set(invocationId, call);
    for (const id of dependencies) this.#dependedOn.add(id);
    if (parseError !== undefined) {
      return void this.#scheduler.addFailed(invocationId, new CallError(parseError, "parse"));
    }
    const found = findGadget(this.#options.catalog, call.gadgetName);
    return found instanceof Promise
      ? Promise.race([found, this.#aborted]).then((gadget) => this.#add(call, gadget))
      : void this.#add(call, found);
  }

  #add(call: CallBlock, gadget: AnyGadget | CallError): void {
    const { invocationId, dependencies } = call;
    if (gadget instanceof CallError) return this.#scheduler.addFailed(invocationId, gadget);
    const { maxConcurrent, exclusive, timeoutMs } = gadget;
    this.#scheduler.add({
      id: invocationId,
      dependencies,
      run: (node) => this.#run(call, gadget, node),
      ...(maxConcurrent === undefined ? {} : { group: { key: gadget.name, limit: maxConcurrent } }),
      ...(exclusive === undefined ? {} : { exclusive }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  #run(call: CallBlock, gadget: AnyGadget, node: NodeContext<Json>): Json | Promise<Json> {
    const { invocationId, line } = call;
    return runGadget({
      gadget,
      tree: treeOf(call, this.#options),
      resultOf: (id) => node.dependency(id),
      maxBytes: this.#options.limits?.resultBytes ?? RESULT_BYTES,
      onStart: () => this.#emit({ type: "call-run", invocationId, line }),
      context: (parameters) => this.#contextOf(call, node, parameters),
    });
  }

  #contextOf(
    call: CallBlock,
    node: NodeContext<Json>,
    parameters: Readonly<Record<string, unknown>>,
  ): GadgetContext {
    const { invocationId, gadgetName, line } = call;
    const tell = (body: RunEventBody): void => {
      if (!this.#ended.has(invocationId)) this.#emit(body);
    };
    return {
      get signal() {
        return node.signal;
      },
      invocationId,
      get dependencies() {
        return Object.fromEntries(call.dependencies.map((id) => [id, ownCopy(node.dependency(id) ?? null)]));
      },
      call: { gadgetName, invocationId, parameters },
      log: (text) => tell({ type: "call-log", invocationId, line, text: String(text) }),
      progress: (done, total) => {
        if (!Number.isFinite(done) || !(total === undefined || Number.isFinite(total))) {
          throw new TypeError(
            `progress(done, total?) takes finite numbers; found ${String(done)}, ${String(total)}`,
          );
        }
        tell({ type: "call-progress", invocationId, line, done, ...(total === undefined ? {} : { total }) });
      },
    };
  }

  #onOutcome(outcome: NodeOutcome<Json>): void {
    const { id: invocationId } = outcome;
    this.#ended.add(invocationId);
    const line = this.#calls.get(invocationId)?.line ?? 0;
    if (outcome.status === "result") {
      this.#results.set(invocationId, outcome.result);
      return this.#emit({ type: "call-result", invocationId, line, result: outcome.result });
    }
    this.#failures++;
    if (outcome.status === "skip") {
      return this.#emit({ type: "call-skip", invocationId, line, reason: outcome.reason });
    }
    this.#emit({ type: "call-error", invocationId, line, ...callFailure(outcome.error, outcome.cause) });
  }

  async #finish(sourceError: string | undefined): Promise<void> {
    if (sourceError !== undefined && this.#openCall !== undefined) {
      this.#failures++;
      this.#emit({
        type: "call-error",
        ...this.#openCall,
        error: `The text broke off inside this block: ${sourceError}`,
        code: "parse",
      });
    }
    this.#scheduler.close();
    await this.#scheduler.done;
    const stopped = this.#signal.aborted;
    const status: RunStatus = stopped
      ? "stopped"
      : sourceError !== undefined || this.#failures > 0
      ? "failed"
      : "done";
    const value = this.#value();
    this.#emit({
      type: "run-end",
      status,
      ...(value === undefined ? {} : { value }),
      ...(sourceError === undefined ? {} : { error: sourceError }),
      ...(stopped ? { reason: "interrupted" } : {}),
      usage: { input: 0, output: 0 },
    });
    this.#events.end();
  }

  #value(): Json | undefined {
    const last = [...this.#calls.keys()].filter((id) => !this.#dependedOn.has(id) && this.#results.has(id));
    const entries = last.map((id): [string, Json] => [id, this.#results.get(id) ?? null]);
    return entries.length === 1
      ? entries[0]?.[1]
      : entries.length === 0
      ? undefined
      : Object.fromEntries(entries);
  }

  #emit(body: RunEventBody): void {
    const at = Math.round((this.#clock.now() - this.#startedAt) * 1000) / 1000;
    this.#events.push({ ...body, seq: ++this.#seq, at, run: this.#id });
  }
}
