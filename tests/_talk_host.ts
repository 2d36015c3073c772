// A project of a test as conversations of the service meet it: its turns are held one at a time, and nobody is asked.
import { memoryJournal, openJournal } from "../mod.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import { keptReader } from "../lib/service/runs/reader.ts";
import { HeldRun } from "../lib/service/runs/held_run.ts";
import { type RunHandle, ServiceError } from "../lib/service/service.ts";
import type { TalkHost } from "../lib/service/talks/talks.ts";
import { startPlace } from "./_start_place.ts";

/** A host, and how many turns are held. */
export interface TestedHost extends TalkHost, AsyncDisposable {
  readonly held: number;
}

/** Opens a folder; `isEphemeral` keeps nothing in it. */
export function talkHost(
  root: string,
  { isEphemeral = false, limit = 10 }: { readonly isEphemeral?: boolean; readonly limit?: number } = {},
): TestedHost {
  const secrets = createSecrets();
  const journal = isEphemeral ? memoryJournal({ secrets }) : openJournal(root, { secrets });
  const turns = new Map<string, HeldRun>();
  const work = new Set<Promise<unknown>>();
  let held = 0;
  return {
    root,
    journal,
    secrets,
    isEphemeral,
    get held() {
      return held;
    },
    async hold({ id, file }) {
      if (held >= limit) throw new ServiceError(`${limit} runs are under way`, { code: "limit" });
      held++;
      const stop = new AbortController();
      const place = await startPlace(root, { signal: stop.signal });
      const leave = async () => {
        held--;
        await place[Symbol.asyncDispose]();
      };
      return {
        at: place,
        assertGoing: () => undefined,
        leave: () => void leave(),
        follow(events, { before }): RunHandle {
          const turn = new HeldRun({ id, kind: "conversation", file, startedAt: Date.now(), before, stop });
          turns.set(id, turn);
          const followed = (async () => {
            for await (const event of events) if (event.seq > before) turn.push(event);
            await leave();
            turn.end();
          })();
          work.add(followed);
          return turn;
        },
      };
    },
    find: (id) => turns.get(id),
    async read(id, options) {
      const turn = turns.get(id);
      if (turn !== undefined && !turn.isOver) return turn.read(options);
      return await Promise.resolve(keptReader((after) => journal.events(id, { after, limit: 3 }), options));
    },
    async [Symbol.asyncDispose]() {
      for (const turn of turns.values()) turn.cancel("the test is over");
      await Promise.allSettled(work);
      journal[Symbol.dispose]();
    },
  };
}
