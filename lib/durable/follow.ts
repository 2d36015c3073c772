// Runs that other nodes have, as if they were of this one: what is kept of them comes from Restate, what passes from the node that has them.
import {
  isPassing,
  JournalError,
  type JournalStatus,
  type Json,
  messageOf,
  systemClock,
  toJson,
} from "../core/core.ts";
import type { RestateClient } from "./restate_client.ts";
import type { DurableNode } from "./run_service.ts";
import type { Answered } from "../service/runs/asks.ts";
import { HeldRun } from "../service/runs/held_run.ts";
import type { RunRegistry } from "../service/runs/registry.ts";
import type { Frame, OpenAsk, RunShows } from "../service/service.ts";

/** How often is looked where a run is, ms. */
export const LOOK_MS = 25;
/** The same where Restate does not answer, or no node has the run, ms. */
const ASK_AGAIN_MS = 250;
/** So long a run may be without a node before whoever looks at it is told why, ms. */
const WAITS_MS = 1_000;

/** How often a node says that it is there to those that follow its runs, ms. */
export const BEAT_MS = 5_000;

/** What a node asks about the runs of others. */
export interface FollowOptions {
  readonly node: DurableNode;
  readonly restate: RestateClient;
  readonly fetch: typeof globalThis.fetch;
  readonly registry: () => RunRegistry;
}

/** Gives what follows a run that is known here, until it is over. @param options.registry where it is put */
export function following(
  { node, restate, fetch, registry }: FollowOptions,
): (run: string, shows?: RunShows) => HeldRun {
  function follow(run: string, shows?: RunShows): HeldRun {
    const { kind, file, startedAt } = node.journal.conversation(run, { last: 0 }).summary;
    const stop = new AbortController();
    const asks = remoteAsks((ask, { answer, by }) =>
      post(run, "answer", { ask, answer: toJson(answer), by })
    );
    let waitsFor: string | undefined;
    const held = new HeldRun({
      isElsewhere: true,
      waitsFor: () => waitsFor,
      id: run,
      kind,
      file,
      startedAt,
      shows,
      asks,
      stop,
      onAsks: () => registry().changed(),
      earlier: (after) => node.journal.events(run, { after, limit: 500, maxBytes: 65_536 }),
      keptSteps: () => node.journal.conversation(run, { last: 0 }).summary.steps,
    });
    stop.signal.addEventListener("abort", () => void cancel(held, messageOf(stop.signal.reason)));
    registry().add(held);
    void feed(held, asks, (why) => waitsFor = why).catch((error) => messageOf(error)).then((error) => {
      const status = statusOf(run);
      held.end({ error, keptAs: status === "held" || status === "stopped" ? status : undefined });
      if (registry().find(run) === held) registry().ended(held);
    });
    return held;
  }

  /** As this node has it; undefined where it has nothing of it. */
  function statusOf(run: string): JournalStatus | undefined {
    return node.known(run) === 0 ? undefined : node.journal.conversation(run, { last: 0 }).summary.status;
  }

  /** Until the run is over, whichever node has it; what is kept is told once. */
  async function feed(
    held: HeldRun,
    asks: ReturnType<typeof remoteAsks>,
    waits: (why: string | undefined) => void,
  ): Promise<undefined> {
    let seen = 0;
    let quietSince = performance.now();
    const take = (frame: Frame): void => {
      if ("ask" in frame) asks.opened(frame.ask);
      else if ("answered" in frame) asks.closed(frame.answered);
      else if ("event" in frame && frame.event.seq > seen) {
        if (!isPassing(frame.event)) seen = frame.event.seq;
        held.push(frame.event);
      }
    };
    const hears = (frame: Frame): void => {
      quietSince = performance.now();
      waits(undefined);
      take(frame);
    };
    while (true) {
      const kept = await restate.look(held.id, node.known(held.id)).catch(() => undefined); // it will answer again
      if (kept !== undefined) node.learn(held.id, kept);
      if (kept?.count === 0) return; // it was removed
      if (kept !== undefined && kept.node === undefined && !node.has(held.id)) {
        for (let events = node.journal.events(held.id, { after: seen }); events.length > 0;) {
          for (const event of events) take({ event });
          events = node.journal.events(held.id, { after: seen });
        }
        if (held.hasEnded || statusOf(held.id) !== "running") return;
      } else if (kept?.node !== undefined) {
        try {
          await frames(`${kept.node}/orrery/frames/${held.id}?after=${seen}`, hears);
        } catch { /* another node will have it */ }
      }
      const quietMs = performance.now() - quietSince;
      if (quietMs > WAITS_MS) {
        quietSince += WAITS_MS;
        waits(await restate.waitsFor(held.id).catch(messageOf));
      }
      await systemClock.sleep(quietMs < ASK_AGAIN_MS ? LOOK_MS : ASK_AGAIN_MS);
    }
  }

  async function frames(url: string, take: (frame: Frame) => void): Promise<void> {
    const silence = new AbortController(); // of a machine that is gone nothing comes, not even an end
    const wait = () => setTimeout(() => silence.abort(), 3 * BEAT_MS);
    let late = wait();
    try {
      const response = await fetch(url, { signal: silence.signal });
      if (!response.ok || response.body === null) return void await response.body?.cancel();
      let rest = "";
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(late);
        late = wait();
        const whole = (rest + text).split("\n");
        rest = whole.pop() ?? "";
        for (const line of whole) if (line !== "") take(JSON.parse(line));
      }
    } finally {
      clearTimeout(late);
    }
  }

  /** Until a node has heard it, which may be another one by then. */
  async function cancel(held: HeldRun, reason: string): Promise<void> {
    while (!held.isOver && !await post(held.id, "cancel", { reason }).catch(() => false)) {
      await systemClock.sleep(ASK_AGAIN_MS);
    }
  }

  /** Tells the node that has the run. @throws {JournalError} where that does not answer */
  async function post(run: string, what: string, body: Json): Promise<boolean> {
    const { node: holder } = await restate.look(run, node.known(run));
    if (holder === undefined) {
      if (what === "cancel") await restate.cancel(run);
      return what === "cancel";
    }
    try {
      const response = await fetch(`${holder}/orrery/${what}/${run}`, {
        method: "POST",
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(3 * BEAT_MS),
      });
      await response.body?.cancel();
      return response.ok;
    } catch (error) {
      throw new JournalError(
        `The node at ${holder}, which has run ${run}, does not answer; another one will have it soon: try again (${
          messageOf(error)
        })`,
      );
    }
  }

  return follow;
}

/** The questions of a run that another node has, as they are told here. */
function remoteAsks(answer: (ask: string, answered: Answered) => Promise<boolean>) {
  const asked = new Map<string, OpenAsk>();
  return {
    onChange: (): void => {},
    decided: new Map<string, string>(),
    answer,
    get open(): readonly OpenAsk[] {
      return [...asked.values()];
    },
    opened(ask: OpenAsk): void {
      asked.set(ask.ask, ask);
      this.onChange();
    },
    closed(ask: string): void {
      if (asked.delete(ask)) this.onChange();
    },
  };
}
