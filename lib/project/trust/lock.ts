// The lock of a project as it is now, for everybody in this process who looks something up in it or writes to it.
import { join } from "node:path";
import { lockPlace, lockText, parseLock } from "../../catalog/lock_file.ts";
import {
  EMPTY_LOCK,
  type Json,
  type JsonObject,
  type Lock,
  LOCK_FILE,
  maybeText,
  shownPath,
  SourceError,
  type Span,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { removeFile } from "../../host/process.ts";
import { realPath } from "../../host/paths.ts";
import { keepAccepted } from "./accept.ts";

/** What is known when the project is opened. */
export interface LockKeeperOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly cwd: string;
  /** The lock of the project, when there is one. */
  readonly lock?: ProjectLock;
  /** Every part that has to be accepted, by name, as the acceptance has them: `.mcp.json` too. */
  readonly parts: JsonObject;
  /** Whether what the project says for itself counts, its lock too. */
  readonly projectAccepted: boolean;
  /** Told what was not kept, a line each. */
  readonly notice: (text: string) => void;
  /** Accepts what the project says for itself, once the lock was written. Default: kept in the user's state folder. */
  readonly accept?: (parts: JsonObject) => Promise<void>;
}

/** A lock that is looked at and changed, one change after the other. */
export class LockKeeper {
  readonly #options: LockKeeperOptions;
  #lock: ProjectLock | undefined;
  #parts: JsonObject;
  #isAccepted: boolean;
  #kept: Promise<unknown> = Promise.resolve();

  constructor(options: LockKeeperOptions) {
    this.#options = options;
    this.#lock = options.lock;
    this.#parts = options.parts;
    this.#isAccepted = options.projectAccepted;
  }

  /** The file; what it says counts only when the project was accepted. */
  get lock(): ProjectLock | undefined {
    return this.#lock;
  }

  /** Whether what the project says for itself counts. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** What counts: nothing as long as the project was not accepted. */
  get counting(): Lock {
    const lock = this.#isAccepted ? this.#lock?.lock : undefined;
    return lock ?? { gadgets: [], servers: [] };
  }

  /** Changes the lock. A project that was accepted, or said nothing before, stays accepted as it is then. @throws {SourceError} */
  change(to: (lock: Lock) => Lock): Promise<void> {
    const changed = this.#kept.then(() => this.#change(to));
    this.#kept = changed.catch(() => undefined);
    return changed;
  }

  /** Why it counts as absent, for whoever wonders; undefined when it counts, and when there is none. */
  get absence(): string | undefined {
    if (this.#lock === undefined || this.#isAccepted) return undefined;
    return `${this.#lock.file} counts as absent, since you have not accepted this project`;
  }

  /** As messages name it. */
  get file(): string {
    return this.#lock?.file ?? LOCK_FILE;
  }

  async #change(to: (lock: Lock) => Lock): Promise<void> {
    const { root, cwd, notice, accept = (parts) => keepAccepted(parts, { root, notice }) } = this.#options;
    const known = this.#lock;
    const next = await writeProjectLock(to(known?.lock ?? { gadgets: [], servers: [] }), {
      root,
      cwd,
      known,
    });
    const saidNothing = Object.keys(this.#parts).length === 0;
    this.#lock = next;
    this.#parts = withLockPart(this.#parts, next);
    if (this.#isAccepted || saidNothing) {
      this.#isAccepted = true;
      await accept(this.#parts);
    } else if (next !== undefined) {
      notice(`${next.file} counts for nothing until you accept this project; --trust-project accepts it`);
    }
  }
}

// `orrery.lock` of a project on this machine. Loaded only where there is one, or one is written.

/** A lock that was read. */
export interface ProjectLock {
  readonly lock: Lock;
  /** As messages name it. */
  readonly file: string;
  /** Its text, for places of errors. */
  readonly text: string;
}

/** Where it is. */
interface LockPlace {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly cwd: string;
}

/** The lock of a project; undefined when there is none. @throws {SourceError} with its place when it is broken, edited, or a link */
export async function readProjectLock({ root, cwd }: LockPlace): Promise<ProjectLock | undefined> {
  const file = shownPath(join(root, LOCK_FILE), cwd);
  refuseLink(root, file);
  const text = await maybeText(hostFiles({ root }), LOCK_FILE);
  return text === undefined ? undefined : { lock: parseLock(text, file), file, text };
}

/** The parts that have to be accepted, with this lock among them. */
export function withLockPart(parts: JsonObject, lock: ProjectLock | undefined): JsonObject {
  const { [LOCK_FILE]: _before, ...others } = parts;
  const part = lock === undefined ? undefined : lockPart(lock);
  return part === undefined ? others : { ...others, [LOCK_FILE]: part };
}

/** A lock that allows nothing says nothing. */
function lockPart({ lock, text }: ProjectLock): Json | undefined {
  return lock.gadgets.length === 0 && lock.servers.length === 0 ? undefined : JSON.parse(text);
}

/** Where a gadget stands in it. */
export function gadgetPlace({ lock, file, text }: ProjectLock, name: string): Span | undefined {
  const index = lock.gadgets.findIndex((each) => each.name === name);
  return index === -1 ? undefined : lockPlace(text, file, ["gadgets", index]);
}

/** Where a server stands in it. */
export function serverPlace({ lock, file, text }: ProjectLock, name: string): Span | undefined {
  const index = lock.servers.findIndex((each) => each.name === name);
  return index === -1 ? undefined : lockPlace(text, file, ["mcpServers", index]);
}

/**
 * Writes a lock whole, in place of `known`; one that allows nothing is no file at all.
 *
 * @throws {SourceError} when the file is not as `known` has it: what somebody else wrote meanwhile was not allowed here
 */
async function writeProjectLock(
  lock: Lock,
  { known, ...place }: LockPlace & { readonly known: ProjectLock | undefined },
): Promise<ProjectLock | undefined> {
  const { root, cwd } = place;
  const file = shownPath(join(root, LOCK_FILE), cwd);
  refuseLink(root, file);
  const files = hostFiles({ root });
  if (await maybeText(files, LOCK_FILE) !== known?.text) {
    throw new SourceError(`${file} was changed meanwhile, so nothing was written to it`, {
      code: "E-lock",
      hint: "Do it again.",
    });
  }
  const text = lockText(lock);
  if (text === lockText(EMPTY_LOCK)) {
    removeFile(join(root, LOCK_FILE));
    return undefined;
  }
  await files.writeText(LOCK_FILE, text);
  return { lock, file, text };
}

/** A repository could make it a link to a file of the user's that is then written. */
function refuseLink(root: string, file: string): void {
  const path = join(root, LOCK_FILE);
  const real = realPath(path);
  if (real === path) return;
  throw new SourceError(`Cannot use ${file}: it is a link to ${JSON.stringify(real)}`, {
    code: "E-lock",
    hint: "A lock is a file of the project itself: remove the link.",
  });
}
