// Server-sent events (conversations.md 2.9): only their data counts. A line may end in the middle of a chunk, CRLF between two of them,
// and a character within one; each piece of the text is looked at once, however it is cut.

/** 16 MiB. */
const MAX_EVENT_LENGTH = 16 * 1024 * 1024;

/**
 * The data of each event, as soon as the event is whole; an unfinished last one is dropped.
 *
 * @param options.maxEventLength of one event, in UTF-16 units. Default 16 MiB
 * @throws {Error} when an event is longer, and what the chunks throw
 */
export async function* eventStream(
  chunks: AsyncIterable<Uint8Array>,
  { maxEventLength = MAX_EVENT_LENGTH }: { readonly maxEventLength?: number } = {},
): AsyncGenerator<string> {
  const lines = new LineReader();
  const event = new EventReader();
  for await (const text of texts(chunks)) {
    for (const line of lines.push(text)) {
      const data = event.push(line);
      if (data !== undefined) yield data;
    }
    if (event.length + lines.length > maxEventLength) {
      throw new Error(`an event is longer than ${maxEventLength.toLocaleString("en")} characters`);
    }
  }
}

/** Without the byte order mark at the start: Deno takes one off every chunk that begins with it. */
async function* texts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let isStart = true;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    yield isStart && text.startsWith("\ufeff") ? text.slice(1) : text;
    isStart = false;
  }
}

/** Lines that end with LF, CR or CRLF. */
class LineReader {
  /** What has come of the line that is not whole. */
  #open = "";
  /** The last line ended with a CR, whose LF may still come. */
  #isAfterCr = false;

  get length(): number {
    return this.#open.length;
  }

  *push(text: string): Generator<string> {
    if (text === "") return;
    let start = this.#isAfterCr && text.startsWith("\n") ? 1 : 0;
    this.#isAfterCr = text.endsWith("\r");
    const ends = /\r\n?|\n/g;
    ends.lastIndex = start;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      const line = this.#open + text.slice(start, end.index);
      this.#open = "";
      start = ends.lastIndex;
      yield line;
    }
    this.#open += text.slice(start);
  }
}

/** The lines of one event after another. */
class EventReader {
  #data: string[] = [];
  /** Of the data so far. */
  length = 0;

  /** The data of the event that the line ends. */
  push(line: string): string | undefined {
    if (line === "") return this.#ended();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name !== "data") return undefined;
    const value = colon < 0 ? "" : line.slice(colon + (line.startsWith(" ", colon + 1) ? 2 : 1));
    this.#data.push(value);
    this.length += value.length + 1;
    return undefined;
  }

  #ended(): string | undefined {
    const data = this.#data;
    this.#data = [];
    this.length = 0;
    return data.length === 0 ? undefined : data.join("\n");
  }
}
