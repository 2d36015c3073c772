// The process of a gadget from the outside: started with nothing that it does not need, let in by its token, and ended with all that
// belongs to it.
import { fileURLToPath, pathToFileURL } from "node:url";
import { type GadgetAddress, type GadgetGreeting, linkedSignal, oneArray } from "../../core/core.ts";
import { boundToUs, killChild, startChild } from "./child.ts";
import { type PrivateFolder, privateFolder } from "../files/private_folder.ts";
import {
  closeAnyhow,
  connectFlags,
  type GadgetConnection,
  type GadgetListener,
  listenForGadget,
  newToken,
  tokenConnection,
} from "./gadget_listener.ts";
import { atExit, denoGrants, hostEnv, isCompiled, quietTimer } from "../process.ts";

const STDERR_BYTES = 8 * 1024;
/** How long its last words may still come once it has ended. */
const LAST_WORDS_MS = 200;
const READ_BYTES = 64 * 1024;

/** Bytes in both directions. */
export interface BytePipe {
  /** Some bytes, which are valid until the next read; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Comes back when all of them were taken. For one writer at a time. */
  write(bytes: Uint8Array): Promise<void>;
}

/** How a process ended. */
export interface GadgetProcessEnd {
  readonly exitCode: number;
  /** `SIGKILL` and so on, when a signal ended it. */
  readonly signal?: string;
  /** The last 8 KiB of it. */
  readonly stderr: string;
}

/** The process of a gadget, which has said its token. */
export interface GadgetProcess {
  readonly pid: number;
  /** The `file:` URL of the folder with its modules, with a slash at its end. */
  readonly folderUrl: string;
  /** The socket. */
  readonly channel: BytePipe;
  /** Its stdout and stdin: for what it waits for without doing anything else. */
  readonly waiting: BytePipe;
  /** Settles when it has ended, for whatever reason; never fails. */
  readonly ended: Promise<GadgetProcessEnd>;
  /** Bytes that are its own; undefined where that cannot be known. */
  memoryBytes(): number | undefined;
  /** Takes the files of its modules away: they are loaded, and it wants none of them later. */
  forgetModules(): void;
  /** Whether waiting for it keeps our own process alive. At first it does. */
  hold(isHeld: boolean): void;
  /** Kills it and takes away what belongs to it; comes back when it is gone. */
  end(): Promise<void>;
}

/** What a process is started with. */
export interface StartGadgetOptions {
  /** The texts of its prepared modules by file name. */
  readonly modules: Readonly<Record<string, string>>;
  /** Of its heap. */
  readonly memoryBytes: number;
  /** Gives up and kills it; aborted, it is thrown. */
  readonly signal: AbortSignal;
}

/** Starts the process of a gadget. @throws {Error} that says why there is none, and the signal's reason */
export type StartGadgetProcess = (options: StartGadgetOptions) => Promise<GadgetProcess>;

/** Starts processes of this machine. @param options.module another module in place of ours, for tests */
export function gadgetProcesses(options: { readonly module?: string } = {}): StartGadgetProcess {
  return (wanted) => start({ ...wanted, ...options });
}

type StartOptions = StartGadgetOptions & { readonly module?: string };

async function start(options: StartOptions): Promise<GadgetProcess> {
  options.signal.throwIfAborted();
  using unused = new DisposableStack();
  const folder = unused.use(privateFolder({ outlivesNobody: true }));
  using waiting = listenForGadget(folder.path);
  const { at, listener } = waiting;
  const token = newToken();
  const child = startedChild({ ...options, at, folder: folder.path });
  const started = new StartedProcess(child, folder);
  unused.move(); // belongs to the process now
  try {
    await Promise.all([
      started.begin({ at, token }, options),
      started.connect(listener, { token, signal: options.signal }),
    ]);
    return started;
  } catch (error) {
    await started.end();
    throw error;
  }
}

function startedChild(options: StartOptions & { readonly at: GadgetAddress; readonly folder: string }) {
  const { command, args, env } = gadgetCommand(options);
  return startChild(command, {
    args,
    env,
    inherit: [],
    cwd: options.folder,
    stdin: "piped",
    ...boundToUs(),
  });
}

class StartedProcess implements GadgetProcess {
  readonly folderUrl: string;
  readonly waiting: BytePipe & { close(): void };
  readonly ended: Promise<GadgetProcessEnd>;
  readonly #child: Deno.ChildProcess;
  readonly #folder: PrivateFolder;
  /** Should our own process end first. */
  readonly #exit: Disposable;
  #connection: GadgetConnection | undefined;
  #channel: BytePipe | undefined;
  #isHeld = true;
  #ending: Promise<void> | undefined;

  constructor(child: Deno.ChildProcess, folder: PrivateFolder) {
    this.#child = child;
    this.#folder = folder;
    this.#exit = atExit(() => killChild(child));
    this.folderUrl = `${pathToFileURL(folder.path).href}/`;
    this.waiting = pipesOf(child);
    this.ended = endOf(child);
  }

  get pid(): number {
    return this.#child.pid;
  }

  get channel(): BytePipe {
    if (this.#channel === undefined) throw new Error("it has not connected");
    return this.#channel;
  }

  /** The first line on its stdin, and its modules while it is loaded itself. */
  async begin(
    greeting: GadgetGreeting,
    { modules }: Pick<StartGadgetOptions, "modules">,
  ): Promise<void> {
    const said = this.waiting.write(new TextEncoder().encode(`${JSON.stringify(greeting)}\n`));
    this.#folder.write(modules);
    await said.catch(() => undefined); // it has ended: whoever waits for it learns why
  }

  /** @throws {Error} when it ends before */
  async connect(
    listener: GadgetListener["listener"],
    { token, signal }: { readonly token: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const given = new AbortController();
    using linked = linkedSignal([signal], given);
    this.ended.then((end) => given.abort(new EarlyEnd(end)));
    this.#connection = await tokenConnection(listener, { token, signal: linked.signal });
    if ("setNoDelay" in this.#connection) this.#connection.setNoDelay(true); // two small frames one after the other
    this.#channel = channelOf(this.#connection);
  }

  memoryBytes(): number | undefined {
    return ownMemoryOf(this.#child.pid);
  }

  forgetModules(): void {
    this.#folder[Symbol.dispose]();
  }

  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    holdChild(this.#child, isHeld);
    if (isHeld) this.#connection?.ref();
    else this.#connection?.unref();
  }

  end(): Promise<void> {
    return this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    this.hold(true);
    killChild(this.#child);
    if (this.#connection !== undefined) closeAnyhow(this.#connection);
    await this.ended;
    this.waiting.close();
    this.#exit[Symbol.dispose]();
    this.#folder[Symbol.dispose]();
    await this.#folder.settled();
  }
}

/** It ended before it had connected. */
export class EarlyEnd extends Error {
  override readonly name = "EarlyEnd";
  readonly end: GadgetProcessEnd;

  constructor(end: GadgetProcessEnd) {
    super(`it ended before it was ready (exit code ${end.exitCode})`);
    this.end = end;
  }
}

async function endOf(child: Deno.ChildProcess): Promise<GadgetProcessEnd> {
  let kept: Uint8Array = new Uint8Array();
  const reading = async (): Promise<void> => {
    for await (const chunk of child.stderr) {
      const size = kept.length + chunk.length;
      kept = oneArray([kept, chunk], size).slice(-STDERR_BYTES);
    }
  };
  const read = reading().catch(() => undefined); // broken off is ended
  const { code, signal } = await child.status;
  const late = Promise.withResolvers<void>();
  using _timer = quietTimer(LAST_WORDS_MS, late.resolve);
  await Promise.race([read, late.promise]);
  return { exitCode: code, ...(signal !== null && { signal }), stderr: new TextDecoder().decode(kept) };
}

function channelOf(connection: GadgetConnection): BytePipe {
  const buffer = new Uint8Array(READ_BYTES);
  return {
    async read() {
      const length = await connection.read(buffer);
      return length === null ? undefined : buffer.subarray(0, length);
    },
    async write(bytes) {
      // Nearly always all of it at once: another view of it is not needed then.
      let at = await connection.write(bytes);
      while (at < bytes.length) at += await connection.write(bytes.subarray(at));
    },
  };
}

/** Locks both streams from the start: they are nobody else's. */
function pipesOf(child: Deno.ChildProcess): BytePipe & { close(): void } {
  const reader = child.stdout.getReader();
  const writer = child.stdin.getWriter();
  writer.closed.catch(() => undefined); // told by the write that failed
  return {
    read: async () => (await reader.read()).value,
    write: (bytes) => writer.write(bytes),
    close() {
      for (const closed of [writer.abort(), reader.cancel()]) closed.catch(() => undefined);
    },
  };
}

/** One that has ended holds nobody, and may have done so before its end is told. */
function holdChild(child: Deno.ChildProcess, isHeld: boolean): void {
  try {
    if (isHeld) child.ref();
    else child.unref();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/**
 * Bytes of memory that belong to a process alone, without the program's own file, of which all processes share one copy. Undefined
 * where nobody can tell: only Linux says it, and only to a process with all of Deno's permissions.
 */
function ownMemoryOf(pid: number): number | undefined {
  const path = `/proc/${pid}/status`;
  if (Deno.build.os !== "linux" || !denoGrants({ name: "read", path })) return undefined;
  try {
    const kilobytes = /^RssAnon:\s*(\d+) kB$/m.exec(Deno.readTextFileSync(path))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined; // it has ended, or all of /proc is closed
  }
}

/** The argument that makes the compiled binary the process of a gadget. */
const GADGET_PROCESS_ARGUMENT = "gadget-process";

/** What a gadget's process is started with: nothing that is not said here. */
interface GadgetCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How it is started here. @param options.folder of its prepared modules; @param options.memoryBytes of its heap */
export function gadgetCommand(options: {
  readonly at: GadgetAddress;
  readonly folder: string;
  readonly memoryBytes: number;
  /** URL of the module that runs in it; default: lib/sandbox/inside/inside.ts. */
  readonly module?: string;
}): GadgetCommand {
  const heap = `--max-old-space-size=${Math.max(1, Math.floor(options.memoryBytes / 1024 / 1024))}`;
  return isCompiled() ? compiledCommand(heap) : denoCommand(heap, options);
}

function compiledCommand(heap: string): GadgetCommand {
  return {
    command: Deno.execPath(),
    args: [GADGET_PROCESS_ARGUMENT],
    env: { ...systemVariables(), DENO_V8_FLAGS: heap },
  };
}

function denoCommand(
  heap: string,
  { at, folder, module }: { readonly at: GadgetAddress; readonly folder: string; readonly module?: string },
): GadgetCommand {
  if (folder.includes(",")) {
    throw new Error(
      `Cannot start a gadget: the folder of temporary files has a comma in its name, which divides Deno's flags: ` +
        `${folder}; set TMPDIR to another one`,
    );
  }
  return bareDeno({
    flags: [
      `--v8-flags=${heap},--disallow-code-generation-from-strings`,
      ...connectFlags(at),
      `--allow-read=${folder}`,
    ],
    module: module ?? new URL("../../sandbox/inside/inside.ts", import.meta.url).href,
  });
}

/** A Deno that runs one of our own modules and may do nothing but what its flags say. */
function bareDeno(
  { flags = [], module }: { readonly flags?: readonly string[]; readonly module: string },
): GadgetCommand {
  return {
    command: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--cached-only",
      ownConfig(),
      "--no-lock",
      "--no-check",
      "--no-code-cache", // what V8 makes of a module under other flags is none for Orrery, and would take the place of its own
      ...flags,
      module,
    ],
    env: { ...systemVariables(), ...cacheVariables(), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  };
}

/**
 * What is the same in it as in Orrery's own: how modules are compiled. Deno keeps one compiled form of a module, so without it the modules of
 * both would be compiled anew at each start of either. None is looked for beside what is run.
 */
function ownConfig(): string {
  const config = new URL("../gadget_process.json", import.meta.url);
  return config.protocol === "file:" ? `--config=${fileURLToPath(config)}` : "--no-config";
}

/** Where Deno has put the compiled form of our own modules: without it they are compiled again at each start. */
function cacheVariables(): Readonly<Record<string, string>> {
  const own = variables(["DENO_DIR"]);
  return "DENO_DIR" in own ? own : variables(["HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"]);
}

/** Windows opens no socket without. */
function systemVariables(): Readonly<Record<string, string>> {
  return Deno.build.os === "windows" ? variables(["SYSTEMROOT"]) : {};
}

function variables(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => {
    const value = hostEnv(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
