// A process of a gadget in memory: it speaks in frames, and does whatever a test wants.
import type { Json } from "../mod.ts";
import { encodeFrame, FrameReader } from "../lib/core/frames.ts";
import type { FromGadget, GadgetDescription, ToGadget } from "../lib/core/gadget_message.ts";
import type {
  BytePipe,
  GadgetProcess,
  GadgetProcessEnd,
  StartGadgetProcess,
} from "../lib/host/commands/gadget_process.ts";
import type { PerformEffect } from "../lib/sandbox/gadget/effects.ts";
import {
  type GadgetCallOptions,
  GadgetHost,
  type GadgetHostLimits,
  type GadgetHostOptions,
} from "../lib/sandbox/gadget/host.ts";

const DESCRIPTION: GadgetDescription = {
  name: "Fake",
  isLinked: true,
  hasFormat: true,
  isValidating: false,
  warnings: [],
};

/** Bytes that one side writes and the other reads. */
class Wire {
  readonly #pieces: (Uint8Array | undefined)[] = [];
  #reader: ((piece: Uint8Array | undefined) => void) | undefined;

  put(piece: Uint8Array | undefined): void {
    if (this.#reader === undefined) return void this.#pieces.push(piece);
    this.#reader(piece);
    this.#reader = undefined;
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#pieces.length > 0) return Promise.resolve(this.#pieces.shift());
    return new Promise((resolve) => this.#reader = resolve);
  }
}

/** What the process does with what it is told. */
export type Behaviour = (message: ToGadget, process: FakeProcess) => void;

/** One process. */
export class FakeProcess implements GadgetProcess {
  readonly pid = 0;
  readonly folderUrl = "file:///tmp/fake/";
  readonly channel: BytePipe;
  readonly waiting: BytePipe;
  readonly ended: Promise<GadgetProcessEnd>;
  /** What it was told. */
  readonly told: ToGadget[] = [];
  /** What came on its stdin. */
  readonly answers: unknown[] = [];
  readonly #out = new Wire();
  readonly #stdout = new Wire();
  readonly #end = Promise.withResolvers<GadgetProcessEnd>();
  isKilled = false;
  /** As a real one does, it keeps us alive while somebody waits for it. */
  #life: ReturnType<typeof setInterval> | undefined;
  isReading = true;
  writtenBytes = 0;
  memory: number | undefined;
  hasModules = true;

  constructor(behave: Behaviour) {
    this.hold(true);
    const reader = new FrameReader({ maxBytes: 2 ** 30 });
    const stdin = new FrameReader({ maxBytes: 2 ** 30 });
    this.ended = this.#end.promise;
    this.channel = {
      read: () => this.#out.read(),
      write: (bytes) => {
        this.writtenBytes += bytes.length;
        if (!this.isReading) return new Promise(() => {});
        for (const { value } of reader.push(bytes)) {
          this.told.push(value as ToGadget);
          behave(value as ToGadget, this);
        }
        return Promise.resolve();
      },
    };
    this.waiting = {
      read: () => this.#stdout.read(),
      write: (bytes) => {
        this.answers.push(...stdin.push(bytes).map(({ value }) => value));
        return Promise.resolve();
      },
    };
  }

  say(message: FromGadget, bytes?: Uint8Array): void {
    this.sayBytes(encodeFrame(message, bytes));
  }

  sayBytes(bytes: Uint8Array): void {
    if (!this.isKilled) this.#out.put(bytes);
  }

  sayWaiting(message: FromGadget): void {
    this.#stdout.put(encodeFrame(message));
  }

  /** It ends by itself. */
  exit(end: Partial<GadgetProcessEnd> = {}): void {
    this.#out.put(undefined);
    this.#stdout.put(undefined);
    this.#end.resolve({ exitCode: 0, stderr: "", ...end });
  }

  memoryBytes(): number | undefined {
    return this.memory;
  }

  forgetModules(): void {
    this.hasModules = false;
  }

  get isHeld(): boolean {
    return this.#life !== undefined;
  }

  hold(isHeld: boolean): void {
    if (isHeld === this.isHeld) return;
    if (isHeld) this.#life = setInterval(() => {}, 60_000);
    else {
      clearInterval(this.#life);
      this.#life = undefined;
    }
  }

  end(): Promise<void> {
    this.isKilled = true;
    this.hold(false);
    this.exit({ exitCode: 137, signal: "SIGKILL" });
    return Promise.resolve();
  }
}

/** Starts them. */
export class FakeStart {
  readonly processes: FakeProcess[] = [];
  readonly start: StartGadgetProcess;

  constructor(behave: Behaviour) {
    this.start = ({ signal }) => {
      signal.throwIfAborted();
      const process = new FakeProcess(behave);
      this.processes.push(process);
      return Promise.resolve(process);
    };
  }

  get last(): FakeProcess {
    const process = this.processes.at(-1);
    if (process === undefined) throw new Error("nothing was started");
    return process;
  }
}

/** Loads, and leaves everything else to `behave`. */
export function loading(behave: Behaviour = () => {}): Behaviour {
  return (message, process) => {
    if (message.type === "load") return process.say({ type: "loaded", gadget: DESCRIPTION });
    behave(message, process);
    if (message.type === "call" || message.type === "format") process.say({ type: "begun", id: message.id });
  };
}

/** Gives back its input. */
export const echoing: Behaviour = loading((message, process) => {
  if (message.type === "call") process.say({ type: "result", id: message.id, value: message.input });
  if (message.type === "cancel") process.say({ type: "cancelled", id: message.id });
  if (message.type === "format") {
    process.say({ type: "result", id: message.id, value: `text ${message.result}` });
  }
});

export const LIMITS: GadgetHostLimits = {
  idleMs: 30_000,
  memoryBytes: 256 * 1024 * 1024,
  maxFrameBytes: 1024 * 1024,
  cancelMs: 30,
  startMs: 200,
};

const NO_EFFECTS: PerformEffect = () => Promise.reject(new Error("no effects here"));

/** A host of such processes. */
export function fakeHost(
  behave: Behaviour,
  options: Partial<GadgetHostOptions> = {},
): { readonly host: GadgetHost; readonly fake: FakeStart } {
  const fake = new FakeStart(behave);
  const host = new GadgetHost({
    graph: {
      hash: "0",
      modules: [{
        path: "/p/gadgets/fake.ts",
        file: "gadgets/fake.ts",
        sha256: "0",
        output: "0.js",
        code: "",
      }],
    },
    facades: {},
    root: "/p",
    surroundings: () => ({ env: {}, sys: {} }),
    limits: LIMITS,
    start: fake.start,
    shownFile: "gadgets/fake.ts",
    perform: NO_EFFECTS,
    mapStack: (stack) => stack,
    ...options,
  });
  return { host, fake };
}

/** Who listens to a call. */
export function listening(
  options: Partial<GadgetCallOptions> = {},
): GadgetCallOptions & {
  readonly logs: string[];
  readonly steps: (readonly [number, number | undefined])[];
} {
  const logs: string[] = [];
  const steps: (readonly [number, number | undefined])[] = [];
  return {
    invocationId: "c1",
    dependencies: {},
    call: { gadgetName: "Fake", invocationId: options.invocationId ?? "c1", parameters: {} },
    signal: new AbortController().signal,
    log: (text) => void logs.push(text),
    progress: (done, total) => void steps.push([done, total]),
    ...options,
    logs,
    steps,
  };
}

/** Lets everything that is ready happen. */
export function turn(waitMs = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** Waits until something is so. @throws {Error} after 2 s */
export async function until(isSo: () => boolean): Promise<void> {
  for (let left = 400; left > 0; left--) {
    if (isSo()) return;
    await turn(5);
  }
  throw new Error(`it did not come to ${isSo}`);
}

/** All of a stream. */
export async function joined(stream: unknown): Promise<Json> {
  let text = "";
  for await (const piece of stream as AsyncIterable<string>) text += piece;
  return text;
}
