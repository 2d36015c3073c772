// The calls of one answer of a model, whichever way it writes them: blocks in its text, or the provider's own calls. Both come in as
// they are written and go to one graph.
import { readArguments, type ToolCall } from "../../core/core.ts";
import type { Markers } from "../../parse/calls/header.ts";
import { type CallEvent, CallParser } from "../../parse/calls/calls.ts";
import { undecided } from "../../schema/text_value.ts";
import type { CallGraph, GraphCall } from "../calls/graph.ts";

/** What takes the calls of an answer as they come. */
export interface AnswerReader {
  /** Text of the answer; gives what of it is to be shown. */
  text(text: string): Promise<readonly string[]>;
  /** A call of the provider begins. */
  open(call: { readonly id: string; readonly name: string }): void;
  call(call: ToolCall): Promise<void>;
  /** The answer broke off: calls of the provider that have begun, and were not given, are none. */
  drop(why: string): void;
  /**
   * The answer has ended; gives what of its text is still to be shown. `cutOff` says why when it broke off before its end: what only
   * that ended is no whole call.
   */
  end(cutOff?: string): Promise<readonly string[]>;
}

/** How the calls of an answer are taken. */
export interface AnswerReaderOptions {
  readonly graph: CallGraph;
  /** Calls start while the answer is still coming; else when it has ended. */
  readonly isMidStream: boolean;
  /** A call is whole and about to start, while the answer is still coming: the length of the text up to it, in UTF-16 units. */
  readonly onWhole: (textLength: number) => void;
}

/** No calls: all text is the answer. */
export const textAlone: AnswerReader = {
  text: (text) => Promise.resolve([text]),
  open: () => undefined,
  call: () => Promise.resolve(),
  drop: () => undefined,
  end: () => Promise.resolve([]),
};

/** Call blocks in the text. It is read line by line: where a call ends has to be known exactly. */
export function blockReader(options: AnswerReaderOptions & { readonly markers: Markers }): AnswerReader {
  const waiting: GraphCall[] = [];
  let length = 0;
  const parser = new CallParser({ ...options, leaf: undecided });

  async function text(text: string): Promise<readonly string[]> {
    const shown: string[] = [];
    for (let at = 0; at < text.length;) {
      const newline = text.indexOf("\n", at);
      const end = newline < 0 ? text.length : newline + 1;
      const lineStart = length;
      length += end - at;
      await take(parser.push(text.slice(at, end)), { end: length, shown, lineStart });
      at = end;
    }
    return shown;
  }

  async function end(cutOff?: string): Promise<readonly string[]> {
    const shown: string[] = [];
    const events = cutOff === undefined ? parser.end() : cut(cutOff);
    await take(events, { end: length, shown });
    for (const call of waiting) await options.graph.add(call);
    return shown;
  }

  /** A block whose END stands in the last line is closed. */
  function cut(cutOff: string): readonly CallEvent[] {
    const closed = parser.push("\n");
    const last = closed.at(-1);
    if (last?.type === "text-delta") closed.splice(-1, 1, { ...last, text: last.text.slice(0, -1) });
    return [...closed, ...refused(parser.end(), cutOff)];
  }

  /** A call that the header of the next one ends is whole before that line. */
  async function take(
    events: readonly CallEvent[],
    place: { readonly end: number; readonly shown: string[]; readonly lineStart?: number },
  ): Promise<void> {
    const { graph, isMidStream, onWhole } = options;
    const endsAtHeader = events.some(({ type }) => type === "call-start");
    for (const event of events) {
      if (event.type === "text-delta" && event.text !== "") place.shown.push(event.text);
      else if (event.type === "call-start") graph.open(event);
      else if (event.type === "call-end" && !isMidStream) waiting.push(event.call);
      else if (event.type === "call-end") {
        onWhole(endsAtHeader ? place.lineStart ?? place.end : place.end);
        await graph.add(event.call);
      }
    }
  }

  return { ...textAlone, text, end };
}

/** The provider's own calls. */
export function nativeReader(options: AnswerReaderOptions): AnswerReader {
  /** True once the call was given. */
  const opened = new Map<string, boolean>();
  const waiting: GraphCall[] = [];
  let length = 0;

  function text(text: string): Promise<readonly string[]> {
    length += text.length;
    return Promise.resolve([text]);
  }

  function open({ id, name }: { readonly id: string; readonly name: string }): void {
    if (opened.has(id)) return;
    opened.set(id, false);
    options.graph.open({ invocationId: id, gadgetName: name, dependencies: [], line: 0 });
  }

  async function call(call: ToolCall): Promise<void> {
    open(call);
    opened.set(call.id, true);
    if (options.isMidStream && call.cut === undefined) options.onWhole(length);
    const answerCall = nativeCall(call);
    if (options.isMidStream) await options.graph.add(answerCall);
    else waiting.push(answerCall);
  }

  function drop(why: string): void {
    for (const [invocationId, isGiven] of opened) {
      if (isGiven) continue;
      options.graph.refuse({ invocationId, line: 0 }, why);
      opened.delete(invocationId); // the next attempt may have a call of that id
    }
  }

  async function end(): Promise<readonly string[]> {
    for (const call of waiting) await options.graph.add(call);
    return [];
  }

  return { text, open, call, drop, end };
}

/** The call that only the end of the text has closed is not run: nobody knows how it would have gone on. */
function refused(events: readonly CallEvent[], cutOff: string): readonly CallEvent[] {
  return events.map((event) =>
    event.type === "call-end" ? { ...event, call: { ...event.call, parseError: cutOff } } : event
  );
}

function nativeCall({ id, name, arguments: text, cut }: ToolCall): GraphCall {
  const base = { invocationId: id, gadgetName: name, dependencies: [], line: 0 };
  if (cut !== undefined) return { ...base, parameters: {}, parseError: cut };
  const read = readArguments(text);
  if ("json" in read) return { ...base, parameters: read.json };
  const { wrong, message } = read;
  const what = wrong === "kind"
    ? "must be a JSON object, found"
    : `${wrong === "number" ? "cannot be read" : "are not valid JSON"} (${message}):`;
  return { ...base, parameters: {}, parseError: `The arguments ${what} ${text.slice(0, 200)}` };
}
