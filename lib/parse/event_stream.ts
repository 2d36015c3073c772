import { createParser } from "eventsource-parser";

/** 16 MiB. */
const MAX_EVENT_LENGTH = 16 * 1024 * 1024;

/**
 * The data of each server-sent event (conversations.md 2.9), as soon as the event is whole; an unfinished last one is dropped.
 *
 * @param options.maxEventLength of one event, in UTF-16 units. Default 16 MiB
 * @throws {Error} when an event is longer, and what the chunks throw
 */
export async function* eventStream(
  chunks: AsyncIterable<Uint8Array>,
  { maxEventLength = MAX_EVENT_LENGTH }: { readonly maxEventLength?: number } = {},
): AsyncGenerator<string> {
  const events: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => isTooLong ||= type === "max-buffer-size-exceeded",
  });
  // Deno takes a byte order mark off every chunk that begins with one; the parser takes only that of the stream.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
    if (isTooLong) {
      throw new Error(`an event is longer than ${maxEventLength.toLocaleString("en")} characters`);
    }
  }
}
