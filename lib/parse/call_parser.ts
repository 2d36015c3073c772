// The scanner looks at each line start once and leaps over the rest of the line with indexOf, so its cost is that of finding
// line ends. What it cannot decide yet is at most one line ending, one `\` and a part of a marker (`#held`), or an unfinished
// marker line kept in pieces (`#open`): no text is ever searched twice, whatever the size of the chunks.

import { TextValue, untypedValue } from "../schema/text_value.ts";
import { readArgumentPointer } from "./argument_pointer.ts";
import type { ArgumentPointer } from "./argument_pointer.ts";
import { isBlank, trimBlanks } from "../core/blanks.ts";
import { readCallHeader } from "./call_header.ts";
import { readJsonBody } from "./json_body.ts";
import { completeMarkers } from "./markers.ts";
import type { Markers } from "./markers.ts";
import { ParameterTree } from "./parameter_tree.ts";

/** A call as it stands in the text (calls.md 4). */
export interface CallBlock {
  readonly gadgetName: string;
  /** As written, or `Name#1`, `Name#2` … when the header has none. */
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

interface OpenBlock {
  readonly gadgetName: string;
  readonly invocationId: string;
  readonly dependencies: readonly string[];
  readonly line: number;
  readonly headerError: string | undefined;
  /** The argument being read; absent while the text before the first one is. */
  pointer: KnownPointer | undefined;
}

/** A pointer that was met before. A model writes the same few arguments in the same order again and again. */
interface KnownPointer extends ArgumentPointer {
  /** Its whole line, ready to be compared. */
  readonly line: string;
  /** What came after it last time. */
  next: KnownPointer | undefined;
}

type MarkerRole = "start" | "arg" | "end" | "escaped-end";

/** A marker line whose end is not there yet. `lead` is the line ending or escape before the marker, at the start of the pieces. */
interface OpenLine {
  readonly role: MarkerRole;
  readonly pieces: string[];
  readonly lead: number;
}

/** What a line start turned out to be. */
type Decision = "text" | "escape" | "partial" | "start" | "arg" | "end" | "open-end" | "escaped-open-end";

const LF = 0x0a;
const CR = 0x0d;
const BACKSLASH = 0x5c;
const MAX_POINTERS_KEPT = 500;
const PART_CHARS = 16;

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
  readonly #startUnit: number;
  readonly #endUnit: number;
  readonly #argUnit: number;
  readonly #leaf: (text: string) => unknown;
  readonly #ids = new UsedIds();
  readonly #pointers = new Map<string, KnownPointer>();
  /** Of the argument being read; before the first one, of the text in its place. */
  readonly #text = new Pieces();
  readonly #rawPieces = new Pieces();
  readonly #tree = new ParameterTree();
  /** Of the last argument line of any block. */
  #last: KnownPointer | undefined;
  #generated = 0;
  #line = 1;
  #block: OpenBlock | undefined;
  #open: OpenLine | undefined;
  #held = "";
  #atLineStart = true;
  #ended = false;

  constructor(options: CallParserOptions = {}) {
    const { start, end, arg } = this.#markers = completeMarkers(options.markers);
    this.#startUnit = start.charCodeAt(0);
    this.#endUnit = end.charCodeAt(0);
    this.#argUnit = arg.charCodeAt(0);
    this.#leaf = options.leaf ?? untypedValue;
  }

  /** Reads a chunk; gives what it makes known. */
  push(chunk: string): CallEvent[] {
    if (this.#ended) throw new TypeError("CallParser: push after end; make a new parser for a new text");
    const events: CallEvent[] = [];
    if (chunk === "") return events;
    if (this.#open !== undefined) this.#continueLine(this.#open, chunk, events);
    else if (this.#held === "") this.#scan(chunk, 0, events);
    else {
      const text = this.#held + chunk;
      const at = this.#atLineStart ? leadLength(this.#held) : 0;
      this.#held = "";
      this.#scan(text, at, events);
    }
    return events;
  }

  /** Ends the text: what is still open is closed. */
  end(): CallEvent[] {
    const events: CallEvent[] = [];
    if (this.#ended) return events;
    this.#ended = true;
    if (this.#open !== undefined) this.#endLine(this.#open, events);
    else if (this.#held !== "") this.#endHeld(this.#held, events);
    if (this.#block !== undefined) this.#closeBlock(this.#block, events);
    return events;
  }

  /** Reads `s` from `at`; what lies before `at` is a line ending that still belongs to the content. */
  #scan(s: string, at: number, events: CallEvent[], from = 0): void {
    const start = this.#startUnit;
    const end = this.#endUnit;
    const arg = this.#argUnit;
    let atLineStart = this.#atLineStart;
    let rawFrom = 0;
    let hold = s.length;
    while (true) {
      if (atLineStart) {
        const block = this.#block;
        if (at === s.length) {
          hold = block === undefined ? at : lineEndingBefore(s, from, at);
          break;
        }
        const unit = s.charCodeAt(at);
        if (unit === start || unit === end || unit === arg || unit === BACKSLASH) {
          const guess = this.#last?.next;
          if (guess !== undefined && block !== undefined && standsAt(s, at, guess.line)) {
            this.#content(
              s.slice(from, block.pointer === undefined ? at : lineEndingBefore(s, from, at)),
              events,
            );
            this.#openArgument(block, guess);
            this.#line++;
            at = from = at + guess.line.length;
            continue;
          }
          const decision = this.#decide(s, at);
          if (decision === "partial") {
            hold = this.#holdFrom(s, from, at);
            break;
          }
          if (decision === "escape") {
            this.#content(s.slice(from, at), events);
            from = at + 1;
          } else if (decision === "open-end" || decision === "escaped-open-end") {
            hold = this.#holdFrom(s, from, at);
            this.#content(s.slice(from, hold), events);
            this.#raw(s.slice(rawFrom, hold));
            this.#openLine(decision === "open-end" ? "end" : "escaped-end", s.slice(hold));
            return;
          } else if (decision !== "text") {
            const isStart = decision === "start";
            const before = block?.pointer === undefined ? at : lineEndingBefore(s, from, at);
            this.#content(s.slice(from, before), events);
            const next = s.indexOf("\n", at);
            const closes = decision !== "arg";
            if (closes || next < 0) this.#raw(s.slice(rawFrom, at));
            if (closes && block !== undefined) this.#closeBlock(block, events);
            if (next < 0) {
              this.#openLine(decision, s.slice(at));
              return;
            }
            if (block !== undefined && decision === "arg") {
              this.#openArgument(block, this.#pointer(s.slice(at + this.#markers.arg.length, next)));
            } else rawFrom = next + 1;
            if (isStart) this.#openBlock(s.slice(at + this.#markers.start.length, next), events);
            this.#line++;
            at = from = next + 1;
            continue;
          }
        }
      }
      const next = s.indexOf("\n", at);
      if (next < 0) {
        atLineStart = false;
        if (this.#block !== undefined && s.charCodeAt(s.length - 1) === CR) {
          hold = Math.max(from, s.length - 1);
        }
        break;
      }
      this.#line++;
      at = next + 1;
      atLineStart = true;
    }
    this.#atLineStart = atLineStart;
    this.#held = s.slice(hold);
    this.#content(from === 0 && hold === s.length ? s : s.slice(from, hold), events);
    if (this.#block !== undefined) this.#raw(s.slice(rawFrom, hold));
  }

  /** What the line at `at` is; a marker's first unit, or a `\`, is known to be there. */
  #decide(s: string, at: number): Decision {
    const inBlock = this.#block !== undefined;
    const { start, arg, end } = this.#markers;
    let marker = at;
    if (inBlock) { while (s.charCodeAt(marker) === BACKSLASH) marker++; }
    const escaped = marker > at;
    if (inBlock && standsAt(s, marker, arg)) return escaped ? "escape" : "arg";
    if (inBlock && standsAt(s, marker, end)) {
      return this.#decideEnd(s, { after: marker + end.length, escaped });
    }
    if (standsAt(s, marker, start)) return escaped ? "escape" : "start";
    const left = s.length - marker;
    const partial = isPartial(s, marker, left, start) ||
      (inBlock && (isPartial(s, marker, left, arg) || isPartial(s, marker, left, end)));
    return partial ? "partial" : "text";
  }

  /** An END marker counts when nothing but blanks follows it on its line. */
  #decideEnd(s: string, line: { after: number; escaped: boolean }): Decision {
    let i = line.after;
    while (i < s.length && isBlank(s.charCodeAt(i))) i++;
    if (i === s.length) return line.escaped ? "escaped-open-end" : "open-end";
    if (s.charCodeAt(i) !== LF) return "text";
    return line.escaped ? "escape" : "end";
  }

  /** Where the undecided part of an unfinished line begins: one `\` of a run is enough, and such a line is no marker itself. */
  #holdFrom(s: string, from: number, at: number): number {
    let marker = at;
    if (this.#block !== undefined) { while (s.charCodeAt(marker) === BACKSLASH) marker++; }
    if (marker > at) return marker - 1;
    return this.#block?.pointer === undefined ? at : lineEndingBefore(s, from, at);
  }

  #openLine(role: MarkerRole, piece: string): void {
    this.#held = "";
    this.#open = { role, pieces: [piece], lead: role === "escaped-end" ? 1 : leadLength(piece) };
  }

  #continueLine(line: OpenLine, chunk: string, events: CallEvent[]): void {
    if (line.role === "end" || line.role === "escaped-end") return this.#continueEnd(line, chunk, events);
    const next = chunk.indexOf("\n");
    line.pieces.push(next < 0 ? chunk : chunk.slice(0, next + 1));
    if (next < 0) return;
    const text = line.pieces.join("");
    this.#open = undefined;
    this.#markerLine(line.role, text, events);
    this.#line++;
    this.#atLineStart = true;
    if (next + 1 < chunk.length) this.#scan(chunk.slice(next + 1), 0, events);
  }

  #markerLine(role: "start" | "arg", text: string, events: CallEvent[]): void {
    const rest = text.slice(this.#markers[role].length, text.endsWith("\n") ? -1 : undefined);
    if (role === "start") return this.#openBlock(rest, events);
    this.#raw(text);
    if (this.#block !== undefined) this.#openArgument(this.#block, this.#pointer(rest));
  }

  #continueEnd(line: OpenLine, chunk: string, events: CallEvent[]): void {
    let i = 0;
    while (i < chunk.length && isBlank(chunk.charCodeAt(i))) i++;
    if (i === chunk.length) return void line.pieces.push(chunk);
    const before = line.pieces.join("");
    const isMarker = chunk.charCodeAt(i) === LF;
    this.#open = undefined;
    if (isMarker && line.role === "end") {
      this.#raw(before.slice(0, line.lead));
      if (this.#block !== undefined) this.#closeBlock(this.#block, events);
      this.#line++;
      this.#atLineStart = true;
      if (i + 1 < chunk.length) this.#scan(chunk.slice(i + 1), 0, events);
      return;
    }
    this.#atLineStart = false;
    this.#scan(before + chunk, before.length, events, isMarker ? 1 : 0);
  }

  #endLine(line: OpenLine, events: CallEvent[]): void {
    const text = line.pieces.join("");
    this.#open = undefined;
    if (line.role === "start" || line.role === "arg") return this.#markerLine(line.role, text, events);
    if (line.role === "end") return this.#raw(text.slice(0, line.lead));
    this.#content(text.slice(1), events);
    this.#raw(text);
  }

  #endHeld(held: string, events: CallEvent[]): void {
    const isLastLineEnding = this.#atLineStart && leadLength(held) === held.length;
    if (!isLastLineEnding) this.#content(held, events);
    this.#raw(held);
  }

  #raw(text: string): void {
    if (this.#block !== undefined) this.#rawPieces.add(text);
  }

  #content(text: string, events: CallEvent[]): void {
    if (text === "") return;
    const block = this.#block;
    if (block === undefined) return void events.push({ type: "text-delta", text });
    this.#text.add(text);
    if (block.pointer !== undefined) {
      events.push({
        type: "argument-delta",
        invocationId: block.invocationId,
        pointer: block.pointer.text,
        delta: text,
      });
    }
  }

  #openBlock(headerText: string, events: CallEvent[]): void {
    const { gadgetName, invocationId: written, dependencies, error } = readCallHeader(headerText);
    const invocationId = written ?? `${gadgetName}#${++this.#generated}`; // no identifier has a "#": it is always new
    const line = this.#line;
    const firstLine = written === undefined ? undefined : this.#ids.use(written, line);
    const headerError = firstLine === undefined
      ? error
      : joinErrors(error, `Duplicate invocation id "${invocationId}" (first used on line ${firstLine})`);
    this.#block = { gadgetName, invocationId, dependencies, line, headerError, pointer: undefined };
    this.#tree.start({});
    events.push({ type: "call-start", invocationId, gadgetName, dependencies, line });
  }

  #openArgument(block: OpenBlock, pointer: KnownPointer): void {
    this.#closeArgument(block);
    block.pointer = pointer;
    if (this.#last !== undefined) this.#last.next = pointer;
    this.#last = pointer;
  }

  /** Puts the argument that was being read in its place; before the first one, reads the text that stands there. */
  #closeArgument(block: OpenBlock): void {
    const text = this.#text.take();
    if (block.pointer !== undefined) this.#tree.place(block.pointer, this.#leaf(text));
    else if (text !== "") this.#readBody(text);
  }

  #readBody(text: string): void {
    const { parameters, error } = readJsonBody(text);
    if (parameters !== undefined) this.#tree.start(parameters);
    if (error !== undefined) this.#tree.errors.push(error);
  }

  #pointer(text: string): KnownPointer {
    const trimmed = trimBlanks(text);
    let pointer = this.#pointers.get(trimmed);
    if (pointer === undefined) {
      pointer = {
        ...readArgumentPointer(trimmed),
        line: `${this.#markers.arg}${trimmed}\n`,
        next: undefined,
      };
      if (this.#pointers.size < MAX_POINTERS_KEPT) this.#pointers.set(trimmed, pointer);
    }
    return pointer;
  }

  #closeBlock(block: OpenBlock, events: CallEvent[]): void {
    this.#closeArgument(block);
    this.#block = undefined;
    const { root: parameters, errors } = this.#tree;
    const { gadgetName, invocationId, dependencies, line, headerError } = block;
    const call = {
      gadgetName,
      invocationId,
      dependencies,
      parameters,
      parametersRaw: this.#rawPieces.take(),
      line,
    };
    const parseError = errors.length === 0 ? headerError : joinErrors(headerError, errors.join("\n"));
    events.push({ type: "call-end", call: parseError === undefined ? call : { ...call, parseError } });
  }
}

/** The ids of a text, each with the line that used it first. */
class UsedIds {
  readonly #ids = new Set<string>();
  readonly #lines: number[] = [];
  /** The lines by id, as far as `#unread` has come: only repeated ids are ever looked up. */
  readonly #firstLines = new Map<string, number>();
  readonly #unread = this.#ids.values();

  /** The line of the first use; undefined when this is the first. */
  use(id: string, line: number): number | undefined {
    const before = this.#ids.size;
    if (this.#ids.add(id).size > before) {
      this.#lines.push(line);
      return undefined;
    }
    for (let next = this.#unread.next(); next.done !== true; next = this.#unread.next()) {
      this.#firstLines.set(next.value, this.#lines[this.#firstLines.size] ?? line);
    }
    return this.#firstLines.get(id);
  }
}

/**
 * A text that arrives in pieces. They are joined once, so that a long argument in small chunks stays linear; the smallest are put
 * together first, since a list of them would cost more than they do.
 */
class Pieces {
  #tail = "";
  #parts: string[] | undefined;

  add(piece: string): void {
    if (this.#tail.length < PART_CHARS) this.#tail += piece;
    else {
      if (this.#parts === undefined) this.#parts = [this.#tail];
      else this.#parts.push(this.#tail);
      this.#tail = piece;
    }
  }

  /** The whole text; from then on there is none. */
  take(): string {
    const text = this.#parts === undefined ? this.#tail : this.#parts.join("") + this.#tail;
    this.#tail = "";
    this.#parts = undefined;
    return text;
  }
}

/**
 * The parameters of a call with undecided leaves: the text of each argument is a `TextValue`, which the gadget's schema types.
 * They are read again from `parametersRaw`, so the call may come from anywhere; `options` are those it was read with.
 */
export function treeOf(call: CallBlock, options: CallParserOptions = {}): Readonly<Record<string, unknown>> {
  const parser = new CallParser({ ...options, leaf: (text) => new TextValue(text) });
  parser.push(`${completeMarkers(options.markers).start}${call.gadgetName.replaceAll("\n", " ")}\n`);
  const events = [...parser.push(call.parametersRaw), ...parser.end()];
  const last = events.at(-1);
  return last?.type === "call-end" ? last.call.parameters : {};
}

function joinErrors(first: string | undefined, second: string | undefined): string | undefined {
  return first === undefined ? second : second === undefined ? first : `${first}\n${second}`;
}

/** Where the line ending before `at` begins; `at` itself when the text since `from` has none. */
function lineEndingBefore(s: string, from: number, at: number): number {
  if (at <= from || s.charCodeAt(at - 1) !== LF) return at;
  return at - 2 >= from && s.charCodeAt(at - 2) === CR ? at - 2 : at - 1;
}

/** The length of the line ending at the start of a held text. */
function leadLength(held: string): number {
  return held.startsWith("\n") ? 1 : held.startsWith("\r\n") ? 2 : 0;
}

function isPartial(s: string, at: number, left: number, marker: string): boolean {
  return left < marker.length && marker.startsWith(s.slice(at));
}

/** What `startsWith` says, at half its cost or less: most of what is asked about differs in its last character. */
function standsAt(s: string, at: number, text: string): boolean {
  const last = text.length - 1;
  return s.charCodeAt(at + last) === text.charCodeAt(last) && s.slice(at, at + text.length) === text;
}
