// Runs on Restate. A run is a virtual object, its key the id of the run: so one process has it at a time, whatever dies. What it commits to its
// journal Restate keeps, commit by commit, as what one `ctx.run` after the other has given; an invocation that is begun again, here or at another
// node, has all of them first and goes on from there, as a run that is resumed. The engines know nothing of it.
import * as restate from "@restatedev/restate-sdk/fetch";
import type { Journal } from "../core/core.ts";
import { journalOver } from "../journal/journal_over.ts";
import { memoryStore } from "../journal/memory_journal.ts";
import type { JournalOptions } from "../journal/store.ts";
import {
  type CommitQueue,
  commitQueue,
  loggedStore,
  type Write,
  writeAgain,
  type Writes,
} from "./commit_log.ts";

/** The version of the log and of the path through it: a run that an older one began is its to finish. */
export const RUN_SERVICE = "OrreryRun_v1";

/** What a node is made of. */
export interface DurableNodeOptions extends Pick<JournalOptions, "secrets" | "clock" | "now"> {
  /** Goes on with a run that is in the journal, to where it waits for something or ends. @throws what another node may do better */
  work(run: { readonly id: string; readonly journal: Journal; readonly signal: AbortSignal }): Promise<void>;
  /** Told what went wrong where nobody else hears of it. */
  readonly notice?: (text: string) => void;
}

/** A process that takes runs from Restate. */
export interface DurableNode {
  /** The runs that this node has had, as far as it knows. */
  readonly journal: Journal;
  /** What has begun a run here, to be handed to Restate; nothing of it is kept before. */
  begun(run: string): Writes;
  /** Answers Restate. */
  readonly handler: (request: Request) => Promise<Response>;
}

/** A node, to be served over HTTP/2 where Restate reaches it. */
export function durableNode({ work, ...options }: DurableNodeOptions): DurableNode {
  const queues = new Map<string, CommitQueue>();
  const begun = new Map<string, Write[]>();
  const store = memoryStore();
  const logged = loggedStore(store, {
    append(run, writes) {
      const queue = queues.get(run);
      if (queue !== undefined) return queue.append(writes);
      begun.set(run, [...begun.get(run) ?? [], ...writes]);
    },
    whenKept: (run) => queues.get(run)?.whenKept(),
  });
  // Who owns a run is for Restate to say.
  const journal = journalOver(logged, { ...options, isAlive: () => false });

  async function go(ctx: restate.ObjectContext, first: Writes | null): Promise<void> {
    const run = ctx.key;
    const count = await ctx.get<number>("commits") ?? 0;
    store.commit(() => store.removeRun(run));
    for (let n = 0; n < count; n++) writeAgain(store, await ctx.get<Writes>(`commit ${n}`) ?? []);
    let next = count;
    const keep = (writes: Writes): void => {
      ctx.set(`commit ${next}`, writes);
      ctx.set("commits", ++next);
    };
    if (count === 0 && first !== null) {
      writeAgain(store, first);
      keep(first);
    }
    let queue: CommitQueue | undefined;
    try {
      while (true) {
        const writes: Writes | null = await ctx.run(`commit ${next}`, async () => {
          queue ??= begin(run, ctx.request().attemptCompletedSignal);
          return await queue.next() ?? null;
        });
        if (writes === null) return;
        if (queue === undefined) writeAgain(store, writes);
        keep(writes);
        queue?.kept();
      }
    } catch (error) {
      queue?.fail(error);
      throw error;
    }
  }

  /** This process goes on with the run. */
  function begin(run: string, signal: AbortSignal): CommitQueue {
    const queue = commitQueue();
    queues.set(run, queue);
    const lost = (): void => queue.fail(signal.reason);
    signal.addEventListener("abort", lost, { once: true });
    work({ id: run, journal, signal }).then(queue.end, queue.fail).finally(() => {
      signal.removeEventListener("abort", lost);
      if (queues.get(run) === queue) queues.delete(run);
    });
    return queue;
  }

  const service = restate.object({
    name: RUN_SERVICE,
    handlers: { go },
    options: { inactivityTimeout: DAY_MS, abortTimeout: DAY_MS },
  });
  return {
    journal,
    begun(run) {
      const writes = begun.get(run) ?? [];
      begun.delete(run);
      return writes;
    },
    handler: restate.createEndpointHandler({
      services: [service],
      bidirectional: true,
      logger: ({ level }, message) => level === "error" ? options.notice?.(String(message)) : undefined,
    }),
  };
}

/** A model may think, and a person may be asked, as long as that. */
const DAY_MS = 86_400_000;
