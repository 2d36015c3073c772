// One gadget module. Its process is started on first use, ended when nobody has used it for a while, and started again after it crashed.
import { pathToFileURL } from "node:url";
import {
  CutText,
  type GadgetCall,
  type GadgetDescription,
  isStream,
  type Json,
  linkedSignal,
  messageOf,
  orAborted,
} from "../../core/core.ts";
import { EarlyEnd, type GadgetProcess, type StartGadgetProcess } from "../../host/commands/gadget_process.ts";
import { quietTimer } from "../../host/process.ts";
import type { PerformEffect } from "./effects.ts";
import { endWords, GadgetProcessError, UnsentError } from "./failure.ts";
import { type CallRequest, type GadgetLimits, GadgetSession } from "./session.ts";
import { facadeFile } from "../facade_modules.ts";
import type { PreparedGraph } from "../gate/prepare_modules.ts";
import type { CallListener, CallResult } from "./call.ts";

const DEFAULT_START_MS = 20_000;
const DEFAULT_FORMAT_MS = 10_000;
/** What a result becomes here takes many times its bytes. */
const DEFAULT_RESULT_BYTES = 16 * 1024 * 1024;
/** Bytes of a frame that are not of the result. */
const ENVELOPE = 256;
/** A process that ends by itself between its start and its first call is started so often for one call. */
const MOST_STARTS = 3;

/** Bounds of a gadget's process and of its life. */
export interface GadgetHostLimits extends GadgetLimits {
  /** So long it is kept when nobody uses it. */
  readonly idleMs: number;
  /** Until it has connected, and then until its module is loaded. Default 20,000. */
  readonly startMs?: number;
  /** Of a result as JSON: of a longer one the process tells the beginning. Default 16 MiB; at most what fits into a frame. */
  readonly maxResultBytes?: number;
  /** How long its `format` may take. Default 10,000. */
  readonly formatMs?: number;
}

/** What a gadget sees of where it runs. */
export interface GadgetSurroundings {
  /** The variables that were granted. */
  readonly env: Readonly<Record<string, string>>;
  /** What was granted of the system, with its values. */
  readonly sys: Readonly<Record<string, Json>>;
}

/** What a host needs. */
export interface GadgetHostOptions {
  readonly graph: PreparedGraph;
  /** The texts of the facades that its modules may import, by specifier. */
  readonly facades: Readonly<Record<string, string>>;
  /** The project root: absolute. */
  readonly root: string;
  /** What was granted of the surroundings: asked anew with each start of the process. */
  readonly surroundings: () => GadgetSurroundings;
  readonly limits: GadgetHostLimits;
  readonly start: StartGadgetProcess;
  /** The gadget's file, as messages name it. */
  readonly shownFile: string;
  /** With what this gadget may do, and nothing else. */
  readonly perform: PerformEffect;
  /** Places of the prepared modules, which lie in this folder, to those of the source. */
  readonly mapStack: (stack: string, folderUrl: string) => string;
  /** Told which variable or fact of the system it asked for, `*` for all: what the process says itself. */
  readonly onUsed?: (kind: "env" | "sys", name: string) => void;
  /** A process is about to be started. */
  readonly onStart?: (host: GadgetHost) => void;
}

/** How long a module may take to be loaded. */
export interface LoadBounds {
  /** Gives up, and ends the process that was started for it. */
  readonly signal?: AbortSignal;
  /** From when its process is there. Default: `startMs`. */
  readonly loadMs?: number;
}

/** One call, and who listens to it. */
export interface GadgetCallOptions extends CallListener {
  readonly invocationId: string;
  readonly dependencies: Readonly<Record<string, Json>>;
  readonly call: GadgetCall;
}

/** A gadget that runs in a process of its own. */
export class GadgetHost {
  readonly #options: GadgetHostOptions;
  #session: GadgetSession | undefined;
  #starting: Promise<GadgetSession> | undefined;
  #description: GadgetDescription | undefined;
  #said = "";
  #idleWatch: Disposable | undefined;
  readonly #end = new AbortController();

  constructor(options: GadgetHostOptions) {
    this.#options = options;
  }

  /** Since when its process is not used, as `performance.now()` has it; undefined while it is used or there is none. */
  get idleSince(): number | undefined {
    return this.#session?.idleSince;
  }

  /** Whether it has a process. */
  get isRunning(): boolean {
    return this.#session !== undefined || this.#starting !== undefined;
  }

  /** What its module told the console when it was loaded last, whether that went well or not. */
  get said(): string {
    return this.#said;
  }

  /** What the gadget says of itself. @throws what its module throws, {GadgetProcessError}, and the signal's reason */
  async describe(bounds: LoadBounds = {}): Promise<GadgetDescription> {
    if (this.#description === undefined) await this.#ready(bounds);
    if (this.#description === undefined) throw this.#problem("ended before it said what it is");
    return this.#description;
  }

  /**
   * Calls the gadget. Gives its result; when that is streamed, an iterable of text for one reader as soon as its first piece is there,
   * which throws what the call fails with. Left early, it cancels the call.
   *
   * @throws {InputError} when the gadget's own schema refuses the input, {PermissionRefused} when the gadget failed with a refusal,
   * {ResultError} when its result is no JSON, {GadgetThrown} with what it throws, {GadgetProcessError} when its process is gone, and the
   * signal's reason as soon as that is aborted
   */
  call(input: Json, options: GadgetCallOptions): Promise<CallResult> {
    const { invocationId, dependencies, call } = options;
    return this.#ask({ type: "call", input, invocationId, dependencies, call }, options);
  }

  /** What a model reads of a result. @throws like `call`, and {TypeError} when it is no text */
  async format(result: Json, call: GadgetCall): Promise<string> {
    const { formatMs = DEFAULT_FORMAT_MS } = this.#options.limits;
    const abort = new AbortController();
    using _timer = quietTimer(
      formatMs,
      () => abort.abort(new Error(`format took longer than ${formatMs} ms`)),
    );
    const listener = { signal: abort.signal, log: () => undefined, progress: () => undefined };
    const text = await this.#ask({ type: "format", result, call }, listener);
    if (typeof text === "string") return text;
    if (text instanceof CutText) return text.toString();
    if (isStream(text)) await text[Symbol.asyncIterator]().return?.();
    throw new TypeError(`format of "${call.gadgetName}" must return a string`);
  }

  /** Starts the process, for a call that will come at once. What is wrong with it is told to the call. */
  warm(): void {
    if (!this.isRunning) this.#ready().catch(() => undefined);
  }

  /** Ends the process when nobody uses it. */
  rest(): void {
    if (this.idleSince !== undefined) void this.#session?.end("was ended: it was not used");
  }

  /** Ends the process, if there is one: the next call is made in a new one, with the surroundings as they are then. */
  async restart(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    await this.#session?.end("was started anew with what it was granted");
  }

  /** Ends the process, if there is one; nothing can be called any more. */
  async end(): Promise<void> {
    this.#end.abort(this.#problem("was ended with the run"));
    await this.#starting?.catch(() => undefined);
    await this.#session?.end("was ended with the run");
  }

  #ask(request: CallRequest, listener: CallListener): Promise<CallResult> {
    if (listener.signal.aborted) return Promise.reject(listener.signal.reason);
    const session = this.#session;
    if (session?.isFree !== true) return this.#askLater(request, listener);
    return session.call(request, listener).catch((error) => {
      if (error instanceof UnsentError) return this.#askLater(request, listener);
      throw error;
    });
  }

  async #askLater(request: CallRequest, listener: CallListener): Promise<CallResult> {
    for (let starts = 0; starts < MOST_STARTS;) {
      const session = await orAborted(this.#free(), listener.signal);
      if (session.isFree || session.isEnding) starts++;
      if (!session.isFree) continue; // another call was given to it first
      try {
        return await session.call(request, listener);
      } catch (error) {
        if (!(error instanceof UnsentError)) throw error;
      }
    }
    throw this.#problem("ended by itself whenever it was started");
  }

  /** A process that takes calls, or did a moment ago. */
  async #free(): Promise<GadgetSession> {
    await this.#session?.whenFree();
    return this.#session ?? await this.#ready();
  }

  #ready(bounds: LoadBounds = {}): Promise<GadgetSession> {
    if (this.#starting !== undefined) return this.#starting;
    if (this.#session !== undefined) return Promise.resolve(this.#session);
    if (this.#end.signal.aborted) return Promise.reject(this.#end.signal.reason);
    this.#options.onStart?.(this);
    const starting = this.#start(bounds).finally(() => this.#starting = undefined);
    starting.catch(() => undefined); // whoever waited may have gone
    return this.#starting = starting;
  }

  async #start({ signal, loadMs }: LoadBounds): Promise<GadgetSession> {
    const { startMs = DEFAULT_START_MS } = this.#options.limits;
    const abort = new AbortController();
    using linked = linkedSignal([abort.signal, this.#end.signal, signal]);
    const within = (ms: number, problem: GadgetProcessError): Disposable =>
      quietTimer(ms, () => abort.abort(problem));
    using starting = within(startMs, this.#problem(`was not ready within ${startMs} ms`));
    const process = await this.#startProcess(linked.signal);
    starting[Symbol.dispose]();
    using _loading = within(loadMs ?? startMs, this.#loadsTooLong(loadMs ?? startMs));
    return await this.#load(process, linked.signal);
  }

  async #startProcess(signal: AbortSignal): Promise<GadgetProcess> {
    const { limits, start } = this.#options;
    try {
      return await start({ modules: this.#modules(), memoryBytes: limits.memoryBytes, signal });
    } catch (error) {
      if (error instanceof EarlyEnd) {
        throw this.#problem(`${endWords(error.end, limits.memoryBytes)} before it was ready`);
      }
      throw error === signal.reason ? error : this.#problem(`could not be started: ${messageOf(error)}`);
    }
  }

  /** What is imported, by file name. */
  #modules(): Readonly<Record<string, string>> {
    const { graph, facades } = this.#options;
    const named = Object.entries(facades).map(([name, text]) => [facadeFile(name), text] as const);
    const wanted = named.filter(([file]) => graph.modules.some(({ code }) => code.includes(file)));
    return Object.fromEntries([...graph.modules.map(({ output, code }) => [output, code]), ...wanted]);
  }

  async #load(process: GadgetProcess, signal: AbortSignal): Promise<GadgetSession> {
    const { limits, shownFile, perform, mapStack, onUsed } = this.#options;
    const session: GadgetSession = new GadgetSession({
      process,
      limits,
      shownFile,
      perform,
      mapStack,
      onUsed,
      onOver: () => {
        if (this.#session !== session) return;
        this.#session = undefined;
        this.#idleWatch?.[Symbol.dispose]();
      },
    });
    try {
      this.#description = await orAborted(session.load(this.#loadMessage(process)), signal);
    } catch (error) {
      this.#said = session.said;
      await session.end("was ended: it could not be loaded");
      throw error;
    }
    this.#said = session.said;
    if (!this.#loadsLater()) process.forgetModules();
    this.#session = session;
    this.#watchIdle(session, limits.idleMs);
    return session;
  }

  /** Whether a module of it is imported only when it is needed: what its text says in the form that was given to it. */
  #loadsLater(): boolean {
    return this.#options.graph.modules.some(({ code }) => /\bimport(From)?\(/.test(code));
  }

  #loadMessage({ folderUrl }: GadgetProcess) {
    const { graph, root, surroundings, limits } = this.#options;
    const modules = graph.modules.map(({ path, output }) => [pathToFileURL(path).href, folderUrl + output]);
    return {
      type: "load",
      entry: `${folderUrl}0.js`,
      modules: Object.fromEntries(modules),
      root,
      ...surroundings(),
      maxFrameBytes: limits.maxFrameBytes,
      maxResultBytes: Math.min(
        limits.maxResultBytes ?? DEFAULT_RESULT_BYTES,
        limits.maxFrameBytes - ENVELOPE,
      ),
    } as const;
  }

  /** One timer for however many calls. */
  #watchIdle(session: GadgetSession, waitMs: number): void {
    this.#idleWatch = quietTimer(waitMs, () => {
      const { idleMs } = this.#options.limits;
      const leftMs = (session.idleSince ?? performance.now()) + idleMs - performance.now();
      if (leftMs <= 0) void session.end("was ended: it was not used");
      else this.#watchIdle(session, leftMs);
    });
  }

  #loadsTooLong(ms: number): GadgetProcessError {
    return new GadgetProcessError(
      `The module of gadget ${this.#options.shownFile} was not loaded within ${ms} ms: what stands at its top, or in a module that it ` +
        `imports, waits or takes too long; do that in run`,
    );
  }

  #problem(words: string): GadgetProcessError {
    return new GadgetProcessError(`The process of gadget ${this.#options.shownFile} ${words}`);
  }
}

/** As many processes are kept warm at once. */
const DEFAULT_MOST_RUNNING = 64;

/** The hosts of a run. */
export class GadgetHosts implements AsyncDisposable {
  readonly #hosts = new Set<GadgetHost>();
  readonly #mostRunning: number;

  /** @param options.mostRunning processes: before a further one is started the one that is unused for longest is ended. Default 64 */
  constructor(options: { readonly mostRunning?: number } = {}) {
    this.#mostRunning = options.mostRunning ?? DEFAULT_MOST_RUNNING;
  }

  /** A host for a gadget module; nothing is started yet. */
  add(options: Omit<GadgetHostOptions, "onStart">): GadgetHost {
    const host = new GadgetHost({ ...options, onStart: () => this.#makeRoom() });
    this.#hosts.add(host);
    return host;
  }

  /** Ends all processes; comes back when they are gone. Nothing can be called any more. */
  async end(): Promise<void> {
    await Promise.all([...this.#hosts].map((host) => host.end()));
    this.#hosts.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Where all are in use there are more for a while: a call that waited for another one could wait for itself. */
  #makeRoom(): void {
    const running = [...this.#hosts].filter((host) => host.isRunning);
    if (running.length < this.#mostRunning) return;
    const idle = running.filter((host) => host.idleSince !== undefined);
    idle.sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    idle[0]?.rest();
  }
}
