import {
  type Catalog,
  eachUntilAborted,
  messageOf,
  type RunEvent,
  SOURCE_END_KEY,
  SOURCE_ERROR_KEY,
} from "../../core/core.ts";
import { completeMarkers, type Markers } from "../../parse/calls/header.ts";
import { type CallEvent, CallParser } from "../../parse/calls/calls.ts";
import { type OddMarker, OddMarkers } from "../../parse/calls/odd_markers.ts";
import { undecided } from "../../schema/text_value.ts";
import { type CallLimits, createCallGraph } from "./graph.ts";
import { Run, type RunOptions } from "../run.ts";

/** How to run calls. */
export interface RunCallsOptions extends RunOptions {
  readonly catalog: Catalog;
  /** What is not given is the default of the format. */
  readonly markers?: Partial<Markers>;
  readonly limits?: CallLimits;
  /** Where the text is from, for `run-start`. */
  readonly file?: string;
  /** The text is from somewhere that cannot be read again, such as a pipe: the journal keeps it. */
  readonly isReadOnce?: boolean;
}

/**
 * Parses call blocks from a text, or from its pieces as they come, runs them as a graph meanwhile, and tells what happens (calls.md 5,
 * events.md).
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
  const pieces = typeof chunks === "string" ? [chunks] : chunks;
  return { [Symbol.asyncIterator]: () => startCalls(pieces, options) };
}

/** The source is read no further while so many events wait for their reader. */
const MAX_WAITING_EVENTS = 10_000;

/** A run of one text. The parser feeds the graph; both tell the run. */
function startCalls(
  chunks: Iterable<string> | AsyncIterable<string>,
  options: RunCallsOptions,
): AsyncIterator<RunEvent> {
  /** The call whose block is being read. */
  let openCall: { readonly invocationId: string; readonly line: number } | undefined;
  const { catalog, limits = {} } = options;
  const run = new Run(options);
  const graph = createCallGraph({ run, catalog, limits });

  async function perform(): Promise<void> {
    let broken: string | undefined;
    try {
      await read();
    } catch (error) {
      broken = messageOf(error);
      run.part(SOURCE_ERROR_KEY, broken);
    }
    await finish(broken);
  }

  async function read(): Promise<void> {
    const parser = new CallParser({ ...options, leaf: undecided });
    const mask = run.secrets?.stream();
    const odd = new OddMarkers(completeMarkers(options.markers));
    const take = (text: string): undefined | Promise<void> => {
      keep(text);
      warn(odd.push(text));
      return takeAll(parser.push(text));
    };
    await eachUntilAborted(
      options.replay?.source ?? chunks,
      (chunk) => take(mask === undefined ? chunk : mask.push(chunk)),
      run.signal,
    );
    if (mask !== undefined && !run.signal.aborted) await take(mask.end());
    warn(odd.all(""));
    const rest = parser.end();
    run.part(SOURCE_END_KEY, null);
    if (!run.signal.aborted) await takeAll(rest);
  }

  function warn(odd: readonly OddMarker[]): void {
    const { file = "stdin" } = options;
    for (const { line, message } of odd) {
      run.emit({ type: "warning", text: message, file, line, column: 1 });
    }
  }

  function keep(text: string): void {
    if (text === "") return;
    const { file = "", isReadOnce = false } = options;
    run.source(text, { path: file, isReadOnce });
  }

  /** Waits only where a gadget's module has to be loaded: the calls behind it keep their order. */
  function takeAll(events: readonly CallEvent[], from = 0): undefined | Promise<void> {
    for (let i = from; i < events.length; i++) {
      const event = events[i];
      if (event?.type === "text-delta") {
        run.emit({ type: "text-delta", step: "source", text: event.text });
      } else if (event?.type === "call-start") {
        openCall = event;
        graph.open(event);
      } else if (event?.type === "call-end") {
        openCall = undefined;
        const loading = graph.add(event.call);
        if (loading !== undefined) return loading.then(() => takeAll(events, i + 1));
      }
    }
    return run.events.room(MAX_WAITING_EVENTS);
  }

  async function finish(sourceError: string | undefined): Promise<void> {
    if (sourceError !== undefined && openCall !== undefined) {
      graph.refuse(openCall, `The text broke off inside this block: ${sourceError}`);
    }
    await graph.close();
    const value = graph.value();
    const stopped = run.signal.aborted;
    const isDone = sourceError === undefined && graph.failures === 0;
    const status = stopped ? "stopped" : isDone ? "done" : "failed";
    const end = value === undefined ? { status } as const : { status, value } as const;
    if (isDone && !stopped) return run.end(end);
    run.end({
      ...end,
      ...(sourceError === undefined ? {} : { error: sourceError }),
      ...(stopped ? { reason: "interrupted" } : {}),
    });
  }

  run.start("calls", options.file);
  perform().catch((error) => run.events.fail(error));
  return run.events;
}
