// Orrery's side of the process of a gadget, as small as can be: it starts the real process with its real flags, and keeps what it says.

import { pathToFileURL } from "node:url";
import type { GadgetCall } from "../mod.ts";
import { encodeFrame, FrameReader } from "../lib/core/frames.ts";
import type { ToGadget } from "../lib/core/gadget_message.ts";
import { listenForGadget } from "../lib/host/commands/gadget_listener.ts";
import { gadgetCommand } from "../lib/host/commands/gadget_process.ts";

/** What a process has said. */
export interface Said {
  readonly type: string;
  readonly id?: number;
  readonly [field: string]: unknown;
}

/** How a process is started. */
export interface StartSide {
  /** The prepared modules by file name; the entry is `0.js`. */
  readonly modules: Readonly<Record<string, string>>;
  /** A compiled binary that is the process, in place of Deno. */
  readonly binary?: string;
  readonly maxFrameBytes?: number;
  /** URL of the module that runs in it; default: one with stand-in facades. */
  readonly module?: string;
  /** Variables of the process besides the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
}

const MAX_BYTES = 64 * 1024 * 1024;
const ENTRY = new URL("./_gadget_process_entry.ts", import.meta.url).href;

/** A running process of a gadget. */
export class GadgetSide implements AsyncDisposable {
  readonly folder: string;
  /** What it has said first. */
  readonly token: string;
  readonly child: Deno.ChildProcess;
  readonly #connection: Deno.Conn;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #maxFrameBytes: number;
  readonly #said: { readonly said: Said; readonly bytes: Uint8Array }[] = [];
  readonly #stderr: Promise<string>;
  readonly #stdoutEnd: Promise<void>;
  #onSaid: () => void = () => undefined;
  #isOver = false;
  #isClosed = false;
  /** What is performed for an effect. */
  perform: (op: { readonly kind: string; readonly path?: string }, bytes: Uint8Array) => Promise<string> = (
    op,
  ) => Promise.resolve(`text of ${op.path}`);

  private constructor(
    child: Deno.ChildProcess,
    connection: Deno.Conn,
    options: StartSide & { folder: string; token: string },
  ) {
    this.child = child;
    this.#connection = connection;
    this.folder = options.folder;
    this.token = options.token;
    this.#maxFrameBytes = options.maxFrameBytes ?? MAX_BYTES;
    this.#stdin = child.stdin.getWriter();
    this.#stderr = new Response(child.stderr).text();
    void this.#hear();
    this.#stdoutEnd = this.#hearStdout();
  }

  static async start(options: StartSide): Promise<GadgetSide> {
    const folder = await Deno.makeTempDir({ prefix: "orrery-side-" });
    for (const [name, text] of Object.entries(options.modules)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    using waiting = listenForGadget(folder);
    const { at, listener } = waiting;
    const { module = ENTRY } = options;
    const usual = gadgetCommand({ at, folder, memoryBytes: 256 * 1024 * 1024, module });
    const binary = options.binary ?? Deno.env.get("ORRERY_GADGET_BINARY");
    const { command, args, env } = binary === undefined ? usual : {
      command: binary,
      args: ["gadget-process"],
      env: { DENO_V8_FLAGS: "--max-old-space-size=256" },
    };
    const child = new Deno.Command(command, {
      args: [...args],
      env: { ...env, ...options.env },
      clearEnv: true,
      cwd: folder,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const greeter = child.stdin.getWriter();
    await greeter.write(new TextEncoder().encode(`${JSON.stringify({ at, token: "ab".repeat(32) })}\n`));
    greeter.releaseLock();
    const connection = await Promise.race([
      listener.accept(),
      child.status.then(async () => {
        throw new Error(`the process ended: ${await new Response(child.stderr).text()}`);
      }),
    ]);
    if ("setNoDelay" in connection) connection.setNoDelay(true);
    let token = "";
    while (token.length < 64) {
      const bytes = new Uint8Array(64 - token.length);
      const count = await connection.read(bytes);
      if (count === null) break;
      token += new TextDecoder().decode(bytes.subarray(0, count));
    }
    return new GadgetSide(child, connection, { ...options, folder, token });
  }

  /** Starts it, and waits until the gadget is loaded, or is not. */
  static async load(options: StartSide): Promise<{ readonly side: GadgetSide; readonly loaded: Said }> {
    const side = await GadgetSide.start(options);
    await side.sendLoad();
    return { side, loaded: await side.next("loaded", "load-failed") };
  }

  send(message: ToGadget, bytes?: Uint8Array): Promise<void> {
    return writeAll(this.#connection, encodeFrame(message, bytes));
  }

  sendLoad(modules: Readonly<Record<string, string>> = {}): Promise<void> {
    const folderUrl = pathToFileURL(this.folder).href;
    const entries = Object.entries(modules).map(([name, output]) => [name, `${folderUrl}/${output}`]);
    return this.send({
      type: "load",
      entry: `${folderUrl}/0.js`,
      modules: Object.fromEntries(entries),
      root: "/project",
      env: { GRANTED: "yes" },
      sys: {},
      maxFrameBytes: this.#maxFrameBytes,
      maxResultBytes: Math.min(this.#maxFrameBytes - 256, 16 * 1024 * 1024),
    });
  }

  /** Begins a call. */
  begin(id: number, input: Readonly<Record<string, string | number | boolean | null>> = {}): Promise<void> {
    return this.send({
      type: "call",
      id,
      input,
      invocationId: `c${id}`,
      dependencies: {},
      call: callOf(input),
    });
  }

  /** Calls it, and gives the frame that ends the call. */
  async call(
    id: number,
    input: Readonly<Record<string, string | number | boolean | null>> = {},
  ): Promise<Said> {
    await this.begin(id, input);
    return await this.end(id);
  }

  /** The frame that ends a call. */
  end(id: number): Promise<Said> {
    return this.#find((said) =>
      said.id === id && ["result", "error", "invalid", "cancelled"].includes(said.type)
    );
  }

  /** The next frame of one of these types that nobody has taken yet. */
  next(...types: readonly string[]): Promise<Said> {
    return this.#find((said) => types.includes(said.type));
  }

  /** The texts of the log until now, taken. */
  logs(): readonly Said[] {
    return this.#said.splice(0).map(({ said }) => said).filter(({ type }) => type === "log");
  }

  /** The frames of a type until now, taken. */
  all(type: string): readonly Said[] {
    const all = this.#said.splice(0);
    this.#said.push(...all.filter(({ said }) => said.type !== type));
    return all.flatMap(({ said }) => said.type === type ? [said] : []);
  }

  /** How many frames of a type wait to be taken. */
  count(type: string): number {
    return this.#said.filter(({ said }) => said.type === type).length;
  }

  get stderr(): Promise<string> {
    return this.#stderr;
  }

  /** As when Orrery dies. */
  closeSocket(): void {
    this.#connection.close();
    this.#isClosed = true;
    this.#isOver = true;
  }

  async closeStdin(): Promise<void> {
    await this.#stdin.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.child.kill("SIGKILL");
    } catch {
      // it has ended
    }
    if (!this.#isClosed) this.#connection.close();
    this.#isClosed = this.#isOver = true;
    await this.child.status;
    await this.#stdoutEnd;
    await this.#stderr;
    await this.#stdin.close().catch(() => undefined);
    await Deno.remove(this.folder, { recursive: true });
  }

  async #find(isIt: (said: Said) => boolean): Promise<Said> {
    while (true) {
      const at = this.#said.findIndex(({ said }) => isIt(said));
      const [found] = at < 0 ? [] : this.#said.splice(at, 1);
      if (found !== undefined) return found.said;
      if (this.#isOver) throw new Error(`the process has ended: ${await this.#stderr}`);
      await new Promise<void>((resolve) => this.#onSaid = resolve);
    }
  }

  async #hear(): Promise<void> {
    const reader = new FrameReader({ maxBytes: MAX_BYTES });
    const buffer = new Uint8Array(65_536);
    try {
      for (
        let count = await this.#connection.read(buffer);
        count !== null;
        count = await this.#connection.read(buffer)
      ) {
        for (const { value, bytes } of reader.push(buffer.subarray(0, count))) {
          const said = saidIn(value);
          if (said.type === "effect") {
            void this.#answer(said, bytes, (frame) => writeAll(this.#connection, frame));
          }
          this.#said.push({ said, bytes });
        }
        this.#onSaid();
      }
    } catch {
      // it was closed
    }
    this.#isOver = true;
    this.#onSaid();
  }

  async #hearStdout(): Promise<void> {
    const reader = new FrameReader({ maxBytes: MAX_BYTES });
    for await (const piece of this.child.stdout) {
      for (const { value, bytes } of reader.push(piece)) {
        await this.#answer(saidIn(value), bytes, (frame) => this.#stdin.write(frame)).catch(() => undefined);
      }
    }
  }

  async #answer(said: Said, asked: Uint8Array, write: (frame: Uint8Array) => Promise<void>): Promise<void> {
    const { effect, op } = said;
    if (typeof effect !== "number" || !isOp(op)) throw new Error("no effect");
    try {
      const bytes = new TextEncoder().encode(await this.perform(op, asked));
      await write(encodeFrame({ type: "effect-done", effect, ok: null }, bytes));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await write(encodeFrame({ type: "effect-failed", effect, error: { code: "refused", message } }));
    }
  }
}

function callOf(parameters: Readonly<Record<string, unknown>>): GadgetCall {
  return { gadgetName: "Probe", invocationId: "c", parameters };
}

function isOp(op: unknown): op is { readonly kind: string; readonly path?: string } {
  return typeof op === "object" && op !== null && "kind" in op && typeof op.kind === "string";
}

function saidIn(value: unknown): Said {
  if (typeof value === "object" && value !== null && "type" in value && typeof value.type === "string") {
    return { ...value, type: value.type };
  }
  throw new Error("no message");
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
