import { join } from "node:path";
import type { Effects } from "../../../core/gadget_message.ts";
import { isRecord } from "../../../core/json.ts";
import {
  bytesOf,
  collected,
  emptyInput,
  kindOf,
  loggingOutput,
  optionsOf,
  pathOf,
  refuseMode,
  signalOf,
} from "./arguments.ts";
import type { Environment, SystemFacts } from "./environment.ts";
import { denoError, notThere } from "./error.ts";
import {
  type Ask,
  asking,
  type Entry,
  FailedEffect,
  fieldOf,
  isNumber,
  list,
  look,
  maybeLook,
  step,
  type Steps,
} from "./steps.ts";

/** What the facades share. */
export interface FacadeParts {
  readonly effects: Effects;
  readonly root: string;
  readonly environment: Environment;
  readonly facts: SystemFacts;
  readonly log: (text: string) => void;
}

/** `Deno` as a gadget sees it. What it has not is a function that says so. */
export function denoFacade(parts: FacadeParts): Readonly<Record<string, unknown>> {
  const { effects, root, environment, log } = parts;
  const ask = asking(effects, denoError);
  const facade: Record<string, unknown> = {
    ...denoFiles(ask, environment),
    ...Object.fromEntries(FACTS.map((name) => [name, () => parts.facts(name)])),
    Command: commandClass(ask, { environment, log }),
    env: environment.deno,
    cwd: () => root,
    args: [],
    pid: 0,
    ppid: 0,
    noColor: true,
    mainModule: "orrery:gadget",
    execPath: () => "orrery", // what of Node the runtime loads asks for it
    build: { ...Deno.build },
    version: { ...Deno.version },
    errors: { ...Deno.errors },
    SeekMode: { ...Deno.SeekMode },
    inspect: Deno.inspect,
    memoryUsage: Deno.memoryUsage,
    refTimer: Deno.refTimer,
    unrefTimer: Deno.unrefTimer,
    stdin: emptyInput(),
    stdout: loggingOutput(log),
    stderr: loggingOutput(log),
    isatty: () => false,
    exit: (code: unknown) => {
      throw new Error(
        `the gadget called Deno.exit(${
          code === undefined ? "" : String(code)
        }); to end a call, return from run`,
      );
    },
  };
  for (const name of Object.keys(Deno)) {
    if (!Object.hasOwn(facade, name) && name !== "internal") addAbsent(facade, name);
  }
  return facade;
}

const FACTS = [
  "hostname",
  "osRelease",
  "osUptime",
  "loadavg",
  "networkInterfaces",
  "systemMemoryInfo",
  "uid",
  "gid",
];

/** A function or a class fails when it is called: code that looks whether it is there goes on. An object fails when it is read. */
function addAbsent(facade: Record<string, unknown>, name: string): void {
  const fail = (): never => {
    throw notThere(`Deno.${name}`, INSTEAD[name] ?? USUAL_INSTEAD);
  };
  // A function that can be called with `new` too.
  if (!OBJECTS.includes(name)) {
    facade[name] = function absent(): never {
      return fail();
    };
  } else Object.defineProperty(facade, name, { get: fail, enumerable: true, configurable: true });
}

const OBJECTS: readonly string[] = ["permissions", "telemetry", "lint"];

const USUAL_INSTEAD = "a gadget has files, fetch, commands and variables, each as far as it was granted";

const INSTEAD: Readonly<Record<string, string>> = {
  open: "use Deno.readFile and Deno.writeFile (with append: true to go on with a file)",
  openSync: "use Deno.readFileSync and Deno.writeFileSync",
  create: "use Deno.writeFile",
  createSync: "use Deno.writeFileSync",
  FsFile: "use Deno.readFile and Deno.writeFile",
  chdir: "paths are relative to the project root; write the folder in front of them",
  connect: "use fetch",
  connectTls: "use fetch",
  createHttpClient: "use fetch as it is",
  permissions: "do what you want to do, and catch Deno.errors.NotCapable",
  symlink: "a gadget makes no links; use Deno.copyFile",
  symlinkSync: "a gadget makes no links; use Deno.copyFileSync",
  link: "a gadget makes no links; use Deno.copyFile",
  linkSync: "a gadget makes no links; use Deno.copyFileSync",
  readLink: "use Deno.realPath",
  readLinkSync: "use Deno.realPathSync",
  spawn: "use new Deno.Command(...).output()",
  dlopen: "a gadget cannot load native code",
};

/** A command as it is asked for. */
interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

/** What a command has written. */
interface CommandOutput {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Runs a command to its end. */
function* runCommand(request: CommandRequest): Steps<CommandOutput> {
  const { stdin, ...rest } = request;
  const { ok, bytes } = yield* step({ kind: "run", ...rest }, stdin);
  const at = fieldOf(ok, "stdoutBytes", isNumber) ?? bytes.byteLength;
  return {
    exitCode: fieldOf(ok, "exitCode", isNumber) ?? -1,
    stdout: bytes.slice(0, at),
    stderr: bytes.slice(at),
  };
}

/** The arguments of a command: a list of texts. @throws {TypeError} */
function argumentsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`expected a list of arguments, found ${kindOf(value)}`);
  return value.map((each: unknown) => {
    const text = each instanceof URL ? pathOf(each) : each;
    if (typeof text === "string" && !text.includes("\0")) return text;
    throw new TypeError(`expected arguments that are texts without NUL characters, found ${kindOf(each)}`);
  });
}

/** The variables that are named for a command. @throws {TypeError} */
function variablesOf(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new TypeError(`expected an object of variables, found ${kindOf(value)}`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => each === undefined ? [] : [[name, String(each)]]),
  );
}

/** What of Deno's own options would change what a command is. */
const REFUSED: readonly string[] = ["uid", "gid", "detached", "windowsRawArguments"];

/** `Deno.Command`, whose commands run to their end: `output` and `outputSync`. */
function commandClass(
  ask: Ask,
  { environment, log }: { readonly environment: Environment; readonly log: (text: string) => void },
): new (command: unknown, options?: unknown) => object {
  return class Command {
    readonly #request: CommandRequest;
    readonly #signal: AbortSignal | undefined;
    readonly #streams: { readonly stdout: unknown; readonly stderr: unknown };

    constructor(command: unknown, options: unknown = {}) {
      const given = { ...optionsOf(options) };
      const refused = REFUSED.find((name) => given[name] !== undefined && given[name] !== false);
      if (refused !== undefined) throw notThere(`"${refused}" of Deno.Command`, "leave it out");
      if (given.stdin === "piped") {
        throw notThere(`stdin: "piped" of Deno.Command`, "a command gets no input");
      }
      this.#request = {
        command: pathOf(command),
        args: argumentsOf(given.args),
        env: environment.ofCommand(variablesOf(given.env), given.clearEnv === true),
        ...(given.cwd !== undefined && { cwd: pathOf(given.cwd) }),
      };
      this.#signal = signalOf(given);
      this.#streams = { stdout: given.stdout ?? "piped", stderr: given.stderr ?? "piped" };
    }

    async output(): Promise<object> {
      return this.#told(await ask.soon(runCommand(this.#request), this.#signal));
    }

    outputSync(): object {
      return this.#told(ask.now(runCommand(this.#request)));
    }

    spawn(): never {
      throw notThere("Deno.Command.spawn", "a command runs to its end; use output() or outputSync()");
    }

    #told({ exitCode, stdout, stderr }: CommandOutput): object {
      const shown = (name: "stdout" | "stderr", bytes: Uint8Array): Uint8Array => {
        const text = new TextDecoder().decode(bytes).replace(/\n$/, "");
        if (this.#streams[name] === "inherit" && text !== "") log(text);
        return this.#streams[name] === "piped" ? bytes : new Uint8Array();
      };
      return {
        success: exitCode === 0,
        code: exitCode,
        signal: null,
        stdout: shown("stdout", stdout),
        stderr: shown("stderr", stderr),
      };
    }
  };
}

type Work = (...given: readonly unknown[]) => Steps<unknown>;

/** The functions of Deno on files, each with its twin that blocks. */
function denoFiles(ask: Ask, environment: Environment): Record<string, unknown> {
  const functions: Record<string, unknown> = {};
  for (const [name, work] of Object.entries(works(environment))) {
    functions[name] = async (...given: readonly unknown[]) =>
      await ask.soon(work(...given), signalOf(given.at(-1)));
    functions[`${name}Sync`] = (...given: readonly unknown[]) => ask.now(work(...given));
  }
  return {
    ...functions,
    writeFile: (path: unknown, data: unknown, options: unknown) => writeFile(ask, { path, data, options }),
    writeTextFile: (path: unknown, data: unknown, options: unknown) =>
      writeFile(ask, { path, data, options }),
    readDir: (path: unknown) => readDir(ask, pathOf(path)),
    readDirSync: (path: unknown) => ask.now(list(pathOf(path))).map(entryOf)[Symbol.iterator](),
  };
}

function works(environment: Environment): Readonly<Record<string, Work>> {
  return {
    *readFile(path) {
      return (yield* step({ kind: "read", path: pathOf(path) })).bytes;
    },
    *readTextFile(path) {
      const { bytes } = yield* step({ kind: "read", path: pathOf(path) });
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    },
    writeFile: writeSteps,
    writeTextFile: writeSteps,
    *stat(path) {
      return infoOf(yield* look(pathOf(path), false));
    },
    *lstat(path) {
      return infoOf(yield* look(pathOf(path), true));
    },
    *mkdir(path, options) {
      const { recursive = false, mode } = optionsOf(options);
      refuseMode("Deno.mkdir", mode, 0o777);
      yield* step({ kind: "make-folder", path: pathOf(path), isRecursive: Boolean(recursive) });
    },
    *remove(path, options) {
      const { recursive = false } = optionsOf(options);
      yield* step({ kind: "remove", path: pathOf(path), isRecursive: Boolean(recursive) });
    },
    *rename(path, to) {
      yield* step({ kind: "rename", path: pathOf(path), to: pathOf(to) });
    },
    *copyFile(path, to) {
      yield* step({ kind: "copy", path: pathOf(path), to: pathOf(to) });
    },
    *realPath(path) {
      return (yield* step({ kind: "real-path", path: pathOf(path) })).ok;
    },
    *makeTempDir(options) {
      const path = temporaryPath(options, environment);
      yield* step({ kind: "make-folder", path, isRecursive: false });
      return path;
    },
    *makeTempFile(options) {
      const path = temporaryPath(options, environment);
      yield* step({ kind: "write", path, how: "create" });
      return path;
    },
  };
}

/** In a folder that the gadget may write, as `dir` or TMPDIR names it. */
function temporaryPath(options: unknown, environment: Environment): string {
  const { dir, prefix = "", suffix = "" } = optionsOf(options);
  const folder = dir === undefined ? environment.temporaryFolder() : pathOf(dir);
  return join(folder, `${String(prefix)}${crypto.randomUUID().slice(-12)}${String(suffix)}`);
}

function* writeSteps(path: unknown, data: unknown, options: unknown): Steps<void> {
  const { append = false, create = true, createNew = false, mode } = optionsOf(options);
  refuseMode("Deno.writeFile", mode, 0o666);
  const target = pathOf(path);
  const bytes = bytesOf(data);
  if (!create && !createNew && (yield* maybeLook(target, false)) === undefined) {
    const message = `Cannot write ${JSON.stringify(target)}: no such file, and the options say create: false`;
    throw new FailedEffect({ code: "not-found", message }, {
      op: { kind: "write", path: target, how: "replace" },
    });
  }
  yield* step(
    { kind: "write", path: target, how: createNew ? "create" : append ? "append" : "replace" },
    bytes,
  );
}

async function writeFile(
  ask: Ask,
  { path, data, options }: { readonly path: unknown; readonly data: unknown; readonly options: unknown },
): Promise<void> {
  const target = pathOf(path);
  const whole = data instanceof ReadableStream ? await collected(data) : data;
  await ask.soon(writeSteps(target, whole, options), signalOf(options));
}

async function* readDir(ask: Ask, path: string): AsyncGenerator<unknown> {
  for (const entry of await ask.soon(list(path))) yield entryOf(entry);
}

function entryOf([name, kind]: Entry): Record<string, unknown> {
  return { name, ...flagsOf(kind) };
}

function flagsOf(kind: string): Record<string, boolean> {
  return { isFile: kind === "file", isDirectory: kind === "folder", isSymlink: kind === "link" };
}

function infoOf(
  { kind, size, modifiedMs, createdMs, mode }: ReturnType<typeof look> extends Steps<infer Found> ? Found
    : never,
): Record<string, unknown> {
  const date = (ms: number | undefined): Date | null => ms === undefined ? null : new Date(ms);
  const unknown = Object.fromEntries(UNKNOWN.map((name) => [name, null]));
  return {
    ...flagsOf(kind),
    size,
    mtime: date(modifiedMs),
    atime: null,
    birthtime: date(createdMs),
    ctime: null,
    ...unknown,
    mode: mode ?? null,
  };
}

/** What a gadget is not told, as on a system that does not say it. */
const UNKNOWN: readonly string[] = [
  "dev",
  "ino",
  "nlink",
  "uid",
  "gid",
  "rdev",
  "blksize",
  "blocks",
  "isBlockDevice",
  "isCharDevice",
  "isFifo",
  "isSocket",
];
