// Programs that are talked to over their pipes, with no policy: whoever starts one has asked before.
import { join } from "node:path";
import {
  atMost,
  type PipeEnd,
  type PipeOptions,
  type PipeProcess,
  type Pipes,
  timerTurn,
} from "../../core/core.ts";
import { endGroup, killGroup, startChild } from "./child.ts";
import { atExit } from "../process.ts";

/** How long a program has to end by itself once its stdin is closed. */
const CLOSE_MS = 500;
/** How long output may still come after the end of the program, from something it left behind. */
const LAST_STDOUT_MS = 2_000;
const LAST_STDERR_MS = 200;
/** A pipe that is always full would leave no turn of the event loop to timers and other work. */
const CHUNKS_A_TURN = 16;

/** The programs of this machine. */
export function hostPipes(): Pipes {
  return {
    start(command, options) {
      // A path is meant as in a shell that stands in `cwd`, not where our own process happens to stand.
      const isRelative = command.includes("/") && !command.startsWith("/");
      const program = isRelative ? join(options.cwd, command) : command;
      const { args = [], cwd, env = {} } = options;
      return new HostPipeProcess(startChild(program, { args, cwd, env, stdin: "piped" }), options);
    },
  };
}

class HostPipeProcess implements PipeProcess {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly ended: Promise<PipeEnd>;
  readonly #child: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stderr: Promise<void>;
  /** Should our own process end first. */
  readonly #exit: Disposable;
  #lastWrite: Promise<void> = Promise.resolve();
  #ending: Promise<void> | undefined;
  readonly #hurry = Promise.withResolvers<void>();
  #isHeld = true;
  #hasEnded = false;

  constructor(child: Deno.ChildProcess, { onStderr = () => {} }: PipeOptions) {
    this.#child = child;
    this.#exit = atExit(() => killGroup(child));
    this.#stdin = child.stdin.getWriter();
    this.#stdin.closed.catch(() => {}); // told by the write that failed
    this.stdout = chunksOf(child);
    this.#stderr = readText(child.stderr, onStderr);
    // What it said last on stderr is there by the time anybody asks why it ended.
    this.ended = child.status.then(async ({ code }) => {
      this.#hasEnded = true;
      if (this.#ending === undefined) this.#exit[Symbol.dispose]();
      await atMost(this.#stderr, LAST_STDERR_MS);
      return { exitCode: code };
    });
  }

  write(text: string): Promise<void> {
    const written = this.#lastWrite.then(async () => {
      if (this.#hasEnded) throw new Error("it has ended");
      await this.#stdin.ready;
      await this.#stdin.write(new TextEncoder().encode(text));
    });
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) this.#child.ref();
    else this.#child.unref();
  }

  end({ now = false }: { readonly now?: boolean } = {}): Promise<void> {
    if (now) this.#hurry.resolve();
    return this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    this.hold(true);
    this.#lastWrite.then(() => this.#stdin.close()).catch(() => {});
    await atMost(Promise.race([this.#child.status, this.#hurry.promise]), CLOSE_MS);
    // A program that does not read never lets the last write go.
    this.#stdin.abort().catch(() => {});
    // Also after a normal end: nothing that it started goes on after it.
    await endGroup(this.#child, { quiet: this.#child.status, hasEnded: false });
    await this.#child.status;
    this.#exit[Symbol.dispose]();
    await this.#child.stdout.cancel().catch(() => {}); // whoever is reading it sees its end
  }
}

/** What the program writes; somebody it left behind may keep the pipe open, which is not waited for. */
async function* chunksOf(child: Deno.ChildProcess): AsyncGenerator<Uint8Array> {
  const reader = child.stdout.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let chunks = 0;
  child.status.then(() => {
    if (!isOver) timer = setTimeout(() => void reader.cancel().catch(() => {}), LAST_STDOUT_MS);
  });
  try {
    while (true) {
      const { value } = await reader.read().catch(() => ({ value: undefined })); // broken off is ended
      if (value === undefined) return;
      yield value;
      if (++chunks % CHUNKS_A_TURN === 0) await timerTurn();
    }
  } finally {
    isOver = true;
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}

async function readText(stream: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  try {
    let chunks = 0;
    for await (const chunk of stream) {
      onText(decoder.decode(chunk, { stream: true }));
      if (++chunks % CHUNKS_A_TURN === 0) await timerTurn();
    }
  } catch { /* broken off is ended */ }
  const rest = decoder.decode();
  if (rest !== "") onText(rest);
}
