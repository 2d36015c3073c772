// Where the journal of a project is.
import { basename, dirname, join } from "node:path";
import { JournalError, messageOf } from "../../core/core.ts";
import { systemReason } from "./attempt.ts";
import { atExit, denoGrants, removeFile } from "../process.ts";

/** The files of runs beside one database, `orrery.db-run-ID`: earlier versions kept short runs so, until somebody opened the database. */
export interface RunFiles {
  list(): readonly { readonly id: string; readonly text: string }[];
  remove(id: string): void;
}

/** The files of runs beside the database at `path`, an absolute one. */
export function runFiles(path: string): RunFiles {
  const folder = dirname(path);
  const prefix = `${basename(path)}-run-`;
  const isWhole = (name: string) => name.startsWith(prefix) && !name.endsWith(".tmp");
  return {
    list: () =>
      Array.from(Deno.readDirSync(folder), ({ name }) => name).filter(isWhole).flatMap((name) => {
        const text = maybeText(join(folder, name));
        return text === undefined ? [] : [{ id: name.slice(prefix.length), text }];
      }),
    remove: (id) => removeFile(join(folder, prefix + id)),
  };
}

/** Undefined when another process has taken it away. */
function maybeText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const FOLDER = ".orrery";
const DATABASE = "orrery.db";
const WAY_OUT = "--ephemeral runs without keeping anything";

/**
 * The path of a project's journal, `.orrery/orrery.db`. The folder is made, for its user alone and with a `.gitignore` of its own,
 * when there is none; what is there already is left as it is.
 *
 * @param root the project's root, absolute
 * @throws {JournalError} when a link or a file is in its place, or it cannot be made.
 */
export function journalPath(root: string): string {
  const folder = join(root, FOLDER);
  const path = join(folder, DATABASE);
  for (const name of ["read", "write"] as const) {
    if (denoGrants({ name, path: folder })) continue;
    throw cannotKeep(folder, `Deno itself was started without --allow-${name}=${folder}`);
  }
  const found = kindOf(folder);
  if (found === "nothing") make(folder);
  else if (found !== "folder") throw cannotKeep(folder, `it is ${found}, not a folder; move it away`);
  const database = kindOf(path);
  if (database !== "nothing" && database !== "a file") {
    throw cannotKeep(
      path,
      `it is ${database === "folder" ? "a folder" : database}, not a file; move it away`,
    );
  }
  return path;
}

type Kind = "nothing" | "folder" | "a file" | "a link" | "something else";

/** Links are not followed: a project that came from elsewhere could lead out of itself with one. */
function kindOf(path: string): Kind {
  try {
    const info = Deno.lstatSync(path);
    if (info.isSymlink) return "a link";
    return info.isDirectory ? "folder" : info.isFile ? "a file" : "something else";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "nothing";
    throw cannotKeep(path, systemReason(error));
  }
}

function make(folder: string): void {
  try {
    Deno.mkdirSync(folder, { mode: 0o700 });
    Deno.writeTextFileSync(join(folder, ".gitignore"), "*\n");
  } catch (error) {
    // Another process may have made it a moment ago; it writes the rest.
    if (error instanceof Deno.errors.AlreadyExists && kindOf(folder) === "folder") return;
    throw cannotKeep(folder, systemReason(error));
  }
}

function cannotKeep(path: string, reason: string): JournalError {
  return new JournalError(`Cannot keep runs in "${path}": ${reason}. ${WAY_OUT}`);
}

// Databases of Orrery beside the journal of a project, `orrery.db-NAME`: by how their names begin, no run may write them.

/** What SQLite writes beside a file of its own while it changes that. */
const BESIDE = "-journal";

/**
 * The path of an SQLite file, which need not be there yet; the folder is. Undefined when nothing can be kept in the project, and when
 * something else is in its place, or in that of what SQLite writes beside it: a link could lead anywhere.
 *
 * @param root the project's root, absolute
 */
export function ownDatabasePath(root: string, name: string): string | undefined {
  try {
    const path = `${journalPath(root)}-${name}`;
    return isFree(path) && isFree(path + BESIDE) ? path : undefined;
  } catch {
    return undefined;
  }
}

function isFree(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/** Removes one, and what a process that died has left beside it. */
export function removeDatabase(path: string): void {
  removeFile(path);
  removeFile(path + BESIDE);
}

/**
 * Does the work while no other process that asks in this way does any for the same path. The lock is that of the system, on a file beside it,
 * so it ends with the process that has it. Where files cannot be locked the work is done without.
 *
 * @param path absolute; its folder is made, for nobody else to read
 */
export async function alone(path: string, work: () => Promise<void>): Promise<void> {
  using lock = await maybeLock(`${path}.lock`);
  await lock.ready;
  await work();
}

interface Lock extends Disposable {
  readonly ready: Promise<void>;
}

async function maybeLock(path: string): Promise<Lock> {
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
    const ready = file.lock(true).catch(() => undefined); // such as a folder of another machine
    return { ready, [Symbol.dispose]: () => file.close() };
  } catch {
    return { ready: Promise.resolve(), [Symbol.dispose]: () => undefined };
  }
}

// The token of a server, for programs of the same user: a file beside the journal, whose name no run may read or write.

/** Where it is: below the project root. */
export const TOKEN_FILE = ".orrery/orrery.db-token";

/** Keeps the token until it is disposed of, or the process ends. @param root absolute @throws {Error} that says why it cannot */
export function keepToken(root: string, token: string): Disposable {
  const path = join(root, TOKEN_FILE);
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    if (Deno.lstatSync(dirname(path)).isSymlink) throw new Error("its folder is a link");
    removeFile(path); // of a server that was killed, or a link: what is made is new
    Deno.writeTextFileSync(path, `${token}\n`, { createNew: true, mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot keep the token in ${path}: ${messageOf(error)}`, { cause: error });
  }
  const remove = (): void => {
    if (isOurs(path, token)) removeFile(path);
  };
  const exit = atExit(remove);
  return {
    [Symbol.dispose]() {
      exit[Symbol.dispose]();
      remove();
    },
  };
}

/** Another server of the same project may have put its own there. */
function isOurs(path: string, token: string): boolean {
  return maybeToken(path) === token;
}

/** The token that a server of the project keeps; undefined where none does, or something else is in its place. @param root absolute */
export function keptToken(root: string): string | undefined {
  return maybeToken(join(root, TOKEN_FILE));
}

function maybeToken(path: string): string | undefined {
  try {
    // A project that came from elsewhere could lead to any file with a link.
    const isOurOwn = [dirname(path), path].every((each) => !Deno.lstatSync(each).isSymlink);
    return isOurOwn ? /^([\x21-\x7e]{16,500})\n$/.exec(Deno.readTextFileSync(path))?.[1] : undefined;
  } catch {
    return undefined;
  }
}
