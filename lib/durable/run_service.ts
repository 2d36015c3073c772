// Runs on Restate. A run is a virtual object, its key the id of the run: so one process has it at a time, whatever dies. What it commits to its
// journal Restate keeps, commit by commit, as what one `ctx.run` after the other has given; an invocation that is begun again, here or at another
// node, has all of them first and goes on from there, as a run that is resumed. The engines know nothing of it.
import * as restate from "@restatedev/restate-sdk/fetch";
import type { Journal, Json } from "../core/core.ts";
import { journalOver } from "../journal/journal_over.ts";
import { memoryStore } from "../journal/memory_journal.ts";
import type { JournalOptions } from "../journal/store.ts";
import {
  type CommitQueue,
  commitQueue,
  loggedStore,
  rowBehind,
  writeAgain,
  type Writes,
} from "./commit_log.ts";

/** The version of the log and of the path through it: a run that an older one began is its to finish. */
export const RUN_SERVICE = "OrreryRun_v1";

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
  /** Told what went wrong where nobody else hears of it. */
  readonly notice?: (text: string) => void;
}

/** What is kept of a run, from a commit on. */
export interface KeptCommits {
  readonly commits: readonly Writes[];
  /** Of the node that has the run; absent where none has. */
  readonly node?: string;
}

/** A process that takes runs from Restate. */
export interface DurableNode {
  /** The runs that this node knows of, as far as it does. */
  readonly journal: Journal;
  /** How many commits of a run it knows. */
  known(run: string): number;
  /** Takes in what others have committed, behind what is known. */
  learn(run: string, commits: readonly Writes[]): void;
  /** Answers Restate. */
  readonly handler: (request: Request) => Promise<Response>;
}

/** A node, to be served over HTTP/2 where Restate reaches it. */
export function durableNode(
  { work, address, identity, notice, ...options }: DurableNodeOptions,
): DurableNode {
  const queues = new Map<string, CommitQueue>();
  const known = new Map<string, number>();
  /** Tasks that this process does. */
  const done = new Map<string, Promise<void>>();
  const store = memoryStore();
  const logged = loggedStore(store, {
    append: (run, writes) => queues.get(run)?.append(writes),
    whenKept: (run) => queues.get(run)?.whenKept(),
  });
  // Who owns a run is for Restate to say.
  const journal = journalOver(logged, { ...options, isAlive: () => false });

  function learn(run: string, commits: readonly Writes[]): void {
    for (const writes of commits) writeAgain(store, writes);
    known.set(run, (known.get(run) ?? 0) + commits.length);
  }

  async function go(ctx: restate.ObjectContext, task: Json): Promise<void> {
    const run = ctx.key;
    await done.get(run); // this process may have it still, and not know that it has lost it
    const before = await ctx.get<number>("commits") ?? 0;
    let row = await ctx.get<Json>("row");
    store.commit(() => store.removeRun(run));
    known.delete(run);
    for (let n = 0; n < before; n++) learn(run, [await ctx.get<Writes>(`commit ${n}`) ?? []]);
    let queue: CommitQueue | undefined;
    let next = before;
    try {
      while (true) {
        const kept = await ctx.run(`commit ${next}`, async () => {
          queue ??= begin({
            run,
            task,
            isAgain: next > before,
            signal: ctx.request().attemptCompletedSignal,
          });
          const writes = await queue.next();
          return writes === undefined ? null : { writes, node: address };
        });
        if (kept === null) break;
        if (queue === undefined) learn(run, [kept.writes]);
        else known.set(run, next + 1);
        ctx.set(`commit ${next}`, kept.writes);
        ctx.set("commits", ++next);
        ctx.set("row", row = rowBehind(row, kept.writes));
        ctx.set("node", kept.node);
        queue?.kept();
      }
      ctx.clear("node");
    } catch (error) {
      queue?.fail(error);
      throw error instanceof TaskRefused ? new restate.TerminalError(error.message) : error;
    }
  }

  /** For whoever does not have the run. */
  async function look(ctx: restate.ObjectSharedContext, from: number): Promise<KeptCommits> {
    const count = await ctx.get<number>("commits") ?? 0;
    const commits: Writes[] = [];
    for (let n = from; n < count; n++) commits.push(await ctx.get<Writes>(`commit ${n}`) ?? []);
    return { commits, node: await ctx.get<string>("node") ?? undefined };
  }

  /** This process does the task. */
  function begin(task: RunTask): CommitQueue {
    const { run, signal } = task;
    const queue = commitQueue();
    queues.set(run, queue);
    const lost = (): void => queue.fail(signal.reason);
    signal.addEventListener("abort", lost, { once: true });
    const refused = (error: unknown): void =>
      queue.fail(error instanceof TaskRefused ? new restate.TerminalError(error.message) : error);
    const working = work(task).then(queue.end, refused).finally(() => {
      signal.removeEventListener("abort", lost);
      queues.delete(run);
      done.delete(run);
    });
    done.set(run, working);
    return queue;
  }

  const service = restate.object({
    name: RUN_SERVICE,
    handlers: { go, look: restate.handlers.object.shared(look) },
    options: { inactivityTimeout: DAY_MS, abortTimeout: DAY_MS },
  });
  return {
    journal,
    known: (run) => known.get(run) ?? 0,
    learn,
    handler: restate.createEndpointHandler({
      services: [service],
      bidirectional: true,
      ...(identity !== undefined && { identityKeys: [identity] }),
      logger: ({ level }, message) => level === "error" ? notice?.(String(message)) : undefined,
    }),
  };
}

/** A model may think, and a person may be asked, as long as that. */
const DAY_MS = 86_400_000;
