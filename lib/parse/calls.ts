import { CallParser } from "./call_parser.ts";
import type { CallEvent, CallParserOptions } from "./call_parser.ts";

/**
 * Reads call blocks from a text, or from a stream of chunks of any size (calls.md 1 to 4).
 *
 * The events for a text are the same however it is cut; only how a text or an argument is split into deltas may differ.
 * Leaving the loop early closes the source.
 *
 * @throws {TypeError} at once, when the markers cannot be told apart.
 *
 * ```ts
 * import { parseCalls } from "orrery";
 *
 * for await (const event of parseCalls(["!!!GADGET_START:Add\n!!!ARG:n\n", "42\n!!!GADGET_END\n"])) {
 *   if (event.type === "call-end") console.log(event.call.parameters); // => { n: 42 }
 * }
 * ```
 */
export function parseCalls(
  chunks: Iterable<string> | AsyncIterable<string>,
  options: CallParserOptions = {},
): AsyncIterable<CallEvent> {
  const parser = new CallParser(options);
  const source = typeof chunks === "string" ? [chunks] : chunks; // letter by letter it would cost far more
  return { [Symbol.asyncIterator]: () => eventIterator(source, parser) };
}

// Not an async generator: it would suspend and resume for every event, which costs more than the parsing.
function eventIterator(
  chunks: Iterable<string> | AsyncIterable<string>,
  parser: CallParser,
): AsyncIterator<CallEvent> {
  const source: Iterator<string> | AsyncIterator<string> = Symbol.asyncIterator in chunks
    ? chunks[Symbol.asyncIterator]()
    : chunks[Symbol.iterator]();
  let ready: readonly CallEvent[] = [];
  let next = 0;
  let ended = false;

  function take(result: IteratorResult<string, unknown>): IteratorResult<CallEvent, undefined> | undefined {
    ended = result.done === true;
    ready = result.done === true ? parser.end() : parser.push(result.value);
    next = 0;
    return given();
  }

  function given(): IteratorResult<CallEvent, undefined> | undefined {
    const event = ready[next];
    if (event === undefined) return ended ? { done: true, value: undefined } : undefined;
    next++;
    return { done: false, value: event };
  }

  /** Pulls until there is an event; a source that answers at once is never waited for. */
  function pull(): IteratorResult<CallEvent, undefined> | Promise<IteratorResult<CallEvent, undefined>> {
    while (true) {
      const result = source.next();
      if (result instanceof Promise) return result.then((settled) => take(settled) ?? pull());
      if (!("done" in result || "value" in result)) {
        return Promise.resolve(result).then((settled) => take(settled) ?? pull());
      }
      const event = take(result);
      if (event !== undefined) return event;
    }
  }

  return {
    // deno-fmt-ignore
    async next() { return given() ?? await pull(); },
    async return() {
      ended = true;
      ready = [];
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}
