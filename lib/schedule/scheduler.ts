import { type Clock, isPromise, systemClock } from "../core/core.ts";
import { cyclesOf } from "./cycles.ts";

/** What a node gets when it runs. */
export interface NodeContext<Result> {
  /** Aborted on timeout and when the run is aborted. */
  readonly signal: AbortSignal;
  /** The result of a node this one depends on; undefined for any other id. */
  dependency(id: string): Result | undefined;
  /** Its time begins when this settles, in one way or the other. To be said before `run` returns. */
  countFrom(begun: Promise<unknown>): void;
}

/** One unit of work. */
export interface ScheduleNode<Result = unknown> {
  readonly id: string;
  /** Ids of the nodes that must have succeeded; they may be added later. */
  readonly dependencies?: readonly string[];
  /** Nodes of one group share a limit of their own. */
  readonly group?: Group;
  /** Nothing else runs beside it. */
  readonly exclusive?: boolean;
  /** Default: the schedule's. */
  readonly timeoutMs?: number;
  /** A result that is no promise counts at once, without a turn of the event loop. */
  run(context: NodeContext<Result>): Result | Promise<Result>;
}

/** How a node ended: exactly one for each. */
export type NodeOutcome<Result = unknown> =
  | { readonly id: string; readonly status: "result"; readonly result: Result }
  | {
    readonly id: string;
    readonly status: "error";
    readonly error: unknown;
    readonly cause: "thrown" | "timeout" | "abort";
  }
  | { readonly id: string; readonly status: "skip"; readonly reason: string };

/** Settings of a schedule. */
export interface ScheduleOptions {
  /** How many nodes may run at once. Default 16. */
  readonly concurrency?: number;
  /** For nodes that say nothing else. Default 60,000. */
  readonly timeoutMs?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Aborts what runs and skips the rest. */
  readonly signal?: AbortSignal;
}

/** What a scheduler tells, in the moment it happens. */
export interface ScheduleListener<Result> {
  onStart?(id: string): void;
  onOutcome(outcome: NodeOutcome<Result>): void;
}

type State = "waiting" | "ready" | "running" | "done" | "failed" | "skipped";

/** Why a node was skipped that had not started when the run was aborted. */
export const ABORTED = "Skipped: the run was aborted";

/** A node with what the scheduler knows of it. */
interface Task<Result> {
  readonly node: ScheduleNode<Result>;
  state: State;
  /** How many dependencies have not succeeded yet. */
  missing: number;
  dependents: Task<Result>[];
  result?: Result;
  /** For a skipped one: the first of its chain that failed or was skipped. */
  root?: Task<Result>;
  /** While it runs: aborts what the node does. */
  controller?: AbortController;
}

/**
 * Runs a graph that grows while it runs (calls.md 5 and 7). A node starts the moment its last dependency has succeeded; each
 * ends in exactly one outcome, whatever happens. Cost: O(V + E); no node makes it look at all the others.
 */
export class Scheduler<Result = unknown> {
  readonly #listener: ScheduleListener<Result>;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#abort();
  readonly #tasks = new Map<string, Task<Result>>();
  /** Who waits for an id that was not added yet. */
  readonly #awaited = new Map<string, Task<Result>[]>();
  readonly #queue: ReadyQueue<Result>;
  /** When the time of each running task is over. The alarm rings for the first of them: they are no more than may run at once. */
  readonly #dueAt = new Map<Task<Result>, number>();
  #alarm = new AbortController();
  #alarmAt = Infinity;
  readonly #whenDone = Promise.withResolvers<void>();
  #open = 0;
  #closed = false;
  #aborted = false;
  #draining = false;

  constructor(listener: ScheduleListener<Result>, options: ScheduleOptions = {}) {
    this.#listener = listener;
    this.#timeoutMs = atLeast("timeoutMs", options.timeoutMs ?? 60_000, 0);
    this.#clock = options.clock ?? systemClock;
    this.#queue = new ReadyQueue(atLeast("concurrency", options.concurrency ?? 16, 1));
    this.#signal = options.signal;
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (this.#signal?.aborted) this.#abort();
  }

  /** All outcomes are told, after `close` or an abort. */
  get isDone(): boolean {
    return this.#closed && this.#open === 0;
  }

  /** Resolves when it {@linkcode isDone}. */
  get done(): Promise<void> {
    return this.#whenDone.promise;
  }

  /** @throws {TypeError} for an id that was added before, and after `close`. */
  add(node: ScheduleNode<Result>): void {
    const task = this.#register(node);
    if (this.#aborted) return this.#skip(task, ABORTED);
    const failed = this.#link(task);
    if (failed !== undefined) this.#skip(task, dependsOn(rootOf(failed)), rootOf(failed));
    this.#adopt(task);
    if (failed === undefined && task.missing === 0) this.#enqueue(task);
    this.#drain();
  }

  /** Adds a node that can only fail: it waits for nothing and takes no place. @throws {TypeError} as `add` does. */
  addFailed(id: string, error: unknown): void {
    const task = this.#register({ id, run: () => Promise.reject(error) });
    if (this.#aborted) return this.#skip(task, ABORTED);
    this.#fail(task, { error, cause: "thrown" });
    this.#adopt(task);
  }

  /** Nothing more will be added: what waits for a node that never came, or for itself, is skipped. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#open > 0) this.#skipCycles();
    for (const [id, waiting] of this.#awaited) {
      for (const task of waiting) {
        if (hasEnded(task)) continue;
        this.#skip(task, `Skipped: depends on "${id}", which was never called`);
        this.#skipDependents(task);
      }
    }
    this.#awaited.clear();
    this.#goOn();
  }

  #register(node: ScheduleNode<Result>): Task<Result> {
    if (this.#closed && !this.#aborted) {
      throw new TypeError(`Cannot add node "${node.id}": the schedule is closed`);
    }
    if (this.#tasks.has(node.id)) throw new TypeError(`Cannot add node "${node.id}": it was added before`);
    if (node.group !== undefined) atLeast(`group "${node.group.key}": limit`, node.group.limit, 1);
    if (node.timeoutMs !== undefined) atLeast(`node "${node.id}": timeoutMs`, node.timeoutMs, 0);
    const task: Task<Result> = { node, state: "waiting", missing: 0, dependents: [] };
    this.#tasks.set(node.id, task);
    this.#open++;
    return task;
  }

  /** Notes for each dependency that this task waits; gives the first one that can never succeed. */
  #link(task: Task<Result>): Task<Result> | undefined {
    for (const id of task.node.dependencies ?? []) {
      const other = this.#tasks.get(id);
      if (other?.state === "done") continue;
      if (other !== undefined && hasEnded(other)) return other;
      const waiting = other?.dependents ?? this.#awaited.get(id);
      if (waiting === undefined) this.#awaited.set(id, [task]);
      else waiting.push(task);
      task.missing++;
    }
    return undefined;
  }

  /** Takes over those who waited for this id; when it has ended already, they end with it. */
  #adopt(task: Task<Result>): void {
    const waiting = this.#awaited.get(task.node.id);
    if (waiting === undefined) return;
    this.#awaited.delete(task.node.id);
    task.dependents = [...task.dependents, ...waiting];
    if (hasEnded(task)) this.#skipDependents(task);
  }

  #enqueue(task: Task<Result>): void {
    task.state = "ready";
    this.#queue.push(task);
  }

  /** Starts what may start. Not re-entrant: a node that ends at once makes others ready for this same loop. */
  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let task = this.#queue.take(); task !== undefined; task = this.#queue.take()) {
        if (task.state === "ready") this.#start(task);
      }
    } finally {
      this.#draining = false;
    }
  }

  #start(task: Task<Result>): void {
    const { node } = task;
    const { signal } = task.controller = new AbortController();
    let begun: Promise<unknown> | undefined;
    task.state = "running";
    this.#listener.onStart?.(node.id);
    try {
      const result = node.run({
        signal,
        dependency: (id) => node.dependencies?.includes(id) ? this.#tasks.get(id)?.result : undefined,
        countFrom: (given) => begun = given,
      });
      if (!isPromise(result)) return this.#settle(task, () => this.#succeed(task, result));
      const watch = (): void => this.#watch(task);
      if (begun === undefined) watch();
      else begun.then(watch, watch);
      result.then(
        (value) => this.#settle(task, () => this.#succeed(task, value)),
        (error) => this.#settle(task, () => this.#fail(task, { error, cause: "thrown" })),
      );
    } catch (error) {
      this.#settle(task, () => this.#fail(task, { error, cause: "thrown" }));
    }
  }

  /** A node that was given up meanwhile is no longer listened to. */
  #settle(task: Task<Result>, settle: () => void): void {
    if (task.state !== "running") return;
    settle();
    this.#goOn();
  }

  #watch(task: Task<Result>): void {
    if (task.state !== "running") return;
    const at = this.#clock.now() + (task.node.timeoutMs ?? this.#timeoutMs);
    this.#dueAt.set(task, at);
    if (at < this.#alarmAt) this.#setAlarm(at);
  }

  #setAlarm(at: number): void {
    this.#alarm.abort();
    const { signal } = this.#alarm = new AbortController();
    this.#alarmAt = at;
    this.#clock.sleep(at - this.#clock.now(), signal).then(() => this.#ring(), () => undefined);
  }

  #ring(): void {
    const now = this.#clock.now();
    let next = Infinity;
    for (const [task, at] of this.#dueAt) {
      if (at > now) next = Math.min(next, at);
      else this.#timeOut(task);
    }
    this.#alarmAt = Infinity;
    if (this.#dueAt.size > 0 && next < Infinity) this.#setAlarm(next);
    this.#goOn();
  }

  #timeOut(task: Task<Result>): void {
    const { node, controller } = task;
    const error = new DOMException(`Timed out after ${node.timeoutMs ?? this.#timeoutMs} ms`, "TimeoutError");
    this.#fail(task, { error, cause: "timeout" });
    controller?.abort(error);
  }

  #goOn(): void {
    this.#drain();
    this.#maybeDone();
  }

  #succeed(task: Task<Result>, result: Result): void {
    task.result = result;
    this.#end(task, "done", { id: task.node.id, status: "result", result });
    for (const other of task.dependents) {
      if (--other.missing === 0 && other.state === "waiting") this.#enqueue(other);
    }
  }

  #fail(task: Task<Result>, failure: { error: unknown; cause: "thrown" | "timeout" | "abort" }): void {
    this.#end(task, "failed", { id: task.node.id, status: "error", ...failure });
    if (!this.#aborted) this.#skipDependents(task);
  }

  #skip(task: Task<Result>, reason: string, root?: Task<Result>): void {
    task.root = root;
    this.#end(task, "skipped", { id: task.node.id, status: "skip", reason });
  }

  /** All that hang off a node that ended without a result, at any distance, name the first of that chain. */
  #skipDependents(first: Task<Result>): void {
    const open = [first];
    const root = rootOf(first);
    const reason = dependsOn(root);
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      for (const other of task.dependents) {
        if (hasEnded(other)) continue;
        this.#skip(other, reason, root);
        open.push(other);
      }
    }
  }

  #end(task: Task<Result>, state: "done" | "failed" | "skipped", outcome: NodeOutcome<Result>): void {
    if (task.state === "running") this.#queue.release(task.node);
    task.state = state;
    this.#dueAt.delete(task);
    task.controller = undefined; // what listens there is not kept for as long as the run lasts
    this.#open--;
    this.#listener.onOutcome(outcome);
  }

  /** When the stream has ended, what still waits for something that does not run waits for a cycle. */
  #skipCycles(): void {
    const waiting = [...this.#tasks.values()].filter((task) => task.state === "waiting");
    if (waiting.length === 0) return;
    const indexOf = new Map(waiting.map((task, index) => [task.node.id, index]));
    const edges = waiting.map(({ node }) => (node.dependencies ?? []).flatMap((id) => indexOf.get(id) ?? []));
    const cycles = cyclesOf(edges, (index) => waiting[index]?.node.id ?? "");
    cycles.forEach((cycle, index) => {
      const task = waiting[index];
      if (cycle !== undefined && task !== undefined) this.#skip(task, `Skipped: depends on itself: ${cycle}`);
    });
    cycles.forEach((cycle, index) => {
      const task = waiting[index];
      if (cycle !== undefined && task !== undefined) this.#skipDependents(task);
    });
  }

  #abort(): void {
    if (this.#aborted || (this.#closed && this.#open === 0)) return;
    this.#aborted = this.#closed = true;
    this.#queue.clear();
    const error = this.#signal?.reason ?? new DOMException("The run was aborted", "AbortError");
    for (const task of this.#tasks.values()) {
      if (task.state === "running") {
        const { controller } = task;
        this.#fail(task, { error, cause: "abort" });
        controller?.abort(error);
      } else if (!hasEnded(task)) this.#skip(task, ABORTED);
    }
    this.#maybeDone();
  }

  #maybeDone(): void {
    if (!this.isDone) return;
    this.#alarm.abort();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#whenDone.resolve();
  }
}

function hasEnded<Result>({ state }: Task<Result>): boolean {
  return state === "done" || state === "failed" || state === "skipped";
}

/** A node that failed, or was skipped for a reason of its own, is its own root. */
function rootOf<Result>(task: Task<Result>): Task<Result> {
  return task.root ?? task;
}

function dependsOn<Result>(root: Task<Result>): string {
  return `Skipped: depends on "${root.node.id}", which ${root.state === "failed" ? "failed" : "was skipped"}`;
}

/** @throws {RangeError} for a number that no schedule could go on with. */
function atLeast(what: string, value: number, least: number): number {
  if (value >= least) return value;
  throw new RangeError(`${what} is ${value}, expected ${least} or more`);
}

/** Nodes of one group share a limit of their own: at most `limit` of them run at once. */
export interface Group {
  readonly key: string;
  readonly limit: number;
}

/** The nodes of one group. */
interface GroupState<Result> {
  running: number;
  /** Overtaken: they wait for a place in their group only. Each became ready before everything in the main line. */
  readonly parked: Line<{ readonly task: Task<Result>; readonly order: number }>;
}

/**
 * Who starts next (calls.md 7): nodes start in the order in which they became ready. One held up only by its group is
 * overtaken; one held up by being exclusive or by the limit of the run is not, and what came after it waits behind it.
 */
class ReadyQueue<Result> {
  readonly #limit: number;
  readonly #groups = new Map<string, GroupState<Result>>();
  /** Groups that have a free place again and somebody waiting for it. */
  #freed: GroupState<Result>[] = [];
  #line = new Line<Task<Result>>();
  #parkedCount = 0;
  #running = 0;
  #exclusiveRuns = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(task: Task<Result>): void {
    this.#line.push(task);
  }

  /** The next one that may start, which counts as running from now on; undefined when nobody may. */
  take(): Task<Result> | undefined {
    if (this.#exclusiveRuns || this.#running >= this.#limit) return undefined;
    const overtaken = this.#takeFreed();
    if (overtaken !== undefined) return this.#started(overtaken);
    for (let task = this.#line.first; task !== undefined; task = this.#line.first) {
      if (task.node.exclusive && this.#running > 0) return undefined;
      this.#line.shift();
      const group = this.#groupOf(task.node);
      if (group === undefined || hasPlace(group, task)) return this.#started(task);
      group.parked.push({ task, order: this.#parkedCount++ });
    }
    return undefined;
  }

  /** One that was taken has ended. */
  release(node: ScheduleNode<Result>): void {
    this.#running--;
    if (node.exclusive) this.#exclusiveRuns = false;
    const group = this.#groupOf(node);
    if (group === undefined) return;
    group.running--;
    if (group.parked.first !== undefined) this.#freed.push(group);
  }

  /** Nobody waits any more. */
  clear(): void {
    this.#line = new Line();
    this.#groups.clear();
    this.#freed = [];
  }

  #started(task: Task<Result>): Task<Result> {
    this.#running++;
    if (task.node.exclusive) this.#exclusiveRuns = true;
    const group = this.#groupOf(task.node);
    if (group !== undefined) group.running++;
    return task;
  }

  #takeFreed(): Task<Result> | undefined {
    const order = (group: GroupState<Result>): number => group.parked.first?.order ?? Infinity;
    while (this.#freed.length > 0) {
      const group = this.#freed.reduce((a, b) => order(a) <= order(b) ? a : b);
      this.#freed.splice(this.#freed.indexOf(group), 1);
      const task = group.parked.first?.task;
      if (task === undefined || !hasPlace(group, task)) continue;
      group.parked.shift();
      return task;
    }
    return undefined;
  }

  #groupOf({ group }: ScheduleNode<Result>): GroupState<Result> | undefined {
    if (group === undefined) return undefined;
    const state = this.#groups.get(group.key) ?? { running: 0, parked: new Line() };
    this.#groups.set(group.key, state);
    return state;
  }
}

function hasPlace<Result>(group: GroupState<Result>, { node }: Task<Result>): boolean {
  return group.running < (node.group?.limit ?? Infinity);
}

/** First in, first out. `shift` of an array would move all that is behind. */
class Line<Item> {
  #items: Item[] = [];
  #head = 0;

  get first(): Item | undefined {
    return this.#items[this.#head];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#head++;
    if (this.#head * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
