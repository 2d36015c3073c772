// A service whose runs, talks and answers are written by the test: for everything that stands on `Service`. Readers, asks and states are
// the real ones.
import type { Json, Model, RunEventBody, RunKind, RunStatus, RunTrace } from "../mod.ts";
import { Asks } from "../lib/service/runs/asks.ts";
import { heldTrace, tracedState } from "../lib/service/runs/kept.ts";
import type { Look } from "../lib/service/look/look.ts";
import { keptReader } from "../lib/service/runs/reader.ts";
import { HeldRun } from "../lib/service/runs/held_run.ts";
import { type OpenServer, openServer, type OpenServerOptions } from "../lib/server/server.ts";
import { type AskOptions, askServer, TOKEN } from "./_server.ts";
import {
  type Answer,
  type BeginTalk,
  type OpenAsk,
  type ProjectNow,
  type ProjectReader,
  type ResumeWishes,
  type RunHandle,
  type RunState,
  type Service,
  ServiceError,
  type StartRun,
  type TalkHandle,
  type TalkState,
} from "../lib/service/service.ts";

/** What a scripted run does. */
export interface FakeTelling {
  readonly id: string;
  /** Aborted by `cancel`, and when the service is disposed of. */
  readonly signal: AbortSignal;
  /** Tells an event; `seq`, `at` (the `seq` in ms) and `run` are put in. */
  tell(body: RunEventBody): void;
  /** Asks whoever follows; fails when the run is cancelled meanwhile. */
  ask(asked: Omit<OpenAsk, "ask">): Promise<Answer>;
}

/** How a scripted run ends. Default: `done` without a value. */
export interface FakeEnd {
  readonly status?: RunStatus;
  readonly value?: Json;
  readonly error?: string;
  readonly reason?: string;
}

/** A run of the script; `run-start` and `run-end` are told by themselves. What it throws ends it as `failed`, or `stopped` after `cancel`. */
export type FakeRun = (telling: FakeTelling) => FakeEnd | void | Promise<FakeEnd | void>;

/** What the service does. All of it may be left out. */
export interface FakeScript {
  /** What a request starts; an error is thrown by `start`. Default: a run that is `done` at once with the value `"ok"`. */
  start?(request: StartRun): FakeRun | Error;
  resume?(id: string, wishes: ResumeWishes): FakeRun | Error;
  /** What an agent does with a message; undefined: it begins without one. Default: it says `you said: …` and holds. */
  turn?(
    message: string | undefined,
    talk: { readonly agent: string; readonly turns: number },
  ): FakeRun | Error;
  readonly look?: Partial<Look>;
  readonly models?: Readonly<Record<string, Model>>;
  /** Runs that only the journal has. */
  readonly traces?: readonly RunTrace[];
  /** Default 64. */
  readonly limit?: number;
  /** Default `/project`. */
  readonly root?: string;
}

/** The service, and what was done with it. */
export interface FakeService extends Service {
  /** In their order: `start`, `run`, `talks.begin`, `look.gadget`, … with what they were given. */
  readonly done: readonly { readonly what: string; readonly with: readonly unknown[] }[];
}

/** Makes one. Disposing of it cancels what is under way. */
export function fakeService(script: FakeScript = {}): FakeService {
  return new Fake(script);
}

const KIND_OF: { readonly [Kind in StartRun["kind"]]: RunKind } = {
  file: "calls",
  prompt: "prompt",
  calls: "calls",
  gadget: "calls",
  ask: "ask",
};

class Fake implements FakeService {
  readonly root: string;
  readonly version = "0.0.0-fake";
  readonly limit: number;
  readonly done: { readonly what: string; readonly with: readonly unknown[] }[] = [];
  readonly look: Look;
  readonly talks: Service["talks"];
  readonly #script: FakeScript;
  readonly #runs = new Map<string, HeldRun>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #talks = new Map<string, FakeTalk>();
  #isStopping = false;

  constructor(script: FakeScript) {
    this.#script = script;
    this.root = script.root ?? "/project";
    this.limit = script.limit ?? 64;
    this.look = noted(fakeLook(script.look ?? {}), (what, given) => this.#note(`look.${what}`, ...given));
    this.talks = {
      begin: (wishes) => this.#begin(wishes),
      open: async (id) => await this.#talk("talks.open", id),
      list: async ({ agent, limit = 50 } = {}) => {
        this.#note("talks.list", { agent, limit });
        const states = await Promise.all([...this.#talks.values()].map((talk) => talk.state()));
        return states.filter((state) => agent === undefined || state.agent === agent).slice(-limit).reverse();
      },
    };
  }

  get active(): number {
    return this.#underWay.size;
  }

  async start(request: StartRun): Promise<RunHandle> {
    this.#note("start", request);
    const file = request.kind === "file" ? request.file : undefined;
    const kind = file?.endsWith(".md") === true ? "document" : KIND_OF[request.kind];
    return await this.hold(this.#script.start?.(request) ?? (() => ({ value: "ok" })), { kind, file });
  }

  get now(): ProjectNow {
    const waiting = [...this.#runs.values()].flatMap(({ state }) => state.asks.length > 0 ? [state] : []);
    return { version: this.done.length, active: this.active, waiting };
  }

  /** Tells how it stands once. */
  watch(): ProjectReader {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let left: ProjectNow | undefined = this.now;
    return {
      next: async () => {
        const now = left;
        left = undefined;
        return now ?? await promise;
      },
      leave: () => resolve(undefined),
    };
  }

  find(id: string): RunHandle | undefined {
    this.#note("find", id);
    return this.#runs.get(id);
  }

  async run(id: string): Promise<RunState> {
    this.#note("run", id);
    const held = this.#runs.get(id);
    return held === undefined ? tracedState(await this.#trace(id)) : held.state;
  }

  async status(id: string): Promise<RunState["status"]> {
    this.#note("status", id);
    return this.#runs.get(id)?.status ?? tracedState(await this.#trace(id)).status;
  }

  async runs(query: Parameters<Service["runs"]>[0] = {}): Promise<readonly RunState[]> {
    this.#note("runs", query);
    const { status, kind, file, limit = 50, before } = query;
    const all = [
      ...(this.#script.traces ?? []).map(tracedState),
      ...[...this.#runs.values()].map(({ state }) => state),
    ]
      .reverse();
    const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
    return await Promise.resolve(
      all.slice(from).filter((state) =>
        (status === undefined || state.status === status) && (kind === undefined || state.kind === kind) &&
        (file === undefined || state.file === file)
      ).slice(0, limit),
    );
  }

  async trace(id: string): Promise<RunTrace> {
    this.#note("trace", id);
    const held = this.#runs.get(id);
    return held === undefined ? await this.#trace(id) : heldTrace(held);
  }

  async read(id: string, options: { readonly after: number }) {
    this.#note("read", id, options);
    const held = this.#runs.get(id);
    if (held !== undefined) return held.read(options);
    const { events } = await this.#trace(id);
    return keptReader((after) => events.filter(({ seq }) => seq > after), options);
  }

  async resume(id: string, wishes: ResumeWishes): Promise<RunHandle> {
    this.#note("resume", id, wishes);
    const held = this.#runs.get(id);
    if (held?.state.status === "running") throw new ServiceError(`Run ${id} is under way`, { code: "busy" });
    const { kind, file } = held?.state ?? tracedState(await this.#trace(id));
    const run = this.#script.resume?.(id, wishes) ??
      new ServiceError(`Run ${id} is over: it cannot go on`, { code: "ended" });
    return await this.hold(run, { kind, file, id });
  }

  async remove(id: string): Promise<void> {
    this.#note("remove", id);
    if (this.#runs.get(id)?.state.status === "running") {
      throw new ServiceError(`Run ${id} is under way`, { code: "busy" });
    }
    if (!this.#runs.delete(id)) await this.#trace(id);
  }

  model(name: string): Promise<Model> {
    this.#note("model", name);
    const model = this.#script.models?.[name];
    if (model !== undefined) return Promise.resolve(model);
    return Promise.reject(
      new ServiceError(`There is no model ${JSON.stringify(name)}`, { code: "not-found" }),
    );
  }

  async stop(options: { readonly graceMs: number }): Promise<void> {
    this.#note("stop", options);
    this.#isStopping = true;
    for (const run of this.#runs.values()) run.cancel("the service stops");
    await Promise.all(this.#underWay);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop({ graceMs: 0 });
  }

  /** Begins a run of the script. */
  async hold(
    run: FakeRun | Error,
    { kind, file, id = `run-${this.#runs.size + 1}` }: {
      readonly kind: RunKind;
      readonly file?: string | undefined;
      readonly id?: string;
    },
  ): Promise<RunHandle> {
    await Promise.resolve();
    if (run instanceof Error) throw run;
    if (this.#isStopping) throw new ServiceError("Orrery is about to end", { code: "stopping" });
    if (this.active >= this.limit) {
      throw new ServiceError(`${this.limit} runs are under way`, { code: "limit" });
    }
    const stop = new AbortController();
    const asks = new Asks();
    const held = new HeldRun({ id, kind, file, startedAt: Date.now(), asks, stop });
    this.#runs.set(id, held);
    const work: Promise<void> = play(held, { run, file, asks, signal: stop.signal })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
    return held;
  }

  async #begin(wishes: BeginTalk): ReturnType<Service["talks"]["begin"]> {
    this.#note("talks.begin", wishes);
    const talk = new FakeTalk(`talk-${this.#talks.size + 1}`, {
      wishes,
      script: this.#script,
      hold: (run) => this.hold(run, { kind: "conversation", file: wishes.agent }),
    });
    const turn = await talk.turn(wishes.message);
    this.#talks.set(talk.id, talk);
    return { talk, turn };
  }

  async #talk(what: string, id: string): Promise<FakeTalk> {
    this.#note(what, id);
    const talk = await Promise.resolve(this.#talks.get(id));
    if (talk === undefined) throw new ServiceError(`There is no conversation ${id}`, { code: "not-found" });
    return talk;
  }

  async #trace(id: string): Promise<RunTrace> {
    const trace = await Promise.resolve(this.#script.traces?.find(({ summary }) => summary.id === id));
    if (trace === undefined) throw new ServiceError(`There is no run ${id}`, { code: "not-found" });
    return trace;
  }

  #note(what: string, ...given: readonly unknown[]): void {
    this.done.push({ what, with: given });
  }
}

async function play(
  held: HeldRun,
  { run, file, asks, signal }: {
    readonly run: FakeRun;
    readonly file: string | undefined;
    readonly asks: Asks;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { id, kind } = held;
  const usage = { input: 0, output: 0 };
  let seq = 0;
  const tell = (body: RunEventBody): void => held.push({ ...body, seq: ++seq, at: seq, run: id });
  tell({ type: "run-start", kind, ...(file === undefined ? {} : { file }) });
  try {
    const end = await run({
      id,
      signal,
      tell,
      ask: async (asked) => (await asks.ask(asked, { signal })).answer,
    });
    tell({ type: "run-end", status: "done", ...(end ?? {}), usage: held.state.usage });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const stopped = { type: "run-end", status: "stopped", reason: "interrupted", usage } as const;
    tell(signal.aborted ? stopped : { type: "run-end", status: "failed", error: message, usage });
  }
  held.end();
}

interface FakeTalkOptions {
  readonly wishes: BeginTalk;
  readonly script: FakeScript;
  readonly hold: (run: FakeRun | Error) => Promise<RunHandle>;
}

/** A conversation of the script. */
class FakeTalk implements TalkHandle {
  readonly id: string;
  readonly #with: FakeTalkOptions;
  readonly #messages: { readonly role: "user" | "assistant"; readonly text: string }[] = [];
  readonly #hub: HeldRun;
  #last: RunHandle | undefined;
  #turns = 0;

  constructor(id: string, given: FakeTalkOptions) {
    this.id = id;
    this.#with = given;
    this.#hub = new HeldRun({ id, kind: "conversation", startedAt: Date.now() });
  }

  state({ from = 1, last }: Parameters<TalkHandle["state"]>[0] = {}): Promise<TalkState> {
    const run = this.#last?.state;
    const messages = this.#messages.map((message, index) => ({ n: index + 1, ...message }))
      .filter(({ n }) => n >= from);
    const status = run?.status ?? "held";
    return Promise.resolve({
      id: this.id,
      agent: this.#with.wishes.agent,
      user: this.#with.wishes.user ?? "local",
      status: status === "completed" || status === "failed" || status === "running" ? status : "held",
      turns: this.#turns,
      messages: last === undefined ? messages : messages.slice(-last),
      slots: this.#with.wishes.slots ?? {},
      ...(run?.error === undefined ? {} : { error: run.error }),
      usage: run?.usage ?? { input: 0, output: 0 },
      asks: run?.asks ?? [],
    });
  }

  async say(text: string): Promise<RunHandle> {
    const { status } = await this.state();
    if (status === "running") throw new ServiceError("The agent is still answering", { code: "busy" });
    if (status === "completed") throw new ServiceError("This conversation has ended", { code: "ended" });
    return await this.turn(text);
  }

  async retry(): Promise<RunHandle> {
    return await this.turn(this.#messages.findLast(({ role }) => role === "user")?.text);
  }

  async back(turns: number): Promise<TalkState> {
    this.#messages.splice(-2 * turns);
    this.#turns = Math.max(0, this.#turns - turns);
    return await this.state();
  }

  read(options: { readonly after: number }) {
    return this.#hub.read(options);
  }

  async turn(message: string | undefined): Promise<RunHandle> {
    const { script, wishes, hold } = this.#with;
    const said = script.turn?.(message, { agent: wishes.agent, turns: this.#turns }) ?? echo(message);
    const run = await hold(said instanceof Error ? said : (telling) => said(this.#noting(telling)));
    this.#last = run;
    if (message !== undefined) this.#messages.push({ role: "user", text: message });
    this.#turns++;
    return run;
  }

  #noting(telling: FakeTelling): FakeTelling {
    return {
      ...telling,
      tell: (body) => {
        telling.tell(body);
        const seq = this.#hub.history.last + 1;
        this.#hub.push({ ...body, seq, at: seq, run: this.id });
        if (body.type === "message") this.#messages.push({ role: "assistant", text: body.text });
      },
    };
  }
}

function echo(message: string | undefined): FakeRun {
  return ({ tell }) => {
    const text = message === undefined ? "hello" : `you said: ${message}`;
    tell({ type: "text-delta", step: "reply", text });
    tell({ type: "message", step: "reply", n: 1, text });
    return { status: "held" };
  };
}

function fakeLook(look: Partial<Look>): Look {
  const missing = (what: string) => (id: string) =>
    Promise.reject(new ServiceError(`There is no ${what} ${JSON.stringify(id)}`, { code: "not-found" }));
  return {
    catalog: () =>
      Promise.resolve({
        gadgets: [],
        prompts: [],
        tactics: [],
        profiles: [],
        agents: [],
        documents: [],
        models: [],
        calls: [],
        problems: [],
      }),
    gadget: missing("gadget"),
    prompt: missing("prompt"),
    tactic: missing("tactic"),
    document: missing("document"),
    agent: missing("agent"),
    profile: missing("profile"),
    source: missing("file"),
    render: missing("prompt"),
    check: () => Promise.resolve([]),
    graph: missing("file"),
    ...look,
  };
}

/** Each method says that it was called, and with what. */
function noted(look: Look, note: (what: string, given: readonly unknown[]) => void): Look {
  return new Proxy(look, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: readonly unknown[]): unknown => {
        note(String(name), given);
        return Reflect.apply(method, target, given);
      };
    },
  });
}

/** A server and what stands behind it. */
export interface ServedFake extends AsyncDisposable {
  readonly server: OpenServer;
  readonly service: FakeService;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly port: number;
  /** What was told at the terminal. */
  readonly told: readonly string[];
  /** A request with the token, JSON where there is a body. */
  ask(path: string, options?: AskOptions): Promise<Response>;
}

/** Serves a fake. */
export function serveFake(
  script: FakeScript = {},
  options: Partial<OpenServerOptions> = {},
): ServedFake {
  const service = fakeService(script);
  const told: string[] = [];
  const server = openServer(service, {
    port: 0,
    token: TOKEN,
    tell: (text) => void told.push(text),
    ...options,
  });
  const { origin } = server;
  return {
    server,
    service,
    origin,
    port: Number(new URL(origin).port),
    told,
    ask: (path, given) => askServer(origin, path, given),
    [Symbol.asyncDispose]: () => server.stop({ graceMs: 0 }),
  };
}

/** A service that nothing may ask anything. */
export function untouchedService(): { readonly service: Service; readonly touched: readonly string[] } {
  const touched: string[] = [];
  const fake = fakeService();
  const stop: Service["stop"] = (options) => fake.stop(options);
  const service = new Proxy(fake, {
    get(target, name) {
      if (name === "stop") return stop;
      if (name === "root" || name === "version") return Reflect.get(target, name, target);
      touched.push(String(name));
      throw new Error(`the service was asked for ${String(name)}`);
    },
  });
  return { service, touched };
}
