// Runs on Restate. A run is a virtual object, its key the id of the run: so one process has it at a time, whatever dies. What it commits to its
// journal Restate keeps, commit by commit, as what one `ctx.run` after the other has given; an invocation that is begun again, here or at another
// node, has all of them first and goes on from there, as a run that is resumed. The engines know nothing of it.
import * as restate from "@restatedev/restate-sdk/fetch";
import { type Journal, type Json, type JsonObject, objectOrEmpty } from "../core/core.ts";
import { journalOver } from "../journal/journal_over.ts";
import { memoryStore } from "../journal/memory_journal.ts";
import type { JournalOptions, SlotRow } from "../journal/store.ts";
import {
  type CommitQueue,
  commitQueue,
  loggedStore,
  MOST_AT_ONCE,
  rowBehind,
  sizeOf,
  writeAgain,
  type Writes,
} from "./commit_log.ts";

/** The version of the log and of the path through it: a run that an older one began is its to finish. */
export const RUN_SERVICE = "OrreryRun_v1";

/** Slots that outlive a conversation: an object for each scope. */
export const SLOT_SERVICE = "OrrerySlots_v1";

/** What is to be done with a run, by a node that Restate chooses. */
export interface RunTask {
  readonly run: string;
  /** As it was handed over. */
  readonly task: Json;
  /** Another process has begun it, and has kept something. */
  readonly isAgain: boolean;
  /** Aborted when this process has lost it. */
  readonly signal: AbortSignal;
}

/** A task that no node would do, now or later: whoever has handed it over is told why. */
export class TaskRefused extends Error {
  override readonly name = "TaskRefused";

  constructor(readonly why: Json, options?: ErrorOptions) {
    super(JSON.stringify(why), options);
  }
}

/** What a node is made of. */
export interface DurableNodeOptions extends Pick<JournalOptions, "secrets" | "clock" | "now"> {
  /** Where other nodes reach it; kept with each run that it has. Default: nowhere. */
  readonly address?: string;
  /** `publickeyv1_…`: requests that Restate has not signed with it are refused. Default: none are. */
  readonly identity?: string;
  /** Does a task, to where the run waits for a person's next word or ends. @throws {TaskRefused}; everything else another node may do better, or this one later */
  work(task: RunTask): Promise<void>;
  /** How many characters of runs are known here at once: those that were looked at long ago are let go, and looked at anew. Default 200 million. */
  readonly mostKnown?: number;
  /** Told what went wrong where nobody else hears of it. */
  readonly notice?: (text: string) => void;
}

/** What is kept of a run, from a commit on; all of it where there are fewer than the asker knows. */
export interface KeptCommits {
  /** How many the asker has known. */
  readonly from: number;
  /** How many there are. */
  readonly count: number;
  readonly commits: readonly Writes[];
  /** There are more: ask behind these. */
  readonly isPart?: true;
  /** Of the node that has the run; absent where none has. */
  readonly node?: string;
}

/** A process that takes runs from Restate. */
export interface DurableNode {
  /** The runs that this node knows of, as far as it does. */
  readonly journal: Journal;
  /** It does something with the run. */
  has(run: string): boolean;
  /** Settles when all that this node has come to in a run is kept, or the run is lost to it. */
  whenKept(run: string): Promise<void> | undefined;
  /** How many commits of a run it knows. */
  known(run: string): number;
  /** Keeps a new run that nobody does anything with yet, such as a copy; it is gone where that fails. */
  keepCopy(run: string, keep: (writes: Writes) => Promise<void>): Promise<void>;
  /** Takes in what others have committed; what is known already is passed over, also where it was asked later and has come before. */
  learn(run: string, kept: KeptCommits): void;
  /** The same of rows alone, for lists. Gives the runs known here that are not among them: removed, or begun since. */
  learnRows(runs: readonly Standing[]): readonly string[];
  /** The slots of a scope, as all conversations have left them. */
  learnSlots(rows: readonly SlotRow[]): void;
  /** Answers Restate. */
  readonly handler: (request: Request) => Promise<Response>;
}

/** A node, to be served over HTTP/2 where Restate reaches it. */
export function durableNode(
  { work, address, identity, notice, mostKnown = 200_000_000, ...options }: DurableNodeOptions,
): DurableNode {
  const queues = new Map<string, CommitQueue>();
  /** The one that was looked at last at the end. */
  const known = new Map<string, { readonly count: number; readonly size: number }>();
  let knownSize = 0;
  /** Runs that another process has begun to do what this one does now. */
  const again = new Set<string>();
  /** Runs that are new here, and not kept. */
  const copies = new Map<string, Writes>();
  /** Tasks that this process does. */
  const doing = new Map<string, { readonly ended: Promise<void>; lose(): void }>();
  const store = memoryStore();
  const logged = loggedStore(store, {
    append(run, writes) {
      const queue = queues.get(run);
      if (queue === undefined && !known.has(run)) copies.set(run, writes);
      queue?.append(writes);
    },
    whenKept: (run) => queues.get(run)?.whenKept(),
  });
  // Who owns a run is for Restate to say.
  const told = (run: string): number => again.has(run) ? MOST_PASSING : 0;
  const journal = journalOver(logged, { ...options, told, isAlive: () => false });

  /** Also what it has lost, and works on still. */
  const has = (run: string): boolean => queues.has(run) || doing.has(run) || copies.has(run);

  function learn(run: string, { from, count: kept, commits }: KeptCommits): void {
    if (has(run)) return; // nobody knows more of it
    const { count } = known.get(run) ?? NOTHING;
    if (count < from) return; // it was forgotten since that was asked
    if (kept === 0 || kept < from) {
      if (count === from) relearn(run, commits); // it was removed, or the last one was lost on its way
      return;
    }
    const news = commits.slice(count - from);
    for (const writes of news) writeAgain(store, writes);
    know(run, news);
  }

  /** These too are in the store. */
  function know(run: string, news: readonly Writes[]): void {
    const { count, size } = known.get(run) ?? NOTHING;
    const more = sizeOf(news.flat());
    knownSize += more;
    known.delete(run);
    known.set(run, { count: count + news.length, size: size + more });
    for (const [old, { size }] of known) {
      if (knownSize <= mostKnown) return;
      if (size > 0 && old !== run && !has(old)) letGo(old);
    }
  }

  function letGo(run: string): void {
    if (store.run(run) !== undefined) store.commit(() => store.removeRun(run));
    knownSize -= (known.get(run) ?? NOTHING).size;
    known.set(run, NOTHING);
  }

  /** In one go: whoever looks sees a whole run. */
  function relearn(run: string, commits: readonly Writes[]): void {
    letGo(run);
    for (const writes of commits) writeAgain(store, writes);
    know(run, commits);
  }

  /** @param past what is kept: this process has to write again what others have committed before it goes on, and all of it where it fails */
  async function go(ctx: restate.ObjectContext, task: Json, past: Writes[]): Promise<void> {
    const run = ctx.key;
    const before = past.length;
    let holder: string | undefined | null = null;
    /** With each commit it would be one more to keep. */
    const stand = (node: string | undefined): void => {
      if (node === holder || past.length === 0) return;
      holder = node;
      ctx.set<Standing>("run", { row: rowBehind(past), node });
    };
    let queue: CommitQueue | undefined;
    try {
      while (true) {
        const next = past.length;
        const kept = await ctx.run(`commit ${next}`, async () => {
          if (queue === undefined) {
            // This process may have it still, and not know that it has lost it: a connection may be gone without a word.
            for (let earlier = doing.get(run); earlier !== undefined; earlier = doing.get(run)) {
              earlier.lose();
              await earlier.ended;
            }
            const { attemptCompletedSignal: signal } = ctx.request();
            signal.throwIfAborted();
            relearn(run, past);
            queue = begin({ run, task, isAgain: next > before, signal }, past);
          }
          const writes = await queue.next();
          return writes === undefined ? null : { writes, node: address };
        });
        if (kept === null) break;
        past.push(kept.writes);
        if (queue !== undefined) know(run, [kept.writes]);
        ctx.set(`commit ${next}`, kept.writes);
        const isOver = kept.writes.some(([method, row]) =>
          method === "putRun" && objectOrEmpty(row ?? null).status !== "running"
        );
        stand(isOver ? undefined : kept.node);
        for (const [scope, slots] of slotsIn(kept.writes)) {
          await ctx.genericCall({
            service: SLOT_SERVICE,
            method: "put",
            key: scope,
            parameter: slots,
            ...AS_JSON,
          });
        }
        queue?.kept();
      }
      if (queue === undefined) relearn(run, past);
      stand(undefined);
      forget(run, queue);
    } catch (error) {
      queue?.fail(error);
      if (!doing.has(run)) forget(run, queue); // what this process still does in it is to fail
      if (error instanceof restate.TerminalError) stand(undefined);
      throw error;
    }
  }

  /** For whoever does not have the run. */
  async function look(ctx: restate.ObjectSharedContext, from: number): Promise<KeptCommits> {
    const asked = [ctx.get<Standing>("run"), from > 0 ? ctx.get(`commit ${from - 1}`) : true] as const;
    const [standing, last] = await Promise.all(asked);
    const since = last === null ? 0 : from;
    const { commits, isPart } = await commitsOf(ctx, since, MOST_AT_ONCE);
    return { from, count: since + commits.length, commits, ...(isPart && { isPart }), node: standing?.node };
  }

  async function commitsOf(
    ctx: restate.ObjectSharedContext,
    from: number,
    most: number,
  ): Promise<{ readonly commits: Writes[]; readonly isPart?: true }> {
    const commits: Writes[] = [];
    for (let size = 0; size <= most;) {
      const writes = await ctx.get<Writes>(`commit ${from + commits.length}`);
      if (writes === null) return { commits };
      commits.push(writes);
      size += sizeOf(writes);
    }
    return { commits, isPart: true };
  }

  /** Others know more of it from now on. */
  function forget(run: string, queue: CommitQueue | undefined): void {
    if (queues.get(run) === queue) queues.delete(run);
  }

  /** This process does the task. @param kept grows with what is kept of it */
  function begin(task: RunTask, kept: readonly Writes[]): CommitQueue {
    const { run } = task;
    const other = new AbortController();
    const signal = AbortSignal.any([task.signal, other.signal]);
    if (task.isAgain) again.add(run);
    else again.delete(run);
    const queue = commitQueue();
    queues.set(run, queue);
    const lost = (): void => queue.fail(signal.reason);
    signal.addEventListener("abort", lost, { once: true });
    const refused = (error: unknown): void =>
      error instanceof TaskRefused ? queue.end(new restate.TerminalError(error.message)) : queue.fail(error);
    const ended = work({ ...task, signal }).then(() => queue.end(), refused).finally(() => {
      signal.removeEventListener("abort", lost);
      doing.delete(run);
      again.delete(run);
      if (!queue.hasFailed) return;
      forget(run, queue);
      relearn(run, kept); // not all that was done here is
    });
    doing.set(run, { ended, lose: () => other.abort(new Error("another attempt has the run")) });
    return queue;
  }

  const slots = restate.object({
    name: SLOT_SERVICE,
    handlers: {
      put(ctx: restate.ObjectContext, rows: readonly SlotRow[]): Promise<void> {
        for (const row of rows) ctx.set(row.name, row);
        return Promise.resolve();
      },
      get: restate.handlers.object.shared(
        async (ctx: restate.ObjectSharedContext): Promise<readonly SlotRow[]> => {
          const rows: SlotRow[] = [];
          for (const name of await ctx.stateKeys()) {
            const row = await ctx.get<SlotRow>(name);
            if (row !== null) rows.push(row);
          }
          return rows;
        },
      ),
    },
  });
  const service = restate.object({
    name: RUN_SERVICE,
    handlers: {
      begin: (ctx: restate.ObjectContext, task: Json): Promise<void> => go(ctx, task, []),
      async go(ctx: restate.ObjectContext, task: Json): Promise<void> {
        await go(ctx, task, (await commitsOf(ctx, 0, Infinity)).commits);
      },
      look: restate.handlers.object.shared(look),
      async keep(ctx: restate.ObjectContext, writes: Writes): Promise<void> {
        if (await ctx.get("commit 0") !== null) return;
        ctx.set("commit 0", writes);
        ctx.set<Standing>("run", { row: rowBehind([writes]) });
      },
      forget(ctx: restate.ObjectContext): Promise<void> {
        ctx.clearAll();
        return Promise.resolve();
      },
    },
    options: {
      inactivityTimeout: DAY_MS,
      abortTimeout: DAY_MS,
      idempotencyRetention: REPEATED_MS,
      enableLazyState: true, // all of a long run at once is more than Restate passes on
      retryPolicy: AGAIN,
    },
  });
  return {
    journal,
    has,
    whenKept: (run) => queues.get(run)?.whenKept()?.catch(() => undefined),
    known: (run) => (known.get(run) ?? NOTHING).count,
    learn,
    async keepCopy(run, keep) {
      try {
        const writes = copies.get(run) ?? [];
        await keep(writes);
        know(run, [writes]);
      } catch (error) {
        relearn(run, []);
        throw error;
      } finally {
        copies.delete(run);
      }
    },
    learnRows(runs) {
      const kept = new Set(runs.map(({ row }) => row.id));
      const others = runs.filter(({ row: { id } }) => !queues.has(String(id)));
      const now = Date.now();
      writeAgain(
        store,
        others.map(({ row, node }) => {
          const lease = { ...objectOrEmpty(row.lease ?? null), host: "another node", seenAt: now };
          return ["putRun", node === undefined ? row : { ...row, lease }];
        }),
      );
      return store.runs({}).flatMap(({ id }) => kept.has(id) || has(id) ? [] : [id]);
    },
    learnSlots(rows) {
      store.commit(() => rows.forEach((row) => store.conversations.putSlot(row)));
    },
    handler: restate.createEndpointHandler({
      services: [service, slots],
      bidirectional: true,
      ...(identity !== undefined && { identityKeys: [identity] }),
      logger: ({ level }, message) =>
        level === "error" ? notice?.(`Restate: ${String(message).split("\n", 1)}`) : undefined,
    }),
  };
}

/** How a run stands, for lists. */
export interface Standing {
  readonly row: JsonObject;
  /** Of the node that has it. */
  readonly node?: string;
}

const AS_JSON = { inputSerde: restate.serde.json, outputSerde: restate.serde.json } as const;

/** The slots that a commit has written, by their scopes. */
function slotsIn(writes: Writes): ReadonlyMap<string, readonly Json[]> {
  const rows = writes.flatMap(([method, row]) => method === "putSlot" && row !== undefined ? [row] : []);
  return Map.groupBy(rows, (row) => String(objectOrEmpty(row).scope));
}

const NOTHING = { count: 0, size: 0 } as const;

/** Text that passes has numbers too: nobody tells as many pieces of it between two commits. */
const MOST_PASSING = 1_000_000;

/** For ever: a node that can take the run may come back. */
const AGAIN = { initialInterval: 100, exponentiationFactor: 1.5, maxInterval: 2_000, maxAttempts: 1_000_000 };

/** A call that was lost on its way is repeated within this. */
const REPEATED_MS = 600_000;

/** A model may think, and a person may be asked, as long as that. */
const DAY_MS = 86_400_000;
