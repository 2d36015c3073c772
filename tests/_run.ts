// Runs the command line as a user would, with an environment of its own, so that neither the keys nor the settings of
// whoever runs the tests reach it: inside the test's own process, since most of a command's time is that of its start. The
// binary and tests that say so have a process for each.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { main, type Program, type ProgramOutput } from "../main.ts";

/** Whether this is the oldest Deno that is supported. */
export const isDeno26: boolean = Deno.version.deno.startsWith("2.6.");

/** The folder of the project, without a slash at its end. */
export const PROJECT_ROOT: string = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** What a run of the command line gave. */
export interface RunResult {
  /** 128 + the number of the signal when one ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run it. */
export interface RunOptions {
  /** Default: the folder of the project. */
  readonly cwd?: string;
  /** Default: an empty standard input. */
  readonly stdin?: string | Uint8Array;
  /** Added to what `testEnvironment` gives. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default 30,000. */
  readonly timeoutMs?: number;
  /** In a process of its own: for what belongs to a process, such as its modules, its end and what it owns. Default: inside this one. */
  readonly alone?: boolean;
  /** Kinds of files and runs besides those of Orrery; inside this process alone. */
  readonly kinds?: Program["kinds"];
}

/**
 * The program and the arguments that stand for `orrery`: the binary that `ORRERY_BINARY` names (a relative path
 * is one from the project), else this Deno with main.ts.
 */
export function orreryCommand(): readonly [program: string, ...args: string[]] {
  const binary = compiledBinary();
  return binary === undefined ? denoCommand() : [binary];
}

/** The binary that `ORRERY_BINARY` names, absolute; on Windows its name may stand without `.exe`. */
export function compiledBinary(): string | undefined {
  const named = Deno.env.get("ORRERY_BINARY") ?? "";
  if (named === "") return undefined;
  const ending = Deno.build.os === "windows" && !named.endsWith(".exe") ? ".exe" : "";
  return resolve(PROJECT_ROOT, named + ending);
}

/** The program and the arguments of `orrery` without a binary: this Deno with main.ts. */
export function denoCommand(): readonly [program: string, ...args: string[]] {
  return [
    Deno.execPath(),
    "run",
    "-A",
    "--quiet",
    "--config",
    join(PROJECT_ROOT, "deno.json"),
    join(PROJECT_ROOT, "main.ts"),
  ];
}

/**
 * Runs `orrery` with these arguments and waits for its end.
 *
 * @throws {Error} when it takes longer than `timeoutMs`; the message holds what it had printed.
 */
export function orrery(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const isInside = runsInside() && options.alone !== true;
  return isInside ? runInside(args, options) : runProgram([...orreryCommand(), ...args], options);
}

/** Whether commands run inside this process, where they may. */
export function runsInside(): boolean {
  return compiledBinary() === undefined;
}

/** What a command that runs inside this process finds around it, and what it has written. */
export function testProgram(options: Pick<RunOptions, "cwd" | "stdin" | "env" | "kinds"> = {}): {
  readonly program: Program;
  readonly stdout: { readonly text: string };
  readonly stderr: { readonly text: string };
} {
  const stdout = new Written();
  const stderr = new Written();
  const env = new Map(Object.entries({ ...testEnvironment(), ...options.env }));
  const program: Program = {
    stdin: new GivenInput(options.stdin),
    stdout,
    stderr,
    env: { get: (name) => env.get(name), toObject: () => Object.fromEntries(env) },
    cwd: () => options.cwd ?? PROJECT_ROOT,
    signals: testSignals,
    kinds: options.kinds,
  };
  return { program, stdout, stderr };
}

/** Deno 2.6 goes on waiting for signals when nobody listens any more, which its tests take for a leak. */
export const testSignals: Program["signals"] = isDeno26
  ? { addSignalListener: () => {}, removeSignalListener: () => {} }
  : undefined;

async function runInside(args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { program, stdout, stderr } = testProgram(options);
  const timeoutMs = options.timeoutMs ?? 30_000;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `orrery ${args.join(" ")}: not done after ${timeoutMs} ms`;
    late.reject(new Error(`${message}\nstdout: ${stdout.text}\nstderr: ${stderr.text}`));
  }, timeoutMs);
  try {
    const code = await Promise.race([main(args, program), late.promise]);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    clearTimeout(timer);
  }
}

/** What was written, as one text. */
class Written implements ProgramOutput {
  readonly #decoder = new TextDecoder();
  #text = "";

  get text(): string {
    return this.#text;
  }

  isTerminal(): boolean {
    return false;
  }

  write(bytes: Uint8Array): Promise<number> {
    return Promise.resolve(this.writeSync(bytes));
  }

  writeSync(bytes: Uint8Array): number {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    return bytes.length;
  }
}

/** Standard input that holds a text, or is empty. */
class GivenInput {
  #left: Uint8Array;

  constructor(input: string | Uint8Array = "") {
    this.#left = typeof input === "string" ? new TextEncoder().encode(input) : input;
  }

  isTerminal(): boolean {
    return false;
  }

  read(buffer: Uint8Array): Promise<number | null> {
    if (this.#left.length === 0) return Promise.resolve(null);
    const part = this.#left.subarray(0, buffer.length);
    buffer.set(part);
    this.#left = this.#left.subarray(part.length);
    return Promise.resolve(part.length);
  }
}

/** Runs any program in the same way. */
export async function runProgram(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const [program = "", ...args] = command;
  const timeoutMs = options.timeoutMs ?? 30_000;
  const child = new Deno.Command(program, {
    args,
    cwd: options.cwd ?? PROJECT_ROOT,
    clearEnv: true,
    env: { ...testEnvironment(), ...options.env },
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  const [output] = await Promise.all([child.output(), feed(child, options.stdin)]).finally(() =>
    clearTimeout(timer)
  );
  const result = { code: output.code, stdout: decode(output.stdout), stderr: decode(output.stderr) };
  if (late) {
    throw new Error(
      `${
        command.join(" ")
      }: not done after ${timeoutMs} ms\nstdout: ${result.stdout}\nstderr: ${result.stderr}`,
    );
  }
  return result;
}

/** Writes standard input; a program that does not read all of it is no error. */
async function feed(child: Deno.ChildProcess, input: string | Uint8Array | undefined): Promise<void> {
  if (input === undefined) return;
  const writer = child.stdin.getWriter();
  try {
    await writer.write(typeof input === "string" ? new TextEncoder().encode(input) : input);
    await writer.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** What Deno needs to start and to find its cache, and settings folders that do not exist. */
export function testEnvironment(): Record<string, string> {
  const kept = [
    "PATH",
    "HOME",
    "TMPDIR",
    "DENO_DIR",
    "XDG_CACHE_HOME",
    "DENO_TLS_CA_STORE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "SYSTEMROOT",
  ];
  const env: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  for (const name of kept) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  const nowhere = join(Deno.env.get("TMPDIR") ?? "/tmp", "orrery-tests-no-settings");
  return { ...env, XDG_CONFIG_HOME: nowhere, XDG_STATE_HOME: nowhere };
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
