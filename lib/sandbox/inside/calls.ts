// The calls of a gadget, as many at once as Orrery begins. Each ends with one message: a result, an error, an invalid input or the answer to
// its cancelling; what it tells after that is told of no call.
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import type { FromGadget, ToGadget } from "../../core/gadget_message.ts";
import { type Json, notResultText, toJson } from "../../core/json.ts";
import { foundValue } from "../../core/shown.ts";
import { LogBudget } from "../log_budget.ts";
import type { GadgetChannel } from "./channel.ts";
import type { FoundGadget } from "./describe.ts";
import { cut, startOf, thrownError } from "./thrown.ts";

type Message<Type extends ToGadget["type"]> = Extract<ToGadget, { readonly type: Type }>;
type Ending = Extract<FromGadget, { readonly type: "result" | "error" | "invalid" }>;

/** Characters of what a schema says against an input. */
const MOST_ISSUES = 65_536;
/** Bytes that wait to be sent: while there are more, what a call tells by the way is left out. */
const MOST_WAITING = 4 * 1024 * 1024;
/** A little less than Orrery lets through. */
const MOST_PROGRESS = 9_990;
/** How many pieces of a streamed result may be on the way. */
const WINDOW = 16;

/** What calls need of the gadget. */
export interface Surroundings {
  readonly gadget: FoundGadget;
  readonly maxResultBytes: number;
}

/** How far a call is. */
interface Progress {
  readonly done: number;
  readonly total: number | undefined;
}

/** A call of `run`, or of `format`, while it is open. */
export class RunningCall {
  readonly id: number;
  readonly logs = newBudget();
  state: "open" | "ended" | "cancelled" = "open";
  reports = 0;
  missingReports = 0;
  /** The last progress, when it was not told. */
  lastReport: Progress | undefined;
  readonly #abort = new AbortController();
  #room = WINDOW;
  #onRoom: (() => void) | undefined;

  constructor(id: number) {
    this.id = id;
  }

  /** Aborted when the call is cancelled. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** @param reason why, in words, for the error that the gadget's signal has */
  cancel(reason: string): void {
    this.state = "cancelled";
    this.#onRoom?.();
    this.#abort.abort(new DOMException(reason, "AbortError"));
  }

  /** Orrery has taken so many pieces. */
  addRoom(count: number): void {
    this.#room += count;
    this.#onRoom?.();
  }

  /** Waits until a piece may be sent, or the call is over. */
  async takeRoom(): Promise<void> {
    while (this.#room <= 0 && this.state === "open") {
      await new Promise<void>((resolve) => this.#onRoom = resolve);
    }
    this.#room--;
  }
}

/** A little less than Orrery lets through: what was left out has to be said too. */
function newBudget(): LogBudget {
  return new LogBudget({ messages: 9_990, characters: 1024 * 1024 - 4096 });
}

/** The calls that are open. */
export class GadgetCalls {
  readonly #channel: Pick<GadgetChannel, "send" | "waitingBytes">;
  readonly #open = new Map<number, RunningCall>();
  readonly #context = new AsyncLocalStorage<RunningCall>();
  /** For what belongs to no open call. */
  #stray = newBudget();

  constructor(channel: Pick<GadgetChannel, "send" | "waitingBytes">) {
    this.#channel = channel;
  }

  /** The call that the work belongs to which asks now; it may be over. */
  current(): RunningCall | undefined {
    return this.#context.getStore();
  }

  /** Logs for the call that the work belongs to, as long as it is open. */
  log(text: string, of: RunningCall | undefined = this.current()): void {
    const call = of?.state === "open" ? of : undefined;
    const told = (call?.logs ?? this.#stray).take(text, { isFull: this.#isFull });
    if (told !== undefined) this.#channel.send({ type: "log", id: call?.id, text: told });
  }

  call(message: Message<"call">, around: Surroundings): void {
    this.#begin(message.id, async (call) => {
      const { gadget, maxResultBytes } = around;
      const checked = gadget.schema === undefined
        ? { value: message.input }
        : await gadget.schema.validate(message.input);
      if (call.state !== "open") return;
      if ("issues" in checked) {
        return this.#end(call, { type: "invalid", id: call.id, issues: cut(checked.issues, MOST_ISSUES) });
      }
      const context = this.#callContext(message, checked.value, call);
      const given = await gadget.run?.call(gadget.self, checked.value, context);
      if (call.state !== "open") return;
      if (!isStream(given)) return this.#result(call, gadget.name, { given, maxResultBytes });
      const send = (text: string): void => this.#channel.send({ type: "piece", id: call.id, text });
      await sendPieces(given, { call, gadgetName: gadget.name, send });
      this.#end(call, { type: "result", id: call.id });
    });
  }

  format({ id, result, call: about }: Message<"format">, { gadget, maxResultBytes }: Surroundings): void {
    this.#begin(id, (call) => {
      const text = gadget.format?.call(gadget.self, result, about);
      if (typeof text === "string") return this.#result(call, gadget.name, { given: text, maxResultBytes });
      throw new TypeError(
        `format of ${JSON.stringify(about.gadgetName)} must return a string, found ${foundValue(text)}`,
      );
    });
  }

  /** Answers at once; the gadget is told too, and what it does then is its own affair. */
  cancel(id: number, reason: string): RunningCall | undefined {
    const call = this.#open.get(id);
    if (call === undefined) return undefined;
    this.#open.delete(id);
    this.#channel.send({ type: "cancelled", id });
    this.#context.run(call, () => call.cancel(reason));
    return call;
  }

  more(id: number, count: number): void {
    this.#open.get(id)?.addRoom(count);
  }

  #begin(id: number, work: (call: RunningCall) => void | Promise<void>): void {
    const call = new RunningCall(id);
    this.#say(undefined, this.#stray.lastWord);
    this.#stray = newBudget();
    this.#open.set(id, call);
    this.#context.run(call, () => void this.#guarded(call, work));
    setImmediate(() => { // when the event loop comes round
      if (call.state === "open") this.#channel.send({ type: "begun", id });
    });
  }

  async #guarded(call: RunningCall, work: (call: RunningCall) => void | Promise<void>): Promise<void> {
    try {
      await work(call);
    } catch (error) {
      this.#end(call, { type: "error", id: call.id, error: thrownError(error) });
    }
  }

  /** @throws {ResultError} when it is no JSON */
  #result(
    call: RunningCall,
    gadgetName: string,
    { given, maxResultBytes }: { readonly given: unknown; readonly maxResultBytes: number },
  ): void {
    this.#end(call, resultMessage(given, { id: call.id, gadgetName, maxResultBytes }));
  }

  /** Its last word, and before it what of it was left out. */
  #end(call: RunningCall, ending: Ending): void {
    if (call.state !== "open") return;
    this.#open.delete(call.id);
    const { lastReport, logs } = call;
    if (lastReport !== undefined) this.#channel.send({ type: "progress", id: call.id, ...lastReport });
    this.#say(call, logs.lastWord);
    const reports = call.missingReports - (lastReport === undefined ? 0 : 1);
    if (reports > 0) {
      this.#say(
        call,
        `\n[cut: ${reports} reports of progress are left out; a call may tell ${MOST_PROGRESS}, and no faster than they can be sent]\n`,
      );
    }
    call.state = "ended";
    this.#channel.send(ending);
  }

  #say(call: RunningCall | undefined, text: string | undefined): void {
    if (text !== undefined) this.#channel.send({ type: "log", id: call?.id, text });
  }

  get #isFull(): boolean {
    return this.#channel.waitingBytes > MOST_WAITING;
  }

  #progress(call: RunningCall, progress: Progress): void {
    if (call.state !== "open") return;
    const isTold = !this.#isFull && call.reports < MOST_PROGRESS;
    call.lastReport = isTold ? undefined : progress;
    if (!isTold) {
      call.missingReports++;
      return;
    }
    call.reports++;
    this.#channel.send({ type: "progress", id: call.id, ...progress });
  }

  /** What `run` gets besides its input. */
  #callContext(
    { invocationId, dependencies, call: { gadgetName, ...about } }: Message<"call">,
    input: unknown,
    call: RunningCall,
  ) {
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    return {
      signal: call.signal,
      invocationId,
      dependencies,
      call: { gadgetName, invocationId: about.invocationId, parameters: isObject ? input : {} },
      log: (text: unknown) => this.log(String(text), call),
      progress: (done: unknown, total?: unknown) => {
        if (isNumber(done) && (total === undefined || isNumber(total))) {
          return this.#progress(call, { done, total });
        }
        throw new TypeError(
          `progress(done, total?) takes finite numbers; found ${String(done)}, ${String(total)}`,
        );
      },
    };
  }
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

// The result of a call as it is sent.

/** The result is none: no JSON, or a stream of something else than text. */
class ResultError extends TypeError {
  override readonly name = "ResultError";
}

/** How a result is told. */
interface ResultOptions {
  /** Of the call. */
  readonly id: number;
  readonly gadgetName: string;
  /** Of it as JSON, in UTF-8. */
  readonly maxResultBytes: number;
}

/**
 * The message with the result of a call. What is too long is told as the beginning of its text, or of its JSON where it is no text, with the
 * size of the whole.
 *
 * @throws {ResultError} when it is no JSON
 */
function resultMessage(
  given: unknown,
  { id, gadgetName, maxResultBytes }: ResultOptions,
): Extract<FromGadget, { readonly type: "result" }> {
  if (typeof given === "string" && given.length > maxResultBytes) {
    return { type: "result", id, value: beginning(given, maxResultBytes), wholeBytes: utf8Length(given) };
  }
  const value = jsonOf(given, gadgetName);
  const json = JSON.stringify(value);
  if (json.length * 3 <= maxResultBytes) return { type: "result", id, value }; // no unit of UTF-16 takes more bytes
  const length = utf8Length(json);
  if (length <= maxResultBytes) return { type: "result", id, value };
  const text = typeof value === "string" ? value : json;
  const wholeBytes = text === json ? length : utf8Length(text);
  return { type: "result", id, value: beginning(text, maxResultBytes), wholeBytes };
}

/** @throws {ResultError} when it is no JSON */
function jsonOf(given: unknown, gadgetName: string): Json {
  try {
    return toJson(given);
  } catch (error) {
    throw new ResultError(notResultText(gadgetName, thrownError(error).message));
  }
}

/** UTF-16 units of a piece as it is sent, or looked at. */
const MOST_PIECE = 65_536;

/** As much of a text as fits, as JSON. */
function beginning(text: string, maxBytes: number): string {
  let left = maxBytes;
  let end = 0;
  for (const part of parts(text)) {
    left -= utf8Length(JSON.stringify(part)) - 2;
    if (left < 0) break;
    end += part.length;
  }
  return text.slice(0, end);
}

/** How many bytes of UTF-8 a text takes, without a copy of all of it; not by encodeInto, for the reason that core/frames.ts has. */
function utf8Length(text: string): number {
  const encoder = new TextEncoder();
  let length = 0;
  for (const part of parts(text)) length += encoder.encode(part).length;
  return length;
}

/** A text in parts, none of which ends inside of a character. */
function* parts(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const part = startOf(text.slice(at, at + MOST_PIECE + 1), MOST_PIECE);
    yield part;
    at += part.length;
  }
}

/** Whether a value comes piece by piece. */
function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/**
 * Sends what comes, each piece when there is room for it, until it ends or the call does; then the source is closed.
 *
 * @throws {ResultError} when something else than text comes, and what the source throws
 */
async function sendPieces(
  stream: AsyncIterable<unknown>,
  { call, gadgetName, send }: {
    readonly call: RunningCall;
    readonly gadgetName: string;
    readonly send: (text: string) => void;
  },
): Promise<void> {
  const decoder = new TextDecoder();
  const sendText = async (text: string): Promise<void> => {
    for (const part of parts(text)) {
      await call.takeRoom();
      if (call.state !== "open") return;
      send(part);
    }
  };
  for await (const piece of stream) {
    if (call.state !== "open") return;
    if (typeof piece !== "string" && !(piece instanceof Uint8Array)) throw notText(piece, gadgetName);
    await sendText(typeof piece === "string" ? piece : decoder.decode(piece, { stream: true }));
    if (call.state !== "open") return;
  }
  await sendText(decoder.decode());
}

function notText(piece: unknown, gadgetName: string): ResultError {
  const found = piece === null ? "null" : Array.isArray(piece) ? "an array" : `a ${typeof piece}`;
  return new ResultError(
    `The stream of ${gadgetName} gave ${found}; a streamed result is text, or bytes of UTF-8`,
  );
}
