// `orrery run FILE.md --watch`: runs the document again when it or a file that it read has changed; what has been done with the same
// input is not done again.
import { resolve } from "node:path";
import {
  type Clock,
  FileError,
  type Files,
  type FileWatch,
  type RunEvent,
  systemClock,
  typedPath,
  whenAborted,
} from "../../../core/core.ts";
import { NOT_NARROWED } from "../../../check/narrowing.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { realPath } from "../../../host/paths.ts";
import { hasColor } from "../../../host/terminal/terminal.ts";
import { hostFileWatch } from "../../../host/files/watch.ts";
import { paintFor } from "../../../render/cells.ts";
import { printableLine } from "../../../render/shown_text.ts";
import { watchedSteps } from "../../../service/kinds/document/ready.ts";
import { EXIT } from "../../../service/exit_code.ts";
import { documentView } from "./view.ts";
import { type DocumentStart, runDocumentOnce } from "./once.ts";
import type { RunView } from "../view.ts";

/** Runs a document until Ctrl-C; gives the exit code. */
export async function watchDocument(
  start: DocumentStart & { readonly view: RenewedView },
): Promise<number> {
  const { command: { terminal, flags, stop }, place, input, view } = start;
  const { root } = place.project;
  const steps = watchedSteps();
  const real = (path: string): string => realPath(resolve(root, path));
  const raw = hostFiles({ root });
  const files = watchedFiles({ real, readBytes: (path) => raw.readBytes(path) });
  const noted = { ...place, world: { ...place.world, files: notedFiles(place.world.files, files) } };
  const paint = paintFor(hasColor(terminal.stderr));
  const say = async (text: string): Promise<void> => {
    if (!flags.quiet) await terminal.stderr.write(`${paint("dim", printableLine(text))}\n`);
  };
  const shown = (path: string): string => typedPath(path, place.project);
  return await watchRuns({
    entry: real(input.path),
    files,
    watch: hostFileWatch(),
    clock: systemClock,
    signal: stop.signal,
    async runOnce() {
      place.bounds.narrow(NOT_NARROWED); // what the last run's document left
      view.renew(documentView(terminal, flags, { isReused: steps.isReused }));
      try {
        return await runDocumentOnce({
          ...start,
          place: noted,
          journal: steps.journal,
          onResult: (path) => files.onWrite(path),
        });
      } finally {
        await view.end();
      }
    },
    onWait: (paths) => say(waitingText(paths.length, shown(real(input.path)))),
    onChange: (paths) => say(`${paths.map(shown).join(", ")} changed`),
  });
}

function waitingText(count: number, entry: string): string {
  const more = count <= 1 ? "" : ` and ${count - 1} more ${count === 2 ? "file" : "files"}`;
  return `waiting for a change of ${entry}${more}; Ctrl-C ends`;
}

/** Somebody saves several files, or one in several steps: changes so close together are one. */
const QUIET_MS = 100;
/** Beyond this nobody waits for quiet. */
const MAX_QUIET_ROUNDS = 20;

/** What is run again and again. */
interface WatchRunsOptions {
  /** The file that is run: real and absolute. */
  readonly entry: string;
  readonly files: ReturnType<typeof watchedFiles>;
  readonly watch: FileWatch;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Gives the exit code. */
  runOnce(): Promise<number>;
  /** A run is over, and nothing has changed. */
  onWait(files: readonly string[]): Promise<void>;
  onChange(files: readonly string[]): Promise<void>;
}

/** Runs, waits for a change of a file that the run used, and runs again, until the signal. Gives the exit code: 0 when nothing ran then. */
async function watchRuns(options: WatchRunsOptions): Promise<number> {
  const { files, signal, entry } = options;
  /** It ran again for what had changed during a run, which may be its own doing. */
  let isOwnEcho = false;
  for (;;) {
    files.clear();
    const code = await options.runOnce();
    if (signal.aborted) return code;
    const during = await files.changed();
    const counts: readonly string[] = isOwnEcho ? during.filter((path) => path === entry) : during;
    isOwnEcho = counts.length > 0;
    if (counts.length === 0) {
      await files.accept();
      await options.onWait(files.paths());
    }
    const changed = counts.length > 0 ? await settled(options) : await nextChange(options);
    if (signal.aborted) return EXIT.ok;
    await options.onChange(changed);
  }
}

async function nextChange(options: WatchRunsOptions): Promise<readonly string[]> {
  const { files, watch, signal } = options;
  while (!signal.aborted) {
    const woken = Promise.withResolvers<void>();
    using _watching = watch.watch(files.paths(), woken.resolve);
    // It may have changed before somebody watched it.
    if ((await files.changed()).length === 0) await Promise.race([woken.promise, whenAborted(signal)]);
    const changed = await settled(options);
    if (changed.length > 0) return changed;
  }
  return [];
}

/** What has changed when it is quiet. */
async function settled({ files, watch, clock, signal }: WatchRunsOptions): Promise<readonly string[]> {
  let isQuiet = true;
  using _watching = watch.watch(files.paths(), () => void (isQuiet = false));
  for (let round = 0; round < MAX_QUIET_ROUNDS && !signal.aborted; round++) {
    isQuiet = true;
    await clock.sleep(QUIET_MS, signal).catch(() => undefined);
    if (isQuiet) break;
  }
  return await files.changed();
}

/** What is needed to look at files. */
interface WatchedFilesOptions {
  /** The real, absolute path of one as it was named. */
  real(path: string): string;
  /** @throws {FileError} */
  readBytes(path: string): Promise<Uint8Array>;
}

/** The files that the last run used, each as that run saw it. */
function watchedFiles({ real: realOf, readBytes }: WatchedFilesOptions) {
  /** By real path; undefined where it was looked at and not read. */
  let prints = new Map<string, FilePrint | undefined>();

  /** Real and absolute. */
  function paths(): readonly string[] {
    return [...prints.keys()];
  }

  /** A run begins: what it uses counts from now on. */
  function clear(): void {
    prints = new Map();
  }

  function onRead(path: string, print: FilePrint): void {
    prints.set(realOf(path), print);
  }

  function onLook(path: string): void {
    const real = realOf(path);
    if (!prints.has(real)) prints.set(real, undefined);
  }

  /** What a run writes is no change that anybody made. */
  async function onWrite(path: string): Promise<void> {
    const real = realOf(path);
    if (prints.has(real)) prints.set(real, await printNow(real));
  }

  /** Those that are not as they were seen; one that was only looked at is from now on. */
  async function changed(): Promise<readonly string[]> {
    const changed: string[] = [];
    for (const [path, print] of prints) {
      const now = await printNow(path);
      if (print === undefined) prints.set(path, now);
      else if (print !== now) changed.push(path);
    }
    return changed;
  }

  /** As they are now is as they were seen. */
  async function accept(): Promise<void> {
    for (const path of paths()) prints.set(path, await printNow(path));
  }

  async function printNow(path: string): Promise<FilePrint> {
    try {
      return await printOf(await readBytes(path));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return error.code === "not-found" ? NO_FILE_THERE : error.code;
    }
  }

  return { paths, clear, onRead, onLook, onWrite, changed, accept };
}

/** What a file is, as far as it matters: the hash of its bytes, or that there is none. */
type FilePrint = string;

/** The print of a path where no file is. */
const NO_FILE_THERE: FilePrint = "nothing";

/** The print of a file with these bytes. */
async function printOf(bytes: Uint8Array): Promise<FilePrint> {
  const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
  return new Uint8Array(hash).toHex();
}

/** Hears which files are used. Paths are as they were named. */
interface FileListener {
  /** It was read, or was not there. */
  onRead(path: string, print: FilePrint): void;
  /** It was looked at. */
  onLook(path: string): void;
  /** The run itself has written it. */
  onWrite(path: string): Promise<void>;
}

/** The same files; somebody hears of each that is used. */
function notedFiles(files: Files, listener: FileListener): Files {
  const orMissing = (path: string, error: unknown): never => {
    if (error instanceof FileError && error.code === "not-found") listener.onRead(path, NO_FILE_THERE);
    throw error;
  };
  return {
    resolve: (path, options) => files.resolve(path, options),
    list: (path) => files.list(path),
    async stat(path) {
      const info = await files.stat(path).catch((error) => orMissing(path, error));
      listener.onLook(path);
      return info;
    },
    async readBytes(path, options) {
      const bytes = await files.readBytes(path, options).catch((error) => orMissing(path, error));
      listener.onRead(path, await printOf(bytes));
      return bytes;
    },
    async readText(path, options) {
      const text = await files.readText(path, options).catch((error) => orMissing(path, error));
      listener.onLook(path);
      return text;
    },
    async writeText(path, text) {
      await files.writeText(path, text);
      await listener.onWrite(path);
    },
  };
}

/** The view of several runs, one after another: each has one of its own. */
export class RenewedView implements RunView {
  readonly #between: RunView;
  #current: RunView;

  /** @param between what is seen while nothing runs */
  constructor(between: RunView) {
    this.#between = this.#current = between;
  }

  /** A run begins. */
  renew(view: RunView): void {
    this.#current = view;
  }

  event(event: RunEvent): Promise<void> {
    return this.#current.event(event);
  }

  notice(text: string): Promise<void> {
    return this.#current.notice(text);
  }

  log(source: string, text: string): Promise<void> {
    return this.#current.log(source, text);
  }

  pause(): Promise<void> {
    return this.#current.pause();
  }

  resume(): void {
    this.#current.resume();
  }

  async end(): Promise<void> {
    const ended = this.#current;
    this.#current = this.#between;
    await ended.end();
  }

  abandon(): void {
    this.#current.abandon();
  }
}
