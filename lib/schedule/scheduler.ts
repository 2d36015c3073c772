import { isPromise } from "../core/async.ts";
import { systemClock } from "../core/clock.ts";
import type { Clock } from "../core/clock.ts";
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

/** A node with what the scheduler knows of it; the node's own view of it is `NodeContext`. */
class Task<Result> implements NodeContext<Result>, Deadline, Place {
  readonly node: ScheduleNode<Result>;
  readonly #scheduler: TaskOwner<Result>;
  state: State = "waiting";
  /** How many dependencies have not succeeded yet. */
  missing = 0;
  dependents: Task<Result>[] | undefined = undefined;
  result: Result | undefined = undefined;
  /** For a skipped one: the first of its chain that failed or was skipped. */
  root: Task<Result> | undefined = undefined;
  controller: AbortController | undefined = undefined;
  /** When its time begins; undefined for at once. */
  begun: Promise<unknown> | undefined = undefined;

  constructor(node: ScheduleNode<Result>, scheduler: TaskOwner<Result>) {
    this.node = node;
    this.#scheduler = scheduler;
  }

  /** For deadlines: it need not be watched any more. */
  get settled(): boolean {
    return this.state !== "running";
  }

  get ended(): boolean {
    return this.state === "done" || this.state === "failed" || this.state === "skipped";
  }

  get group(): Group | undefined {
    return this.node.group;
  }

  get exclusive(): boolean {
    return this.node.exclusive ?? false;
  }

  /** Made when asked for: most nodes never look at it. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  dependency(id: string): Result | undefined {
    return this.node.dependencies?.includes(id) ? this.#scheduler.resultOf(id) : undefined;
  }

  countFrom(begun: Promise<unknown>): void {
    this.begun = begun;
  }

  expire(): void {
    this.#scheduler.timeOut(this);
  }
}

/** What a task asks of its scheduler. */
interface TaskOwner<Result> {
  resultOf(id: string): Result | undefined;
  timeOut(task: Task<Result>): void;
}

/**
 * Runs a graph that grows while it runs (calls.md 5 and 7). A node starts the moment its last dependency has succeeded; each
 * ends in exactly one outcome, whatever happens. Cost: O(V + E); no node makes it look at all the others.
 */
export class Scheduler<Result = unknown> {
  readonly #listener: ScheduleListener<Result>;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  /** Made for the first node that takes its time. */
  #deadlines: Deadlines | undefined;
  readonly #tasks = new Map<string, Task<Result>>();
  /** Who waits for an id that was not added yet; made for the first one. */
  #awaited: Map<string, Task<Result>[]> | undefined;
  readonly #queue: ReadyQueue<Task<Result>>;
  readonly #signal: AbortSignal | undefined;
  /** While it listens to the signal: from the first node on that is still open when others may be heard. */
  #onAbort: (() => void) | undefined;
  readonly #owner: TaskOwner<Result> = {
    resultOf: (id) => this.#tasks.get(id)?.result,
    timeOut: (task) => this.#timeOut(task),
  };
  #open = 0;
  #closed = false;
  #aborted = false;
  #draining = false;
  #whenDone: PromiseWithResolvers<void> | undefined;

  constructor(listener: ScheduleListener<Result>, options: ScheduleOptions = {}) {
    this.#listener = listener;
    this.#timeoutMs = atLeast("timeoutMs", options.timeoutMs ?? 60_000, 0);
    this.#clock = options.clock ?? systemClock;
    this.#queue = new ReadyQueue(atLeast("concurrency", options.concurrency ?? 16, 1));
    this.#signal = options.signal;
  }

  /** All outcomes are told, after `close` or an abort. */
  get isDone(): boolean {
    return this.#closed && this.#open === 0;
  }

  /** Resolves when it {@linkcode isDone}. */
  get done(): Promise<void> {
    this.#hear();
    if (this.isDone) return Promise.resolve();
    this.#listen();
    return (this.#whenDone ??= Promise.withResolvers()).promise;
  }

  /** @throws {TypeError} for an id that was added before, and after `close`. */
  add(node: ScheduleNode<Result>): void {
    this.#hear();
    const task = this.#register(node);
    if (this.#aborted) return this.#skip(task, ABORTED);
    const failed = this.#link(task);
    if (failed !== undefined) this.#skip(task, dependsOn(rootOf(failed)), rootOf(failed));
    this.#adopt(task);
    if (failed === undefined && task.missing === 0) this.#enqueue(task);
    this.#drain();
    if (this.#open > 0) this.#listen();
  }

  /** Adds a node that can only fail: it waits for nothing and takes no place. @throws {TypeError} as `add` does. */
  addFailed(id: string, error: unknown): void {
    this.#hear();
    const task = this.#register({ id, run: () => Promise.reject(error) });
    if (this.#aborted) return this.#skip(task, ABORTED);
    this.#fail(task, { error, cause: "thrown" });
    this.#adopt(task);
  }

  /** Nothing more will be added: what waits for a node that never came, or for itself, is skipped. */
  close(): void {
    this.#hear();
    if (this.#closed) return;
    this.#closed = true;
    if (this.#open > 0) this.#skipCycles();
    for (const [id, waiting] of this.#awaited ?? []) {
      for (const task of waiting) {
        if (task.ended) continue;
        this.#skip(task, `Skipped: depends on "${id}", which was never called`);
        this.#skipDependents(task);
      }
    }
    this.#awaited = undefined;
    this.#drain();
    this.#maybeDone();
  }

  #register(node: ScheduleNode<Result>): Task<Result> {
    if (this.#closed && !this.#aborted) {
      throw new TypeError(`Cannot add node "${node.id}": the schedule is closed`);
    }
    if (this.#tasks.has(node.id)) throw new TypeError(`Cannot add node "${node.id}": it was added before`);
    if (node.group !== undefined) atLeast(`group "${node.group.key}": limit`, node.group.limit, 1);
    if (node.timeoutMs !== undefined) atLeast(`node "${node.id}": timeoutMs`, node.timeoutMs, 0);
    const task = new Task(node, this.#owner);
    this.#tasks.set(node.id, task);
    this.#open++;
    return task;
  }

  /** Notes for each dependency that this task waits; gives the first one that can never succeed. */
  #link(task: Task<Result>): Task<Result> | undefined {
    for (const id of task.node.dependencies ?? []) {
      const other = this.#tasks.get(id);
      if (other === undefined) {
        const waiting = this.#awaited?.get(id);
        if (waiting === undefined) (this.#awaited ??= new Map()).set(id, [task]);
        else waiting.push(task);
      } else if (other.state === "failed" || other.state === "skipped") return other;
      else if (other.state === "done") continue;
      else if (other.dependents === undefined) other.dependents = [task];
      else other.dependents.push(task);
      task.missing++;
    }
    return undefined;
  }

  /** Takes over those who waited for this id; when it has ended already, they end with it. */
  #adopt(task: Task<Result>): void {
    const waiting = this.#awaited?.get(task.node.id);
    if (waiting === undefined) return;
    this.#awaited?.delete(task.node.id);
    task.dependents = task.dependents === undefined ? waiting : [...task.dependents, ...waiting];
    if (task.ended) this.#skipDependents(task);
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
    task.state = "running";
    this.#listener.onStart?.(task.node.id);
    try {
      const result = task.node.run(task);
      this.#hear(); // it may have been the node's own doing
      if (!isPromise(result)) return task.settled ? undefined : this.#succeed(task, result);
      this.#watch(task);
      result.then((value) => this.#resolved(task, value), (error) => this.#rejected(task, error));
    } catch (error) {
      this.#hear();
      if (!task.settled) this.#fail(task, { error, cause: "thrown" });
    }
  }

  #watch(task: Task<Result>): void {
    const add = (): void => {
      if (task.settled) return;
      this.#deadlines ??= new Deadlines(this.#clock);
      this.#deadlines.add(task, task.node.timeoutMs ?? this.#timeoutMs);
    };
    if (task.begun === undefined) add();
    else task.begun.then(add, add);
  }

  // What comes from the event loop: a node that was given up meanwhile is no longer listened to.

  #resolved(task: Task<Result>, value: Result): void {
    if (task.settled) return;
    this.#succeed(task, value);
    this.#goOn();
  }

  #rejected(task: Task<Result>, error: unknown): void {
    if (task.settled) return;
    this.#fail(task, { error, cause: "thrown" });
    this.#goOn();
  }

  #timeOut(task: Task<Result>): void {
    if (task.settled) return;
    const error = new DOMException(
      `Timed out after ${task.node.timeoutMs ?? this.#timeoutMs} ms`,
      "TimeoutError",
    );
    this.#fail(task, { error, cause: "timeout" });
    task.controller?.abort(error);
    this.#goOn();
  }

  #goOn(): void {
    this.#drain();
    this.#maybeDone();
  }

  #succeed(task: Task<Result>, result: Result): void {
    task.result = result;
    task.controller = undefined; // nothing aborts it any more: what listens there is not kept for as long as the run lasts
    this.#end(task, "done", { id: task.node.id, status: "result", result });
    for (const other of task.dependents ?? []) {
      if (--other.missing === 0 && other.state === "waiting") this.#enqueue(other);
    }
    task.dependents = undefined;
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
      for (const other of task.dependents ?? []) {
        if (other.ended) continue;
        this.#skip(other, reason, root);
        open.push(other);
      }
      task.dependents = undefined;
    }
  }

  #end(task: Task<Result>, state: "done" | "failed" | "skipped", outcome: NodeOutcome<Result>): void {
    if (task.state === "running") this.#queue.release(task);
    task.state = state;
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

  #listen(): void {
    if (this.#onAbort !== undefined || this.#aborted) return;
    this.#onAbort = () => this.#abort();
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Of an abort that came while nobody listened. */
  #hear(): void {
    if (this.#onAbort === undefined && this.#signal?.aborted === true) this.#abort();
  }

  #abort(): void {
    if (this.#aborted || (this.#closed && this.#open === 0)) return;
    this.#aborted = this.#closed = true;
    this.#queue.clear();
    const error = this.#signal?.reason ?? new DOMException("The run was aborted", "AbortError");
    for (const task of this.#tasks.values()) {
      if (task.state === "running") {
        this.#fail(task, { error, cause: "abort" });
        task.controller?.abort(error);
      } else if (!task.ended) this.#skip(task, ABORTED);
    }
    this.#maybeDone();
  }

  #maybeDone(): void {
    if (!this.#closed || this.#open > 0) return;
    this.#deadlines?.stop();
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#whenDone?.resolve();
  }
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

/** What decides where a node waits. */
export interface Place {
  readonly group: Group | undefined;
  readonly exclusive: boolean;
}

interface GroupState<Item> {
  running: number;
  /** Overtaken: they wait for a place in their group only. Each became ready before everything in the main line. */
  readonly parked: Line<Parked<Item>>;
}

interface Parked<Item> {
  readonly item: Item;
  /** Smaller became ready earlier. */
  readonly order: number;
}

/**
 * Who starts next (calls.md 7): nodes start in the order in which they became ready. One held up only by its group is
 * overtaken; one held up by being exclusive or by the limit of the run is not, and what came after it waits behind it.
 */
class ReadyQueue<Item extends Place> {
  readonly #limit: number;
  /** Made for the first one: most nodes are in none. */
  #groups: Map<string, GroupState<Item>> | undefined;
  /** Groups that have a free place again and somebody waiting for it. */
  #freed: GroupState<Item>[] = [];
  #line = new Line<Item>();
  #parkedCount = 0;
  #running = 0;
  #exclusiveRuns = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(item: Item): void {
    this.#line.push(item);
  }

  /** The next one that may start, which counts as running from now on; undefined when nobody may. */
  take(): Item | undefined {
    if (this.#exclusiveRuns || this.#running >= this.#limit) return undefined;
    const overtaken = this.#takeFreed();
    if (overtaken !== undefined) return this.#started(overtaken);
    for (let item = this.#line.first; item !== undefined; item = this.#line.first) {
      if (item.exclusive && this.#running > 0) return undefined;
      this.#line.shift();
      const group = item.group === undefined ? undefined : this.#stateOf(item.group.key);
      if (group === undefined || group.running < (item.group?.limit ?? Infinity)) return this.#started(item);
      group.parked.push({ item, order: this.#parkedCount++ });
    }
    return undefined;
  }

  /** One that was taken has ended. */
  release(place: Place): void {
    this.#running--;
    if (place.exclusive) this.#exclusiveRuns = false;
    if (place.group === undefined) return;
    const group = this.#stateOf(place.group.key);
    group.running--;
    if (group.parked.first !== undefined) this.#freed.push(group);
  }

  /** Nobody waits any more. */
  clear(): void {
    this.#line = new Line();
    this.#groups = undefined;
    this.#freed = [];
  }

  #started(item: Item): Item {
    this.#running++;
    if (item.exclusive) this.#exclusiveRuns = true;
    if (item.group !== undefined) this.#stateOf(item.group.key).running++;
    return item;
  }

  #takeFreed(): Item | undefined {
    while (this.#freed.length > 0) {
      const order = (group: GroupState<Item>): number => group.parked.first?.order ?? Infinity;
      const group = this.#freed.reduce((a, b) => order(a) <= order(b) ? a : b);
      const parked = group.parked.first;
      this.#freed.splice(this.#freed.indexOf(group), 1);
      if (parked === undefined || group.running >= (parked.item.group?.limit ?? Infinity)) continue;
      group.parked.shift();
      return parked.item;
    }
    return undefined;
  }

  #stateOf(key: string): GroupState<Item> {
    this.#groups ??= new Map();
    let state = this.#groups.get(key);
    if (state === undefined) this.#groups.set(key, state = { running: 0, parked: new Line() });
    return state;
  }
}

/** First in, first out, O(1). */
export class Line<Item> {
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
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}

/** Something that has to end by a time. */
export interface Deadline {
  /** True when it no longer matters. */
  readonly settled: boolean;
  expire(): void;
}

interface Entry {
  readonly at: number;
  readonly deadline: Deadline;
}

/**
 * Deadlines of many tasks on one timer of the clock. Tasks that share a duration fall due in the order in which they were added,
 * so each duration is a queue: adding and expiring cost O(1), however many are open.
 */
class Deadlines {
  readonly #clock: Clock;
  readonly #queues = new Map<number, Line<Entry>>();
  #armedFor = Infinity;
  #stopTimer: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Expires the deadline in `durationMs`, unless it is settled by then. */
  add(deadline: Deadline, durationMs: number): void {
    const at = this.#clock.now() + durationMs;
    let queue = this.#queues.get(durationMs);
    if (queue === undefined) this.#queues.set(durationMs, queue = new Line());
    dropSettled(queue);
    queue.push({ at, deadline });
    if (at < this.#armedFor) this.#arm(at);
  }

  /** Forgets everything; no timer is left behind. */
  stop(): void {
    this.#queues.clear();
    this.#stopTimer?.abort();
    this.#stopTimer = undefined;
    this.#armedFor = Infinity;
  }

  #arm(at: number): void {
    this.#stopTimer?.abort();
    const stop = this.#stopTimer = new AbortController();
    this.#armedFor = at;
    this.#clock.sleep(at - this.#clock.now(), stop.signal).then(
      () => stop.signal.aborted ? undefined : this.#fire(),
      () => undefined, // stopped: a later deadline took its place, or the run has ended
    );
  }

  #fire(): void {
    this.#armedFor = Infinity;
    this.#stopTimer = undefined;
    const now = this.#clock.now();
    let next = Infinity;
    for (const [durationMs, queue] of this.#queues) {
      for (
        let entry = dropSettled(queue);
        entry !== undefined && entry.at <= now;
        entry = dropSettled(queue)
      ) {
        queue.shift();
        entry.deadline.expire();
      }
      if (queue.first === undefined) this.#queues.delete(durationMs);
      next = Math.min(next, queue.first?.at ?? Infinity);
    }
    if (next < this.#armedFor) this.#arm(next);
  }
}

/** Those that no longer matter are not kept until their time; gives the first one that does. */
function dropSettled(queue: Line<Entry>): Entry | undefined {
  while (queue.first?.deadline.settled) queue.shift();
  return queue.first;
}
