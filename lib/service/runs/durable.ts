// The runs of several nodes. Whoever is asked for a run hands it to Restate, which gives it to one of the nodes, and follows it there: so any
// node can be asked about each.
import {
  isPassing,
  isRecord,
  type Journal,
  type JournalStatus,
  type Json,
  messageOf,
  ModelError,
  ProblemsError,
  type Secrets,
  SourceError,
  systemClock,
  toJson,
  type Words,
} from "../../core/core.ts";
import { scopeOf } from "../../conversation/slots.ts";
import { type RestateAddress, restateClient } from "../../durable/restate_client.ts";
import { durableNode, type RunTask, TaskRefused } from "../../durable/run_service.ts";
import { hostModelFetch } from "../../host/http/model_fetch.ts";
import { isDeno29 } from "../../host/process.ts";
import { type HttpServer, serveHttp } from "../../host/http/serve.ts";
import { scopeText } from "../../journal/run_conversation.ts";
import { newRunId } from "../../journal/new_run.ts";
import { goOn } from "../start/resume.ts";
import { type ConversationInput, conversationInput } from "../talks/agent.ts";
import type { OpenedTalks } from "../talks/talks.ts";
import type { Answered } from "./asks.ts";
import { HeldRun } from "./held_run.ts";
import { busyRun } from "./kept.ts";
import type { RunRegistry } from "./registry.ts";
import type { RunStage, RunStageOptions } from "./stage.ts";
import {
  type BeginTalk,
  type Frame,
  LACKS,
  type OpenAsk,
  type ResumeWishes,
  type RunHandle,
  type RunShows,
  type Service,
  ServiceError,
  type ServiceErrorCode,
  type StartRun,
  type TalkHandle,
} from "../service.ts";

/** Which Restate keeps the runs, and how this node is reached. */
export interface EngineSettings extends RestateAddress {
  /** The one address that all nodes stand behind, to be registered. Default: that of this node. */
  readonly as?: string;
  /** Where this node listens for Restate and the other nodes. */
  readonly host: string;
  readonly port: number;
  /** Where the others reach it. Default: where it listens. */
  readonly node?: string;
  /** `publickeyv1_…` of Restate. */
  readonly identity?: string;
}

/** What is done with a run. */
export type DurableTask =
  | { readonly do: "start"; readonly request: StartRun }
  | { readonly do: "resume"; readonly wishes: ResumeWishes }
  | { readonly do: "begin"; readonly wish: BeginTalk }
  | { readonly do: "say"; readonly words: Words };

/** Runs that Restate gives to nodes. */
export interface DurableRuns {
  /** What this node knows of them. */
  readonly journal: Journal;
  /** Takes runs from now on; gives the service that hands over what is wished of it. */
  serve(service: Service, parts: NodeParts): Promise<Service>;
  /** Makes known here what conversations have left in their slots. */
  learnSlots(scope: ConversationInput["scope"]): Promise<void>;
  close(): Promise<void>;
}

interface RunEngine {
  /** Takes runs from now on. @param perform does a task here, or goes on with it */
  open(
    around: Pick<RunStageOptions, "registry" | "drain">,
    perform: (run: string, task: DurableTask, isAgain: boolean) => Promise<RunHandle>,
  ): Promise<void>;
  /** Comes back when a node has it. @throws {ServiceError} as that node says */
  hand(run: string, task: DurableTask, shows?: RunShows): Promise<RunHandle>;
  /** What is known here of a run is what is kept; where another node has it, it is followed. */
  learn(run: string): Promise<void>;
  /** Keeps a run that was made of another one here. */
  keepCopy(run: string): Promise<void>;
  /** There is something of it here. */
  knows(run: string): boolean;
  /** It is removed everywhere. */
  forget(run: string): Promise<void>;
  /** The same of the list of all. */
  learnAll(): Promise<void>;
  learnSlots(scope: ConversationInput["scope"]): Promise<void>;
}

/** How often is looked where a run is, ms. */
const LOOK_MS = 25;
/** The same where Restate does not answer, ms. */
const ASK_AGAIN_MS = 250;
/** So long a run may be without a node before that is told to whoever begins it, ms. */
const TAKER_MS = 60_000;
/** The same for those that look at one that was begun. */
const WAITS_MS = 1_000;
/** How often a node leaves a run to others that it cannot do: by then they were asked as often. */
const MOST_LEFT = 2;

export function durableRuns(
  settings: EngineSettings,
  { secrets, notice }: { readonly secrets: Secrets; readonly notice: (text: string) => void },
): DurableRuns {
  const fetch = hostModelFetch({ check: () => undefined }); // the user has named all that is asked
  const restate = restateClient(settings, fetch);
  let perform: Parameters<RunEngine["open"]>[1];
  let registry: RunRegistry;
  let isEnding = (): boolean => false;
  /** Runs that this node is about to have. */
  const taking = new Map<string, Promise<unknown>>();
  /** How often this node has left a run to others. */
  const left = new Map<string, number>();
  /** Runs that other nodes have, or none for now. */
  const followers = new WeakSet<HeldRun>();
  const server: HttpServer = serveHttp({ host: settings.host, port: settings.port, fetch: answer });
  const address = settings.node ?? `http://${settings.host}:${server.port}`;
  const node = durableNode({ secrets, notice, address, identity: settings.identity, work });

  async function work({ run, task, isAgain, signal }: RunTask): Promise<void> {
    const follower = registry.find(run);
    if (follower !== undefined && followers.has(follower)) registry.leave(follower);
    const wish = task as unknown as DurableTask;
    const taken = perform(run, wish, isAgain).finally(() => taking.delete(run));
    taking.set(run, taken);
    const held = await taken.catch((error) => {
      throw refusal(error, { run, isAgain, isLookedAt: isAgain || wish.do === "start" });
    });
    left.delete(run);
    const lose = (): void => held instanceof HeldRun ? held.lose() : held.cancel();
    if (signal.aborted) lose();
    else signal.addEventListener("abort", lose, { once: true });
    const { status } = await held.ended;
    if (signal.aborted) registry.remove(run);
    if (status === "stopped" && isEnding()) {
      throw new Error("this node is about to end, so another one goes on");
    }
  }

  /** Why this node does not do a task: for good, or it leaves it to others. What was looked at before can be wrong only here. */
  function refusal(
    error: unknown,
    { run, isAgain, isLookedAt }: {
      readonly run: string;
      readonly isAgain: boolean;
      readonly isLookedAt: boolean;
    },
  ): unknown {
    const why = whyNot(error);
    if (why?.isSettled || (why !== undefined && !why.isLacking && !isLookedAt)) {
      return new TaskRefused(why.told);
    }
    const times = (left.get(run) ?? 0) + 1;
    if (times > MOST_LEFT && why !== undefined && !(isAgain && why.isLacking)) {
      left.delete(run);
      return new TaskRefused(why.told);
    }
    left.set(run, times);
    server.hangUp(); // Restate asks again by the connection that it has
    return error;
  }

  /** Restate, and the other nodes. */
  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, what, run = ""] = /^\/orrery\/(\w+)\/([^/]+)$/.exec(pathname) ?? [];
    if (what === undefined) return await node.handler(request);
    const held = registry.find(run);
    if (held === undefined || followers.has(held)) return new Response(null, { status: 404 });
    if (what === "has") return new Response("{}");
    if (what === "frames") {
      const reader = held.read({ after: Number(searchParams.get("after")) });
      return new Response(lines(reader), { headers: { "content-type": "application/jsonl" } });
    }
    const said: unknown = await request.json();
    if (!isRecord(said)) return new Response(null, { status: 400 });
    if (what === "cancel") held.cancel(String(said.reason));
    else {
      const isTaken = await held.answer(String(said.ask), said.answer as Answered["answer"], {
        by: String(said.by),
      });
      if (!isTaken) return new Response(null, { status: 409 });
    }
    return new Response("{}");
  }

  async function learn(run: string): Promise<void> {
    await taking.get(run)?.catch(() => undefined);
    await node.whenKept(run);
    if (node.has(run)) return;
    const kept = await restate.look(run, node.known(run));
    if (node.has(run)) return; // since then
    node.learn(run, kept);
    if (kept.count === 0) return registry.remove(run);
    const isFollowed = registry.find(run)?.isOver === false;
    if (isFollowed || kept.node === undefined) return;
    follow(run);
  }

  async function hand(run: string, task: DurableTask, shows?: RunShows): Promise<RunHandle> {
    let outcome: { readonly error?: unknown; readonly isRefused?: true } | undefined;
    const before = node.known(run);
    restate.perform(run, secrets.maskJson(task as unknown as Json)).then(
      () => outcome = {},
      (error) =>
        outcome = error instanceof TaskRefused ? { error: refused(error.why), isRefused: true } : { error },
    );
    for (const until = performance.now() + TAKER_MS;;) {
      const kept = await restate.look(run, before).catch(() => undefined); // the task's own call says whether Restate answers
      if (outcome?.isRefused) throw outcome.error;
      const own = registry.find(run);
      if (
        own !== undefined && !followers.has(own) &&
        (!own.isOver || kept?.node === address || outcome !== undefined)
      ) {
        await node.whenKept(run); // the others can be asked about it from now on
        return own;
      }
      const isElsewhere = kept?.node !== undefined && kept.node !== address;
      if (
        kept !== undefined && !node.has(run) && (
          isElsewhere && await hasBegun(kept.node, run) ||
          (outcome !== undefined && !("error" in outcome) && kept.commits.length > 0)
        )
      ) {
        node.learn(run, kept);
        return follow(run, shows);
      }
      if (outcome?.error !== undefined) throw outcome.error;
      if (performance.now() > until) {
        const why = await restate.waitsFor(run);
        throw new ServiceError(`no node takes run ${run}${why === undefined ? "" : `: ${why}`}`, {
          code: "limit",
        });
      }
      await systemClock.sleep(LOOK_MS);
    }
  }

  /** A node may yet refuse a run that it has. */
  async function hasBegun(at: string | undefined, run: string): Promise<boolean> {
    const response = await fetch(`${at}/orrery/has/${run}`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  }

  /** A run of another node, as if it were of this one. */
  function follow(run: string, shows?: RunShows): HeldRun {
    const { kind, file, startedAt } = node.journal.conversation(run, { last: 0 }).summary;
    const stop = new AbortController();
    const asks = remoteAsks((ask, { answer, by }) =>
      post(run, "answer", { ask, answer: toJson(answer), by })
    );
    let waitsFor: string | undefined;
    const held = new HeldRun({
      waitsFor: () => waitsFor,
      id: run,
      kind,
      file,
      startedAt,
      shows,
      asks,
      stop,
      onAsks: () => registry.changed(),
      earlier: (after) => node.journal.events(run, { after, limit: 500, maxBytes: 65_536 }),
      keptSteps: () => node.journal.conversation(run, { last: 0 }).summary.steps,
    });
    stop.signal.addEventListener("abort", () => {
      post(run, "cancel", { reason: messageOf(stop.signal.reason) }).catch((error) =>
        notice(messageOf(error))
      );
    });
    followers.add(held);
    registry.add(held);
    void feed(held, asks, (why) => waitsFor = why).catch((error) => messageOf(error)).then((error) => {
      const status = statusOf(run);
      held.end({ error, keptAs: status === "held" || status === "stopped" ? status : undefined });
      if (registry.find(run) === held) registry.ended(held);
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
    const response = await fetch(url);
    if (!response.ok || response.body === null) return void await response.body?.cancel();
    let rest = "";
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const whole = (rest + text).split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) take(JSON.parse(line));
    }
  }

  async function post(run: string, what: string, body: Json): Promise<boolean> {
    const { node: holder } = await restate.look(run, node.known(run));
    if (holder === undefined) {
      if (what === "cancel") await restate.cancel(run);
      return what === "cancel";
    }
    const response = await fetch(`${holder}/orrery/${what}/${run}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    return response.ok;
  }

  const engine: RunEngine = {
    async open({ registry: runs, drain }, work) {
      registry = runs;
      perform = work;
      isEnding = () => drain.aborted;
      if (!isDeno29()) {
        notice(
          "each step takes some 40 ms more with a Deno before 2.9, as this one or the one of this binary is",
        );
      }
      await restate.register(settings.as ?? address);
    },
    hand,
    learn,
    knows: (run) => node.has(run) || node.known(run) > 0,
    forget: restate.forget,
    keepCopy: (run) => node.keepCopy(run, (writes) => restate.keep(run, writes)),
    async learnAll() {
      await Promise.all(node.learnRows(await restate.rows()).map(learn));
    },
    async learnSlots(scope) {
      await Promise.all(SCOPES.map(async (destination) => {
        const text = scopeText(scopeOf(destination, scope), (value) => secrets.maskJson(value));
        node.learnSlots(await restate.slots(text));
      }));
    },
  };
  return {
    journal: node.journal,
    serve: (service, parts) => durableService(service, engine, parts),
    learnSlots: engine.learnSlots,
    close: () => server.close({ graceMs: 1_000 }),
  };
}

const SCOPES = ["session", "module", "global"] as const;

/** What every node would say of a run as it stands. */
const SETTLED: ReadonlySet<ServiceErrorCode> = new Set(["busy", "ended", "unverified", "gone"] as const);
/** What every node would say that sees the same files. */
const WRONG: ReadonlySet<ServiceErrorCode> = new Set(["not-found", "outside", "changed", "invalid"] as const);

/** What a task is refused with; undefined for what passes, such as a node that has as many runs as it may. */
function whyNot(
  error: unknown,
): { readonly told: Json; readonly isSettled: boolean; readonly isLacking: boolean } | undefined {
  const isLacking = lacks(error);
  if (error instanceof ServiceError && (SETTLED.has(error.code) || WRONG.has(error.code))) {
    const { code, message, details } = error;
    return { told: { code, message, details: toJson(details) }, isSettled: SETTLED.has(code), isLacking };
  }
  if (error instanceof ProblemsError || error instanceof SourceError) {
    const problems = error instanceof ProblemsError ? error.problems : [error];
    const told = problems.map(({ message, span, hint, source, code }) => ({
      message,
      span,
      hint,
      source,
      code,
    }));
    return { told: { problems: toJson(told) }, isSettled: false, isLacking };
  }
  if (!isLacking || !(error instanceof ModelError)) return undefined;
  return { told: { model: error.code, message: error.message }, isSettled: false, isLacking };
}

/** Another node may have what is missing here. */
function lacks(error: unknown): boolean {
  if (error instanceof ModelError) return error.code === "config" || error.code === "permission";
  return error instanceof ProblemsError && error.problems.some(({ code }) => code === LACKS);
}

/** The same error again, at the node that has handed the task over. */
function refused(why: Json): Error {
  const { code, message, details, problems, model } = Object(why);
  if (Array.isArray(problems)) {
    return new ProblemsError(problems.map(({ message, ...more }) => new SourceError(message, more)));
  }
  if (model !== undefined) return new ModelError(message, { code: model });
  return new ServiceError(message, { code, details });
}

function lines(reader: ReturnType<HeldRun["read"]>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const frames = await reader.next({ maxBytes: 65_536 });
      if (frames === undefined) return controller.close();
      controller.enqueue(encoder.encode(frames.map((frame) => `${JSON.stringify(frame)}\n`).join("")));
    },
    cancel: () => reader.leave(),
  });
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

/** What the service of this node does by itself. */
export interface NodeParts {
  readonly stage: RunStage;
  readonly talks: OpenedTalks;
  /** Begins a run here, under this id. */
  start(request: StartRun, id: string): Promise<RunHandle>;
  /** Looks at all that is wished, and begins nothing. Gives what is shown of the run before its first event. */
  look(request: StartRun): Promise<RunShows>;
}

/** The service of a node: what is wished is handed over, and what is asked is learned first. */
async function durableService(
  service: Service,
  engine: RunEngine,
  { stage, talks, start, look }: NodeParts,
): Promise<Service> {
  const isTalk = (run: string): boolean => stage.summary(run).kind === "conversation";
  await engine.open(stage.options, async (run, task, isAgain) => {
    switch (task.do) {
      case "start":
        return isAgain
          ? await goOn(run, { canAsk: task.request.canAsk }, stage)
          : await start(task.request, run);
      case "resume": {
        const wishes = isAgain ? { canAsk: task.wishes.canAsk } : task.wishes;
        return isTalk(run) ? await talks.resume(run, wishes) : await goOn(run, wishes, stage);
      }
      case "begin":
        return isAgain ? await talks.resume(run, {}) : await talks.beginAs(run, task.wish);
      case "say": {
        const isBegun = isAgain && stage.options.journal.conversation(run, { last: 0 }).isOpen;
        return isBegun ? await talks.resume(run, {}) : await (await talks.open(run)).say(task.words);
      }
      default: // a node of that version takes it
        throw new Error(
          `Another version of Orrery has handed this over: ${JSON.stringify(task satisfies never)}`,
        );
    }
  });

  /** @throws {ServiceError} `busy` */
  const assertFree = async (run: string): Promise<void> => {
    await engine.learn(run);
    if (service.find(run)?.status === "running") throw busyRun(run);
  };
  const next = async (run: string, task: DurableTask): Promise<RunHandle> => {
    await assertFree(run);
    return await engine.hand(run, task);
  };
  const durableTalk = (talk: TalkHandle): TalkHandle => ({
    ...talk,
    async state(range) {
      await engine.learn(talk.id);
      const { run } = stage.options.journal.conversation(talk.id, { last: 0 });
      await engine.learnSlots(conversationInput(run.input).scope);
      return await talk.state(range);
    },
    say: (words) => next(talk.id, { do: "say", words }),
    retry: () => next(talk.id, { do: "resume", wishes: {} }),
    async back(turns) {
      await engine.learn(talk.id);
      const state = await talk.back(turns);
      await engine.keepCopy(state.id);
      return state;
    },
  });
  const known = <Value>(look: (id: string) => Promise<Value>) => async (id: string): Promise<Value> => {
    await engine.learn(id);
    return await look(id);
  };
  const durable: Service = {
    ...service,
    get active() {
      return service.active;
    },
    get limit() {
      return service.limit;
    },
    get now() {
      return service.now;
    },
    async start(request) {
      const whole = request.kind !== "calls" || typeof request.text === "string"
        ? request
        : { ...request, text: (await Array.fromAsync(request.text)).join("") };
      let missing: unknown;
      const shows = await look(whole).catch((error) => {
        if (!lacks(error)) throw error;
        missing = error;
        return undefined;
      });
      try {
        return await engine.hand(newRunId(Date.now()), { do: "start", request: whole }, shows);
      } catch (error) {
        throw missing ?? error;
      }
    },
    async idOf(beginning) {
      await engine.learn(beginning); // most say all of it, and then nobody has to list all runs
      if (!engine.knows(beginning)) {
        await engine.learnAll();
        const ids = stage.options.journal.list().flatMap(({ id }) => id.startsWith(beginning) ? [id] : []);
        await Promise.all(ids.map(engine.learn));
      }
      return await service.idOf(beginning);
    },
    run: known((id) => service.run(id)),
    status: known((id) => service.status(id)),
    trace: known((id) => service.trace(id)),
    async runs(query) {
      await engine.learnAll();
      return await service.runs(query);
    },
    async read(id, options) {
      await engine.learn(id);
      return await service.read(id, options);
    },
    async remove(id) {
      await assertFree(id);
      await service.remove(id);
      await engine.forget(id);
    },
    resume: (id, wishes) => next(id, { do: "resume", wishes }),
    talks: {
      async begin(wish) {
        const id = newRunId(Date.now());
        const turn = await engine.hand(id, { do: "begin", wish });
        return { talk: durableTalk(await talks.open(id)), turn };
      },
      async open(id) {
        await engine.learn(id);
        return durableTalk(await talks.open(id));
      },
      async list(options) {
        await engine.learnAll();
        const found = stage.options.journal.list({
          kind: "conversation",
          limit: options?.limit,
          file: options?.agent,
        });
        await Promise.all(found.map(({ id }) => engine.learn(id)));
        return await talks.list(options);
      },
    },
  };
  return durable;
}
