import { Channel, eachUntilAborted, linkedSignal } from "../core/core.ts";
import { createScheduler } from "./scheduler.ts";
import type { NodeOutcome, ScheduleNode, ScheduleOptions } from "./scheduler.ts";

/**
 * Runs nodes as a graph while more of them arrive, and tells how each ended, in the order in which they end (calls.md 5).
 *
 * A node starts the moment its last dependency has succeeded. A dependency may come later in the source; what is still missing
 * when the source ends, and what waits for itself, is skipped. Every node gets exactly one outcome, abort included. Leaving the
 * loop early aborts what runs.
 *
 * @throws {TypeError} from the iteration, for an id that came twice; and whatever the source throws, after all outcomes.
 *
 * ```ts
 * import { schedule } from "orrery";
 *
 * const nodes = [
 *   { id: "sum", dependencies: ["a", "b"], run: () => "both are there" },
 *   { id: "a", run: () => "a" },
 *   { id: "b", run: () => Promise.resolve("b") },
 * ];
 * for await (const outcome of schedule(nodes)) console.log(outcome.id, outcome.status);
 * // => a result
 * // => b result
 * // => sum result
 * ```
 */
export function schedule<Result>(
  nodes: Iterable<ScheduleNode<Result>> | AsyncIterable<ScheduleNode<Result>>,
  options: ScheduleOptions = {},
): AsyncIterable<NodeOutcome<Result>> {
  return { [Symbol.asyncIterator]: () => start(nodes, options) };
}

/** The source is read no further while so many outcomes wait for their reader. */
const MAX_WAITING_OUTCOMES = 10_000;

function start<Result>(
  nodes: Iterable<ScheduleNode<Result>> | AsyncIterable<ScheduleNode<Result>>,
  options: ScheduleOptions,
): AsyncIterator<NodeOutcome<Result>> {
  const left = new AbortController();
  const outcomes = new Channel<NodeOutcome<Result>>({ onReturn: () => left.abort() });
  const linked = linkedSignal([options.signal, left.signal]);
  const { signal } = linked;
  const scheduler = createScheduler<Result>({ onOutcome: (outcome) => outcomes.push(outcome) }, {
    ...options,
    signal,
  });
  const finish = async (): Promise<void> => {
    scheduler.close();
    await scheduler.done;
    linked[Symbol.dispose]();
  };
  const take = (node: ScheduleNode<Result>): undefined | Promise<void> => {
    scheduler.add(node);
    return outcomes.room(MAX_WAITING_OUTCOMES);
  };
  eachUntilAborted(nodes, take, signal).then(
    () => finish().then(() => outcomes.end()),
    (error) => finish().then(() => outcomes.fail(error)),
  );
  return outcomes;
}
