import { join } from "node:path";
import { bytesOf, collected, optionsOf, pathOf, refuseMode, signalOf } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { type Entry, list, look, maybeLook } from "./file_steps.ts";
import { type Ask, FailedEffect, step, type Steps } from "./steps.ts";

type Work = (...given: readonly unknown[]) => Steps<unknown>;

/** The functions of Deno on files, each with its twin that blocks. */
export function denoFiles(ask: Ask, environment: Environment): Record<string, unknown> {
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
