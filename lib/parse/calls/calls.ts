// The parser is a machine of lines, and an image of the grammar (calls.md 1 to 3):
//
//   text   = { line } ;
//   line   = start | arg | end | plain ;
//   start  = START_PREFIX , header , newline ;      opens a block
//   arg    = ARG_PREFIX , pointer , newline ;       opens a parameter of the block
//   end    = END_PREFIX , { blank } , newline ;     closes the block
//   plain  = all else: text, or a part of the value of the parameter
//
// A block is a start, then { arg , { plain } }, and is ended by an end, the next start or the end of the text.
import { isRecord, parseJson } from "../../core/core.ts";
import { isBlank, untypedValue } from "../../schema/text_value.ts";
import { completeMarkers, type Markers, readCallHeader } from "./header.ts";
import { type ArgumentPointer, ParameterTree, readArgumentPointer } from "./parameter_tree.ts";

/** A call as it stands in the text (calls.md 4). */
export interface CallBlock {
  readonly gadgetName: string;
  /** As written, or `Name#1`, `Name#2` and so on when the header has none. */
  readonly invocationId: string;
  readonly dependencies: readonly string[];
  /** Values as they are read without a schema; a call with a `parseError` keeps what could be read. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The body exactly as written, between the header line and the closing marker line. */
  readonly parametersRaw: string;
  /** All errors, one a line. A call with a parseError never runs. */
  readonly parseError?: string;
  /** The line of the header, from 1. */
  readonly line: number;
}

/** What the parser tells while it reads (calls.md 4). */
export type CallEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | {
    readonly type: "call-start";
    readonly invocationId: string;
    readonly gadgetName: string;
    readonly dependencies: readonly string[];
    readonly line: number;
  }
  | {
    readonly type: "argument-delta";
    readonly invocationId: string;
    /** As it is written, also one that cannot be read. */
    readonly pointer: string;
    readonly delta: string;
  }
  | { readonly type: "call-end"; readonly call: CallBlock };

/** How to read call blocks. */
export interface CallParserOptions {
  /** What is not given is the default of the format. */
  readonly markers?: Partial<Markers>;
  /** What the text of an argument becomes; by default the value it has without a schema. */
  readonly leaf?: (text: string) => unknown;
}

/** What a line is. An escaped one is plain but for its first `\`; of an open one more has to be read before it is known. */
type LineKind = "start" | "arg" | "end" | "plain" | "escaped" | "open";

const ANYTHING = /[^]/;

/**
 * Reads call blocks from text in chunks of any size (calls.md 1 to 4); no input makes it throw.
 *
 * @throws {TypeError} when the markers cannot be told apart, or on use after `end`.
 *
 * ```ts
 * import { CallParser } from "orrery";
 *
 * const parser = new CallParser();
 * const events = [...parser.push("Hi.\n!!!GADGET_START:No"), ...parser.push("w\n!!!GADGET_END\n"), ...parser.end()];
 * console.log(events.map((event) => event.type).join(" ")); // => text-delta call-start call-end
 * ```
 */
export class CallParser {
  readonly #markers: Markers;
  /** What a line that is not plain begins with: a look at its first character tells most lines. */
  readonly #beginnings: readonly number[];
  readonly #leaf: (text: string) => unknown;
  /** The ids of the text, with the lines they were first used on. */
  readonly #ids = new Map<string, number>();
  #generated = 0;
  /** A text names the same few parameters again and again, and to read their names costs more than all else. */
  readonly #pointers = new Map<string, ArgumentPointer>();
  #events: CallEvent[] = [];
  #call: OpenCall | undefined;
  /** The number of the line that is read, from 1. */
  #line = 1;
  /** Whether a part of that line is told already, so that the rest of it is plain. */
  #isInLine = false;
  /** The beginning of an open line, and what has to come before it can be known what it is. */
  #held = "";
  #decides = ANYTHING;
  #isEnded = false;

  constructor(options: CallParserOptions = {}) {
    this.#markers = completeMarkers(options.markers);
    this.#beginnings = [
      ...new Set(["\\", ...Object.values(this.#markers)].map((text) => text.charCodeAt(0))),
    ];
    this.#leaf = options.leaf ?? untypedValue;
  }

  /** Reads a chunk; gives what it makes known. */
  push(chunk: string): CallEvent[] {
    if (this.#isEnded) throw new TypeError("CallParser: push after end; make a new parser for a new text");
    this.#events = [];
    if (this.#held === "" || this.#decides.test(chunk)) this.#read(this.#held + chunk);
    else this.#held += chunk; // it is not looked at again and again: a header may be long
    return this.#events;
  }

  /** Ends the text: what is still open is closed. */
  end(): CallEvent[] {
    this.#events = [];
    if (this.#isEnded) return this.#events;
    this.#isEnded = true;
    this.#read(this.#held);
    const rest = this.#call?.endText();
    if (rest !== undefined) this.#events.push(rest);
    this.#closeCall("");
    return this.#events;
  }

  #read(text: string): void {
    this.#held = "";
    let from = 0; // of the plain text that is not told yet
    let body = 0; // of what the call that is open has of this text
    let at = 0;
    while (at < text.length) {
      const newline = text.indexOf("\n", at);
      const isPlain = this.#isInLine || !this.#beginnings.includes(text.charCodeAt(at));
      const kind = isPlain ? "plain" : this.#kindOf(text, at, newline >= 0);
      if (kind === "open") {
        at = this.#openFrom(text, at);
        this.#held = text.slice(at);
        break;
      }
      const next = newline < 0 ? text.length : newline + 1;
      if (kind !== "plain") {
        this.#plain(text.slice(from, at));
        from = kind === "escaped" ? at + 1 : next;
        if (kind === "start" || kind === "end") {
          this.#closeCall(text.slice(body, at));
          body = next;
        }
        if (kind === "start" || kind === "arg") {
          const rest = text.slice(at + this.#markers[kind].length, newline < 0 ? next : newline);
          if (kind === "start") this.#openCall(rest);
          else this.#call?.argument(this.#pointerOf(rest));
        }
      }
      this.#isInLine = newline < 0;
      if (newline >= 0) this.#line++;
      at = next;
    }
    this.#plain(text.slice(from, at));
    if (this.#call !== undefined) this.#call.raw += text.slice(body, at);
    if (this.#held.startsWith(this.#markers.start)) this.#closeCall(""); // whatever the header will be
  }

  #kindOf(text: string, at: number, isWhole: boolean): LineKind {
    const { start, arg, end } = this.#markers;
    const isInside = this.#call !== undefined;
    const marker = isInside ? afterEscapes(text, at) : at;
    const isEscaped = marker > at;
    const isStart = text.startsWith(start, marker);
    if (isStart || isInside && text.startsWith(arg, marker)) {
      if (isEscaped) return "escaped";
      const kind = isStart ? "start" : "arg";
      return isWhole ? kind : this.#openUntil(/\n/, kind);
    }
    if (isInside && text.startsWith(end, marker)) {
      return this.#endOf(isEscaped ? "escaped" : "end", text, marker);
    }
    const isCutOff = isCut(text, marker, start) ||
      isInside && (isCut(text, marker, arg) || isCut(text, marker, end));
    return isCutOff ? this.#openUntil(ANYTHING, "plain") : "plain";
  }

  /** An END marker counts when nothing but blanks follows it on its line. */
  #endOf(kind: LineKind, text: string, at: number): LineKind {
    let after = at + this.#markers.end.length;
    while (after < text.length && isBlank(text.charCodeAt(after))) after++;
    if (after === text.length) return this.#openUntil(/[^ \t\r]/, kind);
    return text[after] === "\n" ? kind : "plain";
  }

  /** An open line stays open until something comes that decides; at the end of the text it is what it seems. */
  #openUntil(decides: RegExp, seems: LineKind): LineKind {
    this.#decides = decides;
    return this.#isEnded ? seems : "open";
  }

  /** Where the open part of a line begins: of several `\` only the last one matters. */
  #openFrom(text: string, at: number): number {
    return this.#call === undefined ? at : Math.max(at, afterEscapes(text, at) - 1);
  }

  #plain(text: string): void {
    if (text === "") return;
    const event = this.#call === undefined ? { type: "text-delta", text } as const : this.#call.text(text);
    if (event !== undefined) this.#events.push(event);
  }

  #pointerOf(text: string): ArgumentPointer {
    const known = this.#pointers.get(text);
    if (known !== undefined) return known;
    const pointer = readArgumentPointer(text);
    this.#pointers.set(text, pointer);
    return pointer;
  }

  #openCall(header: string): void {
    const { gadgetName, invocationId: written, dependencies, error } = readCallHeader(header);
    const line = this.#line;
    const invocationId = written ?? `${gadgetName}#${++this.#generated}`; // no identifier has a "#": it is always new
    const first = this.#ids.get(invocationId);
    if (first === undefined) this.#ids.set(invocationId, line);
    const errors = error === undefined ? [] : [error];
    if (first !== undefined) {
      errors.push(`Duplicate invocation id "${invocationId}" (first used on line ${first})`);
    }
    const start = { type: "call-start", invocationId, gadgetName, dependencies, line } as const;
    this.#call = new OpenCall(start, { errors, leaf: this.#leaf });
    this.#events.push(start);
  }

  /** @param rest the end of its body */
  #closeCall(rest: string): void {
    if (this.#call === undefined) return;
    this.#call.raw += rest;
    this.#events.push({ type: "call-end", call: this.#call.end() });
    this.#call = undefined;
  }
}

/** Whether a text ends within a marker that begins at `at`. */
function isCut(text: string, at: number, marker: string): boolean {
  return text.length - at < marker.length && marker.startsWith(text.slice(at));
}

function afterEscapes(text: string, at: number): number {
  while (text[at] === "\\") at++;
  return at;
}

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
  return eventsOf(source, parser);
}

async function* eventsOf(
  chunks: Iterable<string> | AsyncIterable<string>,
  parser: CallParser,
): AsyncGenerator<CallEvent> {
  for await (const chunk of chunks) yield* parser.push(chunk);
  yield* parser.end();
}

/**
 * The call whose block is being read: `parameters = { parameter } ; parameter = pointer , newline , value` (calls.md 3). One
 * JSON object may stand before the first parameter.
 */
class OpenCall {
  readonly #start: Pick<CallBlock, "gadgetName" | "invocationId" | "dependencies" | "line">;
  readonly #leaf: (text: string) => unknown;
  readonly #errors: string[];
  #tree = new ParameterTree({});
  /** The body as it is written. */
  raw = "";
  /** Of the parameter whose value is being read; none before the first one. */
  #pointer: ArgumentPointer | undefined;
  #value = "";
  /** The line ending behind the value so far. It belongs to the value only if more of that comes. */
  #ending = "";

  /** @param options.leaf what the text of a value becomes; `errors` are those of the header */
  constructor(
    start: Pick<CallBlock, "gadgetName" | "invocationId" | "dependencies" | "line">,
    options: { readonly errors: string[]; readonly leaf: (text: string) => unknown },
  ) {
    this.#start = start;
    this.#leaf = options.leaf;
    this.#errors = options.errors;
  }

  /** Takes an ARG line: the value before it is complete. */
  argument(pointer: ArgumentPointer): void {
    this.#closeValue();
    this.#pointer = pointer;
  }

  /** Takes a part of the value; gives what can be told of it. */
  text(text: string): CallEvent | undefined {
    const value = this.#ending === "" ? text : this.#ending + text;
    const end = value.length - endingOf(value);
    this.#ending = value.slice(end);
    return this.#tell(value.slice(0, end));
  }

  /** Ends the value with the text itself: a CR alone is no line ending. */
  endText(): CallEvent | undefined {
    return this.#ending === "\r" ? this.#tell(this.#ending) : undefined;
  }

  #tell(delta: string): CallEvent | undefined {
    this.#value += delta;
    if (this.#pointer === undefined || delta === "") return undefined;
    const { invocationId } = this.#start;
    return { type: "argument-delta", invocationId, pointer: this.#pointer.text, delta };
  }

  #closeValue(): void {
    const error = this.#pointer === undefined
      ? this.#readJson(this.#value)
      : this.#tree.place(this.#pointer, this.#leaf(this.#value));
    if (error !== undefined) this.#errors.push(error);
    this.#value = this.#ending = "";
  }

  /** Reads the text before the first parameter: one JSON object, bare or in one code fence, or blank. */
  #readJson(text: string): string | undefined {
    const body = text.trim();
    if (body === "") return undefined;
    const value = parsed(withoutFence(body));
    if (value instanceof RangeError) {
      return `Cannot read the JSON object before the first argument: ${value.message}`;
    }
    if (!isRecord(value)) return "Cannot read text before the first argument";
    if (hasProto(value)) { // it may be written with an escape, so the text does not tell
      return `Cannot read the JSON object before the first argument: "__proto__" cannot be a name`;
    }
    this.#tree = new ParameterTree({ ...value });
    return undefined;
  }

  end(): CallBlock {
    this.#closeValue();
    const { gadgetName, invocationId, dependencies, line } = this.#start;
    const parameters = this.#tree.root;
    const call = { gadgetName, invocationId, dependencies, parameters, parametersRaw: this.raw, line };
    return this.#errors.length === 0 ? call : { ...call, parseError: this.#errors.join("\n") };
  }
}

/** The length of the line ending that a text ends with; a CR may become one. */
function endingOf(text: string): number {
  const last = text.at(-1);
  if (last === "\n") return text.at(-2) === "\r" ? 2 : 1;
  return last === "\r" ? 1 : 0;
}

/** A fence is three or more back-ticks, an optional word, and the same back-ticks alone on the last line. */
function withoutFence(body: string): string {
  const fence = /^`{3,}/.exec(body)?.[0];
  const first = body.indexOf("\n");
  const last = body.lastIndexOf("\n");
  if (fence === undefined || last <= first) return body;
  const word = body.slice(fence.length, first).trim();
  const closes = body.slice(last + 1).trim() === fence;
  return closes && !/[\s`]/.test(word) ? body.slice(first + 1, last) : body;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error instanceof RangeError ? error : undefined;
  }
}

/** Whether a value has a key `__proto__` at any depth. */
export function hasProto(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, "__proto__")) return true;
    for (const child of Object.values(next)) open.push(child);
  }
  return false;
}
