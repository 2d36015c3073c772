// What a run commits, as a log that another process can write again: the rows of its journal, commit by commit. Restate keeps the log, so a run
// goes on at any node from where its last commit was.
import { isRecord, JournalError, type Json, type JsonObject, objectOrEmpty, VERSION } from "../core/core.ts";
import type { ConversationStore, JournalStore } from "../journal/store.ts";

/** One write of a store: its method, and what that was given. */
export type Write = readonly [method: string, ...given: readonly Json[]];

/** What was committed together, in its order; one commit of Restate has all that had come until it began. */
export type Writes = readonly Write[];

const OF_RUNS = [
  "putRun",
  "noteProgress",
  "removeRun",
  "putInput",
  "putStep",
  "addPieces",
  "removePieces",
  "addEvents",
  "addFile",
] as const satisfies readonly (keyof JournalStore)[];

const OF_CONVERSATIONS = [
  "addCheckpoint",
  "addMessage",
  "putSlot",
] as const satisfies readonly (keyof ConversationStore)[];

/** Restate takes messages of 32 MiB; in a commit text may be written as JSON twice. In characters. */
export const MOST_AT_ONCE = 4_000_000;
const MOST_TOGETHER = 12_000_000;

/** About as many characters as they hold. */
export function sizeOf(writes: Writes): number {
  let size = 0;
  for (const given of writes.flat()) {
    const values: readonly unknown[] = isRecord(given) ? Object.values(given) : [given];
    for (const value of values) size += typeof value === "string" ? value.length : 8;
  }
  return size;
}

/** A commit that no node could keep. */
export class TooMuchError extends JournalError {}

/** What becomes of the commits of a run. */
export interface CommitSink {
  /** Takes them; what it gives settles when they are durable. Undefined: nobody waits for that. */
  append(run: string, writes: Writes): void;
  whenKept(run: string): Promise<void> | undefined;
}

/** The store, with its commits told to a sink. */
export function loggedStore(inner: JournalStore, sink: CommitSink): JournalStore {
  let writes: Write[] = [];
  const noted = <Target extends object>(target: Target, names: readonly string[]): Target =>
    new Proxy(target, {
      get(_target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        if (!names.includes(String(name))) return method.bind(target);
        return (...given: readonly Json[]): unknown => {
          writes.push([String(name), ...given]);
          return Reflect.apply(method, target, given);
        };
      },
    });
  const own: Partial<JournalStore> = {
    conversations: noted(inner.conversations, OF_CONVERSATIONS),
    commit(work) {
      writes = [];
      const result = inner.commit(() => {
        const result = work();
        const size = sizeOf(writes);
        if (size > MOST_TOGETHER) {
          throw new TooMuchError(
            `What the run is to keep at once, ${size} characters, is more than Restate takes (${MOST_TOGETHER}): make several steps of it`,
          );
        }
        return result;
      });
      const run = writes.map(runOf).find((id) => id !== undefined);
      if (run !== undefined) sink.append(run, writes);
      return result;
    },
    whenKept: (run) => sink.whenKept(run),
  };
  const store = noted(inner, OF_RUNS);
  return new Proxy(store, {
    get: (_store, name) => Reflect.get(Object.hasOwn(own, name) ? own : store, name),
  });
}

/** Slots belong to no run: they are written with one. */
function runOf([method, first]: Write): string | undefined {
  if (method === "putSlot") return undefined;
  if (typeof first === "string") return first;
  const id: unknown = Reflect.get(Object(first), "id");
  return typeof id === "string" ? id : undefined;
}

/** How a run stands behind its commits, as they say it, whatever a process has come to by now. */
export function rowBehind(commits: readonly Writes[]): JsonObject {
  return commits.flat().reduce<JsonObject>((before, [method, first, second]) => {
    if (method === "putRun") return objectOrEmpty(first ?? null);
    return method === "noteProgress" ? { ...before, ...objectOrEmpty(second ?? null) } : before;
  }, {});
}

/** Writes what another process has committed. */
export function writeAgain(store: JournalStore, writes: Writes): void {
  store.commit(() => {
    for (const [method, ...given] of writes) {
      const target = OF_CONVERSATIONS.some((each) => each === method) ? store.conversations : store;
      const write: unknown = Reflect.get(target, method);
      if (typeof write !== "function") {
        throw new JournalError(
          `Another version of Orrery has gone on with this run, and ${VERSION} does not know what it has kept (${method}): ask a node of that version, which also finishes it`,
        );
      }
      Reflect.apply(write, target, given);
    }
  });
}

/** Without what later ones of the same run and step put in its place. */
function newest(writes: Writes): Writes {
  const seen = new Set<string>();
  return writes.toReversed().filter(([method, _run, row]) => {
    if (method !== "noteProgress" && method !== "putStep") return true;
    const which = `${method} ${method === "putStep" ? objectOrEmpty(row ?? null).key : ""}`;
    return !seen.has(which) && seen.add(which);
  }).reverse();
}

/** The commits of one run on their way to Restate. */
export interface CommitQueue {
  append(writes: Writes): void;
  /** Settles when all that was appended is durable; undefined when it is. */
  whenKept(): Promise<void> | undefined;
  /** The next commits, as soon as there are any, all that there are; undefined when there will be no more. */
  next(): Promise<Writes | undefined>;
  /** Those that `next` gave last are durable. */
  kept(): void;
  /** No more will come. @param error why, told once all is durable */
  end(error?: unknown): void;
  /** Nothing more is kept: this process has lost the run. */
  fail(error: unknown): void;
  readonly hasFailed: boolean;
}

/** What is on its way at once is one commit: while one is being kept, the next ones gather. */
export function commitQueue(): CommitQueue {
  const gathered: Writes[] = [];
  let over: { readonly error?: unknown } | undefined;
  let failure: { readonly error: unknown } | undefined;
  let wake = Promise.withResolvers<void>();
  /** Of those that gather, and of those that are being kept. */
  let gathering: PromiseWithResolvers<void> | undefined;
  let keeping: PromiseWithResolvers<void> | undefined;

  return {
    append(writes) {
      if (failure !== undefined) throw failure.error;
      gathered.push(writes);
      if (gathering === undefined) {
        gathering = Promise.withResolvers();
        gathering.promise.catch(() => undefined); // where nobody waits
      }
      wake.resolve();
    },
    whenKept: () => failure === undefined ? (gathering ?? keeping)?.promise : Promise.reject(failure.error),
    get hasFailed() {
      return failure !== undefined;
    },
    async next() {
      while (gathered.length === 0 && over === undefined && failure === undefined) await wake.promise;
      if (failure !== undefined) throw failure.error;
      wake = Promise.withResolvers();
      if (gathered.length === 0) {
        if (over?.error !== undefined) throw over.error;
        return undefined;
      }
      let size = 0;
      const most = gathered.findIndex((writes) => (size += sizeOf(writes)) > MOST_AT_ONCE);
      const taken = gathered.splice(0, most < 0 ? gathered.length : Math.max(1, most));
      if (gathered.length === 0) {
        keeping = gathering;
        gathering = undefined;
      } // else whoever waits for the first ones waits for all
      return newest(taken.flat());
    },
    kept() {
      keeping?.resolve();
      keeping = undefined;
    },
    end(error) {
      over = { error };
      wake.resolve();
    },
    fail(error) {
      failure ??= { error };
      keeping?.reject(error);
      gathering?.reject(error);
      wake.resolve();
    },
  };
}
