// The scanner looks at each line start once and leaps over the rest of the line with indexOf, so its cost is that of finding
// line ends. What it cannot decide yet is at most one line ending, one `\` and a part of a marker (`#held`), or an unfinished
// marker line, whose pieces wait until its end is there: no text is ever searched more than twice, whatever the size of the
// chunks. Texts are cut, compared and kept as seldom as can be: that is what is left to pay for.

import { isBlank, untypedValue } from "../schema/text_value.ts";
import { CallBody } from "./call_body.ts";
import { CallHeaders, completeMarkers, UsedIds } from "./call_header.ts";
import type { CallHeader, Markers } from "./call_header.ts";
import { KnownPointers } from "./parameter_tree.ts";
import type { KnownPointer } from "./parameter_tree.ts";

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

type CallStart = CallEvent & { readonly type: "call-start" };

/** What a line that begins like a marker line is. An open one has no end yet that could be seen. */
type Decision =
  | "text"
  | "partial"
  | "escape"
  | "arg"
  | "open-arg"
  | "start"
  | "open-start"
  | "end"
  | "open-end";

const LF = 0x0a;
const CR = 0x0d;
const BACKSLASH = 0x5c;

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
  readonly #endLine: string;
  readonly #startUnit: number;
  readonly #endUnit: number;
  readonly #argUnit: number;
  /** The highest unit that a line begins with that is not plain text. */
  readonly #maxUnit: number;
  readonly #ids = new UsedIds();
  readonly #headers: CallHeaders;
  readonly #pointers: KnownPointers;
  readonly #body: CallBody;
  /** Of the open block. */
  #block: CallStart | undefined;
  #headerError: string | undefined;
  #generated = 0;
  /** Of what was not read yet. */
  #line = 1;
  #atLineStart = true;
  /** What cannot be decided yet: a line ending, a `\` and the start of a marker line, or parts of that. */
  #held = "";
  /** More of it, while it is known what has to come first. */
  readonly #heldPieces: string[] = [];
  #heldAs: Decision = "partial";
  /** What is read of the marker line that was decided last. */
  #lineEnd = 0;
  #nextPointer: KnownPointer | undefined;
  #nextHeader: CallHeader | undefined;
  #ended = false;

  constructor(options: CallParserOptions = {}) {
    const { start, end, arg } = this.#markers = completeMarkers(options.markers);
    this.#endLine = `${end}\n`;
    this.#startUnit = start.charCodeAt(0);
    this.#endUnit = end.charCodeAt(0);
    this.#argUnit = arg.charCodeAt(0);
    this.#maxUnit = Math.max(this.#startUnit, this.#endUnit, this.#argUnit, BACKSLASH);
    this.#headers = new CallHeaders(start);
    this.#pointers = new KnownPointers(arg);
    this.#body = new CallBody(options.leaf ?? untypedValue);
  }

  /** Reads a chunk; gives what it makes known. */
  push(chunk: string): CallEvent[] {
    if (this.#ended) throw new TypeError("CallParser: push after end; make a new parser for a new text");
    if (this.#held !== "") return this.#pushAfterHeld(chunk);
    if (chunk === "") return [];
    if (this.#atLineStart) return this.#scan(chunk, 0);
    const ending = chunk.indexOf("\n");
    if (ending >= 0) return this.#scan(chunk, ending + 1);
    const block = this.#block;
    if (block === undefined) return [{ type: "text-delta", text: chunk }];
    if (chunk.charCodeAt(chunk.length - 1) === CR) return this.#scan(chunk, -1);
    const { pointer } = this.#body;
    this.#body.add(chunk);
    return pointer === undefined ? [] : [argumentDelta(block, pointer, chunk)];
  }

  /** Ends the text: what is still open is closed. */
  end(): CallEvent[] {
    if (this.#ended) return [];
    this.#ended = true;
    const heldAs = this.#heldAs;
    const held = this.#takeHeld();
    const events = heldAs === "partial" ? [] : this.#scanHeld(`${held}\n`); // a marker line needs no line ending here
    const left = heldAs === "partial" ? held : this.#held.slice(0, -1); // the latter: of an escaped END line
    const isEnding = left === "\n" || left === "\r\n";
    if (left !== "" && !isEnding) events.push(...this.#tellHeld(left));
    const block = this.#block;
    if (block === undefined) return events;
    this.#body.closeArgument(this.#body.length, undefined);
    const raw = this.#body.close(isEnding ? left : "");
    this.#closeBlock(block, heldAs === "open-arg" ? raw.slice(0, -1) : raw, events);
    return events;
  }

  #pushAfterHeld(chunk: string): CallEvent[] {
    if (this.#isStillOpen(chunk)) {
      this.#heldPieces.push(chunk);
      return [];
    }
    return this.#scanHeld(this.#takeHeld() + chunk);
  }

  #isStillOpen(chunk: string): boolean {
    if (this.#heldAs === "partial") return chunk === "";
    return this.#heldAs === "open-end" ? skipBlanks(chunk, 0) === chunk.length : !chunk.includes("\n");
  }

  #takeHeld(): string {
    let held = this.#held;
    if (this.#heldPieces.length > 0) held += this.#heldPieces.splice(0).join("");
    this.#held = "";
    return held;
  }

  #tellHeld(held: string): CallEvent[] {
    if (this.#block !== undefined) this.#body.add(held);
    const event = this.#delta(held);
    return event === undefined ? [] : [event];
  }

  #scanHeld(s: string): CallEvent[] {
    if (this.#atLineStart) return this.#scan(s, 0);
    const ending = s.indexOf("\n");
    return this.#scan(s, ending < 0 ? -1 : ending + 1);
  }

  /** Reads `s`, in which the first line begins at `lineStart`, or none does (-1). */
  #scan(s: string, lineStart: number): CallEvent[] {
    const body = this.#body;
    const startUnit = this.#startUnit;
    const endUnit = this.#endUnit;
    const argUnit = this.#argUnit;
    const maxUnit = this.#maxUnit;
    const events: CallEvent[] = [];
    let at = lineStart;
    let line = at > 0 ? this.#line + 1 : this.#line;
    let atLineStart = at >= 0;
    let from = 0; // of what is not told yet
    let bodyFrom = 0; // of what is not added to the body yet
    let offset = body.length; // of `s` in the body
    let isWhole = false; // whether the text of the argument begins at `from`
    let hold = s.length;
    this.#heldAs = "partial";
    while (at >= 0) {
      if (at === s.length) { // asked first: a NaN would make a double of `unit`
        if (this.#block !== undefined) hold = lineEndingBefore(s, from, at);
        break;
      }
      const unit = s.charCodeAt(at);
      if (
        unit <= maxUnit && (unit === startUnit || unit === endUnit || unit === argUnit || unit === BACKSLASH)
      ) {
        const decision = this.#decide(s, at);
        if (decision === "arg" || decision === "end" || decision === "start" || decision === "open-start") {
          const block = this.#block;
          const to = body.pointer === undefined ? at : lineEndingBefore(s, from, at);
          const text = s.slice(from, to);
          const event = this.#delta(text);
          if (event !== undefined) events.push(event);
          if (block !== undefined) {
            body.closeArgument(offset + to, isWhole ? text : undefined);
            if (decision !== "arg") this.#closeBlock(block, body.close(s.slice(bodyFrom, at)), events);
          }
          if (decision === "open-start") {
            hold = from = at;
            this.#heldAs = decision;
            break;
          }
          at = from = this.#lineEnd;
          if (decision === "arg") {
            this.#openArgument(offset + at);
            isWhole = true;
          } else {
            bodyFrom = at;
            offset = -at;
            if (decision === "start") this.#openBlock(line, events);
          }
          line++;
          continue;
        }
        if (decision === "escape") {
          const event = this.#delta(s.slice(from, at));
          if (event !== undefined) events.push(event);
          body.addEscape(offset + at);
          from = at + 1;
          isWhole = false;
        } else if (decision !== "text") {
          hold = this.#holdFrom(s, from, at);
          this.#heldAs = decision;
          break;
        }
      }
      const ending = s.indexOf("\n", at);
      if (ending < 0) {
        atLineStart = false;
        break;
      }
      at = ending + 1;
      line++;
    }
    if (!atLineStart && this.#block !== undefined && hold > from && s.charCodeAt(hold - 1) === CR) hold--;
    if (hold < at) { // a line ending is held, which will be read again
      atLineStart = hold === 0 ? this.#atLineStart : s.charCodeAt(hold - 1) === LF;
      line--;
    }
    this.#atLineStart = atLineStart;
    this.#line = line;
    this.#held = hold === s.length ? "" : s.slice(hold);
    const rest = s.slice(from, hold);
    if (this.#block !== undefined) body.add(from === bodyFrom ? rest : s.slice(bodyFrom, hold));
    const event = this.#delta(rest);
    if (event === undefined) return events;
    if (events.length === 0) return [event]; // a list that grows takes room for many
    events.push(event);
    return events;
  }

  /** What the line at `at` is; the first unit of a marker, or a `\`, is known to be there. */
  #decide(s: string, at: number): Decision {
    if (this.#block === undefined) {
      const header = this.#headers.readKnown(s, at);
      if (header !== undefined) {
        this.#nextHeader = header;
        this.#lineEnd = this.#headers.end + 1;
        return "start";
      }
    } else {
      const { guess } = this.#pointers;
      if (guess !== undefined && standsAt(s, at, guess.line)) {
        this.#nextPointer = guess;
        this.#lineEnd = at + guess.line.length;
        return "arg";
      }
      if (standsAt(s, at, this.#endLine)) {
        this.#lineEnd = at + this.#endLine.length;
        return "end";
      }
    }
    return this.#decideLine(s, at);
  }

  #decideLine(s: string, at: number): Decision {
    const inBlock = this.#block !== undefined;
    const { start, arg, end } = this.#markers;
    const marker = inBlock ? skipEscapes(s, at) : at;
    const isEscaped = marker > at;
    if (inBlock && standsAt(s, marker, arg)) return isEscaped ? "escape" : this.#readArgument(s, marker);
    if (inBlock && standsAt(s, marker, end)) {
      const decision = this.#readEnd(s, marker);
      return isEscaped && decision === "end" ? "escape" : decision;
    }
    if (standsAt(s, marker, start)) return isEscaped ? "escape" : this.#readStart(s, marker);
    const isPartial = isCutOff(s, marker, start) ||
      (inBlock && (isCutOff(s, marker, arg) || isCutOff(s, marker, end)));
    return isPartial ? "partial" : "text";
  }

  #readArgument(s: string, at: number): Decision {
    const ending = s.indexOf("\n", at);
    if (ending < 0) return "open-arg";
    this.#nextPointer = this.#pointers.read(s.slice(at + this.#markers.arg.length, ending));
    this.#lineEnd = ending + 1;
    return "arg";
  }

  #readStart(s: string, at: number): Decision {
    const ending = s.indexOf("\n", at);
    if (ending < 0) return "open-start";
    this.#nextHeader = this.#headers.read(s.slice(at + this.#markers.start.length, ending));
    this.#lineEnd = ending + 1;
    return "start";
  }

  /** An END marker counts when nothing but blanks follows it on its line. */
  #readEnd(s: string, at: number): Decision {
    const after = skipBlanks(s, at + this.#markers.end.length);
    if (after === s.length) return "open-end";
    this.#lineEnd = after + 1;
    return s.charCodeAt(after) === LF ? "end" : "text";
  }

  /** Where the undecided part of an unfinished line begins: one `\` of a run is enough, and such a line is no marker itself. */
  #holdFrom(s: string, from: number, at: number): number {
    if (this.#block === undefined) return at;
    const marker = skipEscapes(s, at);
    if (marker > at) return marker - 1;
    return this.#body.pointer === undefined ? at : lineEndingBefore(s, from, at);
  }

  #delta(text: string): CallEvent | undefined {
    if (text === "") return undefined;
    const block = this.#block;
    if (block === undefined) return { type: "text-delta", text };
    const { pointer } = this.#body;
    if (pointer === undefined) return undefined;
    return argumentDelta(block, pointer, text);
  }

  #openBlock(line: number, events: CallEvent[]): void {
    const header = this.#nextHeader;
    if (header === undefined) return;
    const { gadgetName, invocationId: written, dependencies, error } = header;
    const invocationId = written ?? `${gadgetName}#${++this.#generated}`; // no identifier has a "#": it is always new
    const firstLine = written === undefined ? undefined : this.#ids.use(written, line);
    this.#headerError = firstLine === undefined
      ? error
      : joinErrors(error, `Duplicate invocation id "${invocationId}" (first used on line ${firstLine})`);
    const block: CallStart = { type: "call-start", invocationId, gadgetName, dependencies, line };
    this.#block = block;
    this.#body.open();
    events.push(block);
  }

  #openArgument(start: number): void {
    const pointer = this.#nextPointer;
    if (pointer === undefined) return;
    this.#pointers.follow(pointer);
    this.#body.openArgument(pointer, start);
  }

  #closeBlock(block: CallStart, parametersRaw: string, events: CallEvent[]): void {
    this.#block = undefined;
    const { parameters, errors } = this.#body;
    const { gadgetName, invocationId, dependencies, line } = block;
    const call = { gadgetName, invocationId, dependencies, parameters, parametersRaw, line };
    const headerError = this.#headerError;
    const parseError = errors.length === 0 ? headerError : joinErrors(headerError, errors.join("\n"));
    events.push({ type: "call-end", call: parseError === undefined ? call : { ...call, parseError } });
  }
}

function joinErrors(first: string | undefined, second: string | undefined): string | undefined {
  return first === undefined ? second : second === undefined ? first : `${first}\n${second}`;
}

/** Where the line ending before the line at `at` begins; `at` itself when that is not after `from`. */
function lineEndingBefore(s: string, from: number, at: number): number {
  if (at <= from) return at;
  return at - 2 >= from && s.charCodeAt(at - 2) === CR ? at - 2 : at - 1;
}

function argumentDelta(block: CallStart, pointer: KnownPointer, delta: string): CallEvent {
  return { type: "argument-delta", invocationId: block.invocationId, pointer: pointer.text, delta };
}

function skipEscapes(s: string, at: number): number {
  while (at < s.length && s.charCodeAt(at) === BACKSLASH) at++;
  return at;
}

function skipBlanks(s: string, at: number): number {
  while (at < s.length && isBlank(s.charCodeAt(at))) at++;
  return at;
}

function isCutOff(s: string, at: number, marker: string): boolean {
  return s.length - at < marker.length && marker.startsWith(s.slice(at));
}

function standsAt(s: string, at: number, text: string): boolean {
  return s.slice(at, at + text.length) === text;
}
