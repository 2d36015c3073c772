// The lock of a project as it is now, for everybody in this process who looks something up in it or writes to it.
import { type Lock, LOCK_FILE } from "../core/gadget_lock.ts";
import type { JsonObject } from "../core/json.ts";
import { keepAccepted } from "./accept_project.ts";
import { type ProjectLock, withLockPart, writeProjectLock } from "./project_lock.ts";

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
