// A provider sends its text in thousands of tiny events, and the SDK takes microseconds for each. Those that arrived together are made one
// before the SDK sees them: nothing waits for what has not come yet, and the text is the same.
import { isRecord } from "../../core/core.ts";

/** A text delta in one of the formats: what it adds, and what has to be equal for two to be one. */
interface TextDelta {
  readonly text: string;
  readonly place: string;
  /** The same event with another text. */
  with(text: string): unknown;
}

const MIN_EVENTS = 3;
const NEWLINE = 0x0a;

/** A body of server-sent events, chunk by chunk, with neighbouring text deltas put together. */
export class MergedDeltas {
  /** Not every chunk goes through it: the first that does may begin with a U+FEFF that is text. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #encoder = new TextEncoder();
  readonly #whole = new WholeEvents();
  #isBetweenEvents = true;

  /** The whole events so far that were not given yet; undefined when there is none. */
  push(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
    const endsEvent = chunk.at(-1) === NEWLINE && chunk.at(-2) === NEWLINE;
    const isAlone = this.#isBetweenEvents && endsEvent;
    this.#isBetweenEvents = endsEvent;
    if (isAlone && eventsIn(chunk) < MIN_EVENTS) return chunk;
    const text = this.#whole.take(this.#decoder.decode(chunk, { stream: true }));
    return text === "" ? undefined : this.#encoder.encode(merged(text));
  }

  /** What was held back. */
  end(): Uint8Array<ArrayBuffer> | undefined {
    const last = this.#whole.rest() + this.#decoder.decode();
    return last === "" ? undefined : this.#encoder.encode(last);
  }
}

/** How many empty lines end in it, up to the number that counts. */
function eventsIn(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0 && count < MIN_EVENTS; at = chunk.indexOf(NEWLINE, at + 1)) {
    if (chunk[at + 1] === NEWLINE) count++;
  }
  return count;
}

/** Holds back the beginning of an event that is not whole yet: nobody could do anything with it. */
class WholeEvents {
  #pieces: string[] = [];
  #endsWithNewline = false;

  /** All whole events so far; with line ends of another kind everything, as it comes. */
  take(text: string): string {
    if (text.includes("\r")) return this.rest() + text;
    const end = this.#boundary(text);
    if (text !== "") this.#endsWithNewline = text.endsWith("\n");
    if (end === 0) {
      this.#pieces.push(text);
      return "";
    }
    const events = this.rest() + text.slice(0, end);
    if (end < text.length) this.#pieces.push(text.slice(end));
    return events;
  }

  /** Behind the last empty line; 0 when there is none. It may have begun in the piece before. */
  #boundary(text: string): number {
    const at = text.lastIndexOf("\n\n");
    if (at >= 0) return at + 2;
    return this.#endsWithNewline && text.startsWith("\n") ? 1 : 0;
  }

  rest(): string {
    const rest = this.#pieces.join("");
    this.#pieces = [];
    return rest;
  }
}

/** Whole events, each with its empty line. */
function merged(text: string): string {
  const events = text.split("\n\n");
  events.pop();
  if (events.length < MIN_EVENTS || text.includes("\r")) return text;
  const out: string[] = [];
  let open: { readonly head: string; delta: TextDelta; texts: string[]; readonly first: string } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    out.push(
      open.texts.length === 1
        ? open.first
        : `${open.head}${JSON.stringify(open.delta.with(open.texts.join("")))}`,
    );
    open = undefined;
  };
  for (const event of events) {
    const read = deltaOf(event);
    if (read === undefined) {
      close();
      out.push(event);
    } else if (open !== undefined && open.head === read.head && open.delta.place === read.delta.place) {
      open.delta = read.delta; // the newest has the newest counts
      open.texts.push(read.delta.text);
    } else {
      close();
      open = { ...read, texts: [read.delta.text], first: event };
    }
  }
  close();
  return `${out.join("\n\n")}\n\n`;
}

const DATA = "data: ";

/** An event of one `data:` line, perhaps behind its `event:` line. */
function deltaOf(event: string): { readonly head: string; readonly delta: TextDelta } | undefined {
  const at = event.startsWith(DATA) ? 0 : event.startsWith("event:") ? event.indexOf("\n") + 1 : -1;
  if (at < 0 || !event.startsWith(DATA, at) || event.includes("\n", at)) return undefined;
  const start = at + DATA.length;
  if (event[start] !== "{") return undefined;
  try {
    const delta = textDelta(JSON.parse(event.slice(start)));
    return delta === undefined ? undefined : { head: event.slice(0, start), delta };
  } catch {
    return undefined; // the SDK says what is wrong with it
  }
}

type Data = Readonly<Record<string, unknown>>;

function textDelta(data: Data): TextDelta | undefined {
  if (Array.isArray(data.choices)) return chatDelta(data, data.choices);
  if (Array.isArray(data.candidates)) return googleDelta(data, data.candidates);
  if (data.type === "response.output_text.delta") return responsesDelta(data);
  return data.type === "content_block_delta" ? anthropicDelta(data) : undefined;
}

function chatDelta(data: Data, choices: readonly unknown[]): TextDelta | undefined {
  const [choice] = choices;
  if (choices.length !== 1 || !isRecord(choice) || !isRecord(choice.delta) || has(data.usage)) {
    return undefined;
  }
  const { content } = choice.delta;
  const isText = typeof content === "string" && Object.keys(choice.delta).length === 1;
  if (!isText || has(choice.finish_reason) || has(choice.logprobs)) return undefined;
  return {
    text: content,
    place: `${data.id} ${data.model} ${choice.index}`,
    with: (text) => ({ ...data, choices: [{ ...choice, delta: { content: text } }] }),
  };
}

function responsesDelta(data: Data): TextDelta | undefined {
  const { delta, item_id: item, output_index: output, content_index: content, logprobs } = data;
  if (typeof delta !== "string" || (Array.isArray(logprobs) && logprobs.length > 0)) return undefined;
  return { text: delta, place: `${item} ${output} ${content}`, with: (text) => ({ ...data, delta: text }) };
}

function anthropicDelta(data: Data): TextDelta | undefined {
  const { delta } = data;
  if (!isRecord(delta) || delta.type !== "text_delta" || typeof delta.text !== "string") return undefined;
  return {
    text: delta.text,
    place: String(data.index),
    with: (text) => ({ ...data, delta: { ...delta, text } }),
  };
}

function googleDelta(data: Data, candidates: readonly unknown[]): TextDelta | undefined {
  const [candidate] = candidates;
  if (candidates.length !== 1 || !isRecord(candidate) || has(candidate.finishReason)) return undefined;
  const { content } = candidate;
  if (!isRecord(content) || !Array.isArray(content.parts) || content.parts.length !== 1) return undefined;
  const part: unknown = content.parts[0];
  if (!isRecord(part) || typeof part.text !== "string" || Object.keys(part).length !== 1) return undefined;
  return {
    text: part.text,
    place: `${candidate.index} ${Object.keys(candidate).join()} ${Object.keys(data).join()}`,
    with: (text) => ({ ...data, candidates: [{ ...candidate, content: { ...content, parts: [{ text }] } }] }),
  };
}

function has(value: unknown): boolean {
  return value !== undefined && value !== null;
}
