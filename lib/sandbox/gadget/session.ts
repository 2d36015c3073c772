// One process of a gadget, from the moment it has connected until it is gone. It is over once: then every call has failed with the same
// words, every effect is aborted, and the process is killed.
import {
  type EffectOp,
  encodeFrame,
  type Frame,
  FRAME_HEAD,
  FrameError,
  FrameReader,
  type FromGadget,
  type GadgetDescription,
  InputError,
  messageOf,
  type ToGadget,
} from "../../core/core.ts";
import type { GadgetProcess, GadgetProcessEnd } from "../../host/commands/gadget_process.ts";
import { quietTimer } from "../../host/process.ts";
import { FrameChannel } from "./frames.ts";
import {
  type AskedEffect,
  type EffectAnswer,
  GadgetEffects,
  type PerformEffect,
  type WaitedEffect,
} from "./effects.ts";
import {
  endWords,
  GadgetProcessError,
  memoryWords,
  placedText,
  thrownInGadget,
  UnsentError,
} from "./failure.ts";
import { type CallListener, type CallResult, OpenCall } from "./call.ts";
import { MessageError, readMessage } from "./messages.ts";

/** Between two looks at its memory while it has something to do. */
const MEMORY_POLL_MS = 50;
/** What the runtime itself takes besides the heap that was granted. */
const RUNTIME_BYTES = 64 * 1024 * 1024;
/** Between the end of the process and that of its socket, in either order. */
const LAST_FRAMES_MS = 500;
/** What was logged outside of every call. */
const MOST_STRAY_CHARACTERS = 64 * 1024;
const MOST_REASON_CHARACTERS = 1_000;

/** Bounds of a process. */
export interface GadgetLimits {
  /** Of its heap, and of everything else it takes. */
  readonly memoryBytes: number;
  /** Of what is said in either direction at once. */
  readonly maxFrameBytes: number;
  /** How long it may take to answer a cancel. */
  readonly cancelMs: number;
}

/** What a session needs. */
export interface GadgetSessionOptions {
  readonly process: GadgetProcess;
  readonly limits: GadgetLimits;
  /** The gadget's file, as messages name it. */
  readonly shownFile: string;
  readonly perform: PerformEffect;
  /** Places of its prepared modules to those of the source. */
  readonly mapStack: (stack: string, folderUrl: string) => string;
  /** Told which variable or fact of the system it asked for, `*` for all: what it says itself. */
  readonly onUsed?: (kind: "env" | "sys", name: string) => void;
  /** It is over; told once. */
  onOver(): void;
}

const LOOKING: ReadonlySet<EffectOp["kind"]> = new Set(["read", "stat", "list", "real-path"]);

type Load = Extract<ToGadget, { readonly type: "load" }>;
/** A call, or the question how its result is told, without its number. */
export type CallRequest =
  | Omit<Extract<ToGadget, { readonly type: "call" }>, "id">
  | Omit<Extract<ToGadget, { readonly type: "format" }>, "id">;

/** A process that talks. */
export class GadgetSession {
  readonly #options: GadgetSessionOptions;
  readonly #process: GadgetProcess;
  readonly #channel: FrameChannel;
  readonly #effects: GadgetEffects;
  /** Open in the process: those too that were cancelled, until it has said so. */
  readonly #calls = new Map<number, OpenCall>();
  /** Cancelled, and the process has not said that it has heard it. */
  readonly #unheard = new Map<number, Disposable>();
  #loading: PromiseWithResolvers<GadgetDescription> | undefined;
  /** The call that was sent last, until it has begun: one that loops for ever holds no other up but those that were begun before. */
  #beginning: number | undefined;
  #nextId = 1;
  /** How many wait for something: calls, and whoever loads it. */
  #waiters = 0;
  #lastUsed = performance.now();
  #memoryWatch: Disposable | undefined;
  #isOver = false;
  #isLeaving = false;
  #leaving: Disposable | undefined;
  #stray: string[] = [];
  #strayCharacters = 0;
  /** The call that blocks the process with an effect. */
  #blocking: OpenCall | undefined;
  #whenFree: PromiseWithResolvers<void> | undefined;

  constructor(options: GadgetSessionOptions) {
    this.#options = options;
    this.#process = options.process;
    this.#channel = new FrameChannel(this.#process.channel, {
      maxBytes: options.limits.maxFrameBytes,
      onFrame: (frame) => this.#onFrame(frame),
      onRoom: () => this.#effects.goOn(),
      onEnd: (error) => this.#onChannelEnd(error),
    });
    this.#effects = new GadgetEffects({
      perform: options.perform,
      hasRoom: () => !this.#channel.isFull,
      onAnswer: ({ value, bytes }) => this.#channel.send(encodeFrame(value, bytes)),
    });
    this.#process.ended.then((end) => {
      this.#leave(() => this.#endWords(end)); // its last frames may be on their way
    });
    this.#answerWaiting().catch((error) => this.#onBadInput(error));
  }

  /** It takes calls now. */
  get isFree(): boolean {
    return !this.isEnding && this.#beginning === undefined && this.#unheard.size === 0;
  }

  /** It takes no calls any more. */
  get isEnding(): boolean {
    return this.#isOver || this.#isLeaving;
  }

  /** Since when nobody waits for anything, as `performance.now()` has it; undefined while somebody does. */
  get idleSince(): number | undefined {
    return this.#waiters > 0 ? undefined : this.#lastUsed;
  }

  /** Settles when it takes calls again, or is over. */
  whenFree(): Promise<void> {
    if (this.isFree || this.#isOver) return Promise.resolve();
    this.#whenFree ??= Promise.withResolvers();
    return this.#whenFree.promise;
  }

  /** Loads the gadget: before the first call, once. @throws what its module throws, and {GadgetProcessError} */
  load(load: Load): Promise<GadgetDescription> {
    this.#loading = Promise.withResolvers();
    this.#begin();
    this.#say(load);
    return this.#loading.promise;
  }

  /**
   * Calls it: gives what it returns, or text as it comes. Aborted, it fails with the signal's reason at once.
   *
   * @throws {InputError} when its own schema refuses the input, {PermissionRefused} when it failed with that, what the gadget throws, and
   * {GadgetProcessError} when the process is gone before
   */
  call(request: CallRequest, listener: CallListener): Promise<CallResult> {
    const id = this.#nextId++;
    const frame = encodeFrame({ ...request, id });
    if (frame.length - FRAME_HEAD > this.#options.limits.maxFrameBytes) {
      return Promise.reject(this.#tooMuch(request.type));
    }
    const { promise, resolve, reject } = Promise.withResolvers<CallResult>();
    this.#calls.set(
      id,
      new OpenCall({
        signal: listener.signal,
        log: (text) => listener.log(text),
        progress: (done, total) => listener.progress(done, total),
        id,
        name: request.call.invocationId,
        resolve,
        reject,
        onAbort: (call, reason) => this.#cancel(call, reason),
        onRoom: (id, count) => this.#say({ type: "more", id, count }),
        onSettled: () => this.#finish(),
      }),
    );
    this.#begin();
    this.#beginning = id;
    this.#channel.send(frame, id);
    listener.onSent?.();
    if (this.#stray.length > 0) this.#giveStray(listener);
    return promise;
  }

  /** What its module has told the console, as long as no call was there to be told: lines. */
  get said(): string {
    return this.#stray.map((text) => text.endsWith("\n") ? text : `${text}\n`).join("");
  }

  /** Kills it; comes back when it is gone. Whoever waits gets these words; of calls that were not sent an {@linkcode UnsentError}. */
  end(words: string): Promise<void> {
    this.#die(words, { isLast: true });
    return this.#process.end();
  }

  #begin(): void {
    if (this.#waiters++ > 0) return;
    this.#process.hold(true);
    this.#watchMemory();
  }

  #finish(): void {
    if (--this.#waiters > 0) return;
    this.#lastUsed = performance.now();
  }

  #say(message: ToGadget): void {
    this.#channel.send(encodeFrame(message));
  }

  #onFrame({ value, bytes }: Frame): void {
    try {
      this.#take(readMessage(value, bytes.length), bytes);
    } catch (error) {
      if (error instanceof MessageError) throw error;
      this.#die(messageOf(error)); // whoever listens has thrown
    }
  }

  #take(message: FromGadget, bytes: Uint8Array): void {
    switch (message.type) {
      case "loaded":
        return this.#loaded().resolve(message.gadget);
      case "load-failed":
        return this.#loaded().reject(this.#thrown(message.error));
      case "begun":
        return this.#begun(message.id);
      case "log":
        return this.#log(message.id, this.#placed(message.text));
      case "progress":
        return this.#known(message.id)?.progress(message.done, message.total);
      case "piece":
        if (this.#open(message.id).piece(message.text)) return;
        throw new MessageError("sent pieces for which there was no room");
      case "invalid":
        return this.#closed(message.id).fail(new InputError(this.#placed(message.issues)));
      case "result":
        return this.#closed(message.id).result(message.value, message.wholeBytes);
      case "error": {
        const call = this.#closed(message.id);
        return call.fail(this.#effects.refusalOf(message.error.refusal) ?? this.#thrown(message.error));
      }
      case "cancelled":
        return this.#cancelled(message.id);
      case "effect":
        this.#noteAct(message);
        return this.#effects.ask({ ...message, bytes, ...this.#placeOf(message.call) });
      case "effect-cancel":
        return this.#effects.cancel(message.effect);
      case "used":
        return this.#options.onUsed?.(message.kind, message.name);
      default:
        return message satisfies never;
    }
  }

  #loaded(): PromiseWithResolvers<GadgetDescription> {
    const loading = this.#loading;
    if (loading === undefined) throw new MessageError("said that it is loaded when nobody asked");
    this.#loading = undefined;
    this.#finish();
    return loading;
  }

  #thrown(error: Extract<FromGadget, { readonly type: "error" }>["error"]): Error {
    return thrownInGadget(error, this.#places());
  }

  /** With places in its source, where it tells places. */
  #placed(text: string): string {
    return placedText(text, this.#places());
  }

  #places() {
    const { folderUrl } = this.#process;
    return { folderUrl, mapStack: (stack: string) => this.#options.mapStack(stack, folderUrl) };
  }

  #open(id: number): OpenCall {
    const call = this.#calls.get(id);
    if (call === undefined) throw new MessageError("spoke of a call that is not open");
    return call;
  }

  /** The process has ended it. */
  #closed(id: number): OpenCall {
    const call = this.#open(id);
    this.#calls.delete(id);
    this.#heard(id);
    this.#begun(id);
    return call;
  }

  /** @param id of a call that was sent; of any other it says nothing */
  #begun(id: number): void {
    if (this.#beginning !== id) return;
    this.#beginning = undefined;
    this.#tellFree();
  }

  /** Its last word of this call. */
  #cancelled(id: number): void {
    if (!this.#open(id).isSettled) throw new MessageError("cancelled a call by itself");
    this.#closed(id);
  }

  /** What is told of a call that has ended is late, and no mistake; of one that never was, it is. */
  #known(id: number): OpenCall | undefined {
    if (id >= this.#nextId || id === 0) throw new MessageError("spoke of a call that never was");
    return this.#calls.get(id);
  }

  #log(id: number | undefined, text: string): void {
    if (id !== undefined) return this.#known(id)?.log(text);
    for (const call of this.#calls.values()) {
      if (!call.isSettled) return call.log(text);
    }
    const kept = text.slice(0, MOST_STRAY_CHARACTERS - this.#strayCharacters);
    this.#strayCharacters += kept.length;
    if (kept !== "") this.#stray.push(kept);
  }

  #giveStray({ log }: CallListener): void {
    const stray = this.#stray;
    this.#stray = [];
    this.#strayCharacters = 0;
    stray.forEach((text) => log(text));
  }

  /**
   * What is asked for by no call, or by one that has ended, such as by a timer, is done only while another call is open: else nobody wants
   * anything of the gadget.
   */
  #placeOf(id: number | undefined): Pick<AskedEffect, "signal" | "within"> {
    const call = id === undefined ? undefined : this.#known(id);
    if (call !== undefined) return { signal: call.signal, within: call.within };
    if (this.#loading !== undefined) return {};
    for (const open of this.#calls.values()) if (!open.isSettled) return {};
    return { signal: AbortSignal.abort(new DOMException("No call of the gadget is open", "AbortError")) };
  }

  /** Only looking changes nothing. Of what no call asks for, any may be the one. */
  #noteAct({ call, op: { kind } }: Pick<WaitedEffect, "call" | "op">): void {
    if (LOOKING.has(kind)) return;
    for (const each of call === undefined ? this.#calls.values() : [this.#known(call)]) each?.act();
  }

  #cancel(call: OpenCall, reason: unknown): void {
    if (call.isSettled) return;
    this.#unheard.set(call.id, this.#limit(call));
    this.#begin(); // whoever calls next waits for the answer
    this.#say({ type: "cancel", id: call.id, reason: messageOf(reason).slice(0, MOST_REASON_CHARACTERS) });
    call.fail(reason);
  }

  #limit(call: OpenCall): Disposable {
    return quietTimer(this.#options.limits.cancelMs, () => this.#onUnheard(call));
  }

  #onUnheard(call: OpenCall): void {
    if (this.#isOver) return;
    // It cannot hear anything while it waits for an effect, which ends with the call that wants it.
    if (this.#blocking !== undefined && !this.#blocking.isSettled) {
      this.#unheard.set(call.id, this.#limit(call));
      return;
    }
    this.#die(`was ended: the call "${call.name}" held it up and did not stop when it was cancelled`, {
      isHeldUp: true,
    });
  }

  #heard(id: number): void {
    const limit = this.#unheard.get(id);
    if (limit === undefined) return;
    limit[Symbol.dispose]();
    this.#unheard.delete(id);
    this.#finish();
    this.#tellFree();
  }

  #tellFree(): void {
    if (!this.isFree && !this.#isOver) return;
    const whenFree = this.#whenFree;
    this.#whenFree = undefined;
    whenFree?.resolve();
  }

  /**
   * Answers what the process asks for on its stdout and waits for on its stdin, one thing after the other; comes back at the end of its stdout.
   *
   * @throws {MessageError | FrameError} when something else is on it, and what the pipe throws
   */
  async #answerWaiting(): Promise<void> {
    const { waiting } = this.#process;
    const reader = new FrameReader({ maxBytes: this.#options.limits.maxFrameBytes });
    for (let piece = await waiting.read(); piece !== undefined; piece = await waiting.read()) {
      for (const { value, bytes } of reader.push(piece)) {
        const message = readMessage(value, bytes.length);
        if (message.type !== "effect") throw new MessageError(`found "${message.type}" on its stdout`);
        const answer = await this.#performWaited(message, bytes);
        await waiting.write(encodeFrame(answer.value, answer.bytes));
      }
    }
  }

  async #performWaited(asked: WaitedEffect, bytes: Uint8Array): Promise<EffectAnswer> {
    const { call } = asked;
    this.#blocking = call === undefined ? undefined : this.#known(call);
    this.#noteAct(asked);
    try {
      return await this.#effects.askNow({ ...asked, bytes, ...this.#placeOf(call) });
    } finally {
      this.#blocking = undefined;
    }
  }

  #watchMemory(): void {
    if (this.#memoryWatch !== undefined || this.#isOver) return;
    this.#memoryWatch = quietTimer(MEMORY_POLL_MS, () => this.#lookAtMemory());
  }

  #lookAtMemory(): void {
    this.#memoryWatch = undefined;
    if (this.#isOver) return;
    if (this.#waiters === 0) return this.#process.hold(false); // not with each call, which would take as long as its frames
    const { memoryBytes } = this.#options.limits;
    const used = this.#process.memoryBytes();
    if (used === undefined || used <= memoryBytes + RUNTIME_BYTES) return this.#watchMemory();
    this.#die(`ran out of memory: ${memoryWords(memoryBytes)}`);
  }

  #onChannelEnd(error: unknown): void {
    if (error instanceof MessageError || error instanceof FrameError) return this.#onBadInput(error);
    this.#leave(() => "closed its connection");
    this.#process.ended.then((end) => this.#die(this.#endWords(end)));
  }

  /** It ends, in one way or the other: soon there will be nothing more to hear. */
  #leave(words: () => string): void {
    if (this.#isOver || this.#isLeaving) return;
    this.#isLeaving = true;
    this.#leaving = quietTimer(LAST_FRAMES_MS, () => this.#die(words()));
  }

  /** Of a pipe that broke, the end of the process tells more. */
  #onBadInput(error: unknown): void {
    if (!(error instanceof MessageError || error instanceof FrameError)) return;
    this.#die(`said something that is no message: it ${error.message}`);
  }

  #endWords(end: GadgetProcessEnd): string {
    return endWords(end, this.#options.limits.memoryBytes);
  }

  #tooMuch(type: CallRequest["type"]): Error {
    const what = type === "call" ? "its input and the results it depends on take" : "the result takes";
    const most = `${this.#options.limits.maxFrameBytes} bytes`;
    return new InputError(`Cannot hand this to gadget ${this.#options.shownFile}: ${what} more than ${most}`);
  }

  /**
   * @param how.isLast whether no other process will take its place
   * @param how.isHeldUp whether it is the fault of a call that was given up: the others are made again, unless something has come of them
   */
  #die(
    words: string,
    { isLast = false, isHeldUp = false }: { readonly isLast?: boolean; readonly isHeldUp?: boolean } = {},
  ): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const text = `The process of gadget ${this.#options.shownFile} ${words}`;
    const error = new GadgetProcessError(text);
    this.#channel.close();
    this.#effects.end(error);
    for (const timer of [...this.#unheard.values(), this.#memoryWatch, this.#leaving]) {
      timer?.[Symbol.dispose]();
    }
    this.#unheard.clear();
    this.#options.onOver();
    this.#loading?.reject(error);
    const unsent = this.#channel.unsentCalls();
    for (const call of this.#calls.values()) {
      if (unsent.has(call.id) || isHeldUp && !call.hasActed) call.fail(new UnsentError(text));
      else call.fail(isLast ? error : new GadgetProcessError(`${text} (${this.#callWords(call)})`));
    }
    this.#calls.clear();
    this.#tellFree();
    this.#process.end().catch(() => undefined);
  }

  #callWords({ name }: OpenCall): string {
    return `in the call "${name}", which is not made again; the next one starts a new process`;
  }
}
