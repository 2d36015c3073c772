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

/** A graph that runs while it grows. */
export interface Scheduler<Result = unknown> {
  /** All outcomes are told, after `close` or an abort. */
  readonly isDone: boolean;
  /** Resolves when it {@linkcode isDone}. */
  readonly done: Promise<void>;
  /** @throws {TypeError} for an id that was added before, and after `close`. */
  add(node: ScheduleNode<Result>): void;
  /** Adds a node that can only fail: it waits for nothing and takes no place. @throws {TypeError} as `add` does. */
  addFailed(id: string, error: unknown): void;
  /** Nothing more will be added: what waits for a node that never came, or for itself, is skipped. */
  close(): void;
}

/**
 * Runs a graph that grows while it runs (calls.md 5 and 7). A node starts the moment its last dependency has succeeded; each
 * ends in exactly one outcome, whatever happens. Cost: O(V + E); no node makes it look at all the others.
 */
export function createScheduler<Result = unknown>(
  listener: ScheduleListener<Result>,
  options: ScheduleOptions = {},
): Scheduler<Result> {
  const tasks = new Map<string, Task<Result>>();
  /** Who waits for an id that was not added yet. */
  const awaited = new Map<string, Task<Result>[]>();
  /** When the time of each running task is over. The alarm rings for the first of them: they are no more than may run at once. */
  const dueAt = new Map<Task<Result>, number>();
  let alarm = new AbortController();
  let alarmAt = Infinity;
  const whenDone = Promise.withResolvers<void>();
  let open = 0;
  let isClosed = false;
  let isAborted = false;
  let isDraining = false;
  const timeoutMs = atLeast("timeoutMs", options.timeoutMs ?? 60_000, 0);
  const { clock = systemClock, signal } = options;
  const queue = readyQueue<Result>(atLeast("concurrency", options.concurrency ?? 16, 1));
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();

  function isDone(): boolean {
    return isClosed && open === 0;
  }

  function add(node: ScheduleNode<Result>): void {
    const task = register(node);
    if (isAborted) return skip(task, ABORTED);
    const failed = link(task);
    if (failed !== undefined) skip(task, dependsOn(rootOf(failed)), rootOf(failed));
    adopt(task);
    if (failed === undefined && task.missing === 0) enqueue(task);
    drain();
  }

  function addFailed(id: string, error: unknown): void {
    const task = register({ id, run: () => Promise.reject(error) });
    if (isAborted) return skip(task, ABORTED);
    fail(task, { error, cause: "thrown" });
    adopt(task);
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    if (open > 0) skipCycles();
    for (const [id, waiting] of awaited) {
      for (const task of waiting) {
        if (hasEnded(task)) continue;
        skip(task, `Skipped: depends on "${id}", which was never called`);
        skipDependents(task);
      }
    }
    awaited.clear();
    goOn();
  }

  function register(node: ScheduleNode<Result>): Task<Result> {
    if (isClosed && !isAborted) {
      throw new TypeError(`Cannot add node "${node.id}": the schedule is closed`);
    }
    if (tasks.has(node.id)) throw new TypeError(`Cannot add node "${node.id}": it was added before`);
    if (node.group !== undefined) atLeast(`group "${node.group.key}": limit`, node.group.limit, 1);
    if (node.timeoutMs !== undefined) atLeast(`node "${node.id}": timeoutMs`, node.timeoutMs, 0);
    const task: Task<Result> = { node, state: "waiting", missing: 0, dependents: [] };
    tasks.set(node.id, task);
    open++;
    return task;
  }

  /** Notes for each dependency that this task waits; gives the first one that can never succeed. */
  function link(task: Task<Result>): Task<Result> | undefined {
    for (const id of task.node.dependencies ?? []) {
      const other = tasks.get(id);
      if (other?.state === "done") continue;
      if (other !== undefined && hasEnded(other)) return other;
      const waiting = other?.dependents ?? awaited.get(id);
      if (waiting === undefined) awaited.set(id, [task]);
      else waiting.push(task);
      task.missing++;
    }
    return undefined;
  }

  /** Takes over those who waited for this id; when it has ended already, they end with it. */
  function adopt(task: Task<Result>): void {
    const waiting = awaited.get(task.node.id);
    if (waiting === undefined) return;
    awaited.delete(task.node.id);
    task.dependents = [...task.dependents, ...waiting];
    if (hasEnded(task)) skipDependents(task);
  }

  function enqueue(task: Task<Result>): void {
    task.state = "ready";
    queue.push(task);
  }

  /** Starts what may start. Not re-entrant: a node that ends at once makes others ready for this same loop. */
  function drain(): void {
    if (isDraining) return;
    isDraining = true;
    try {
      for (let task = queue.take(); task !== undefined; task = queue.take()) {
        if (task.state === "ready") start(task);
      }
    } finally {
      isDraining = false;
    }
  }

  function start(task: Task<Result>): void {
    const { node } = task;
    const { signal } = task.controller = new AbortController();
    let begun: Promise<unknown> | undefined;
    task.state = "running";
    listener.onStart?.(node.id);
    try {
      const result = node.run({
        signal,
        dependency: (id) => node.dependencies?.includes(id) ? tasks.get(id)?.result : undefined,
        countFrom: (given) => begun = given,
      });
      if (!isPromise(result)) return settle(task, () => succeed(task, result));
      const watch = (): void => watchTime(task);
      if (begun === undefined) watch();
      else begun.then(watch, watch);
      result.then(
        (value) => settle(task, () => succeed(task, value)),
        (error) => settle(task, () => fail(task, { error, cause: "thrown" })),
      );
    } catch (error) {
      settle(task, () => fail(task, { error, cause: "thrown" }));
    }
  }

  /** A node that was given up meanwhile is no longer listened to. */
  function settle(task: Task<Result>, how: () => void): void {
    if (task.state !== "running") return;
    how();
    goOn();
  }

  function watchTime(task: Task<Result>): void {
    if (task.state !== "running") return;
    const at = clock.now() + (task.node.timeoutMs ?? timeoutMs);
    dueAt.set(task, at);
    if (at < alarmAt) setAlarm(at);
  }

  function setAlarm(at: number): void {
    alarm.abort();
    const { signal } = alarm = new AbortController();
    alarmAt = at;
    clock.sleep(at - clock.now(), signal).then(ring, () => undefined);
  }

  function ring(): void {
    const now = clock.now();
    let next = Infinity;
    for (const [task, at] of dueAt) {
      if (at > now) next = Math.min(next, at);
      else timeOut(task);
    }
    alarmAt = Infinity;
    if (dueAt.size > 0 && next < Infinity) setAlarm(next);
    goOn();
  }

  function timeOut(task: Task<Result>): void {
    const { node, controller } = task;
    const error = new DOMException(`Timed out after ${node.timeoutMs ?? timeoutMs} ms`, "TimeoutError");
    fail(task, { error, cause: "timeout" });
    controller?.abort(error);
  }

  function goOn(): void {
    drain();
    maybeDone();
  }

  function succeed(task: Task<Result>, result: Result): void {
    task.result = result;
    end(task, "done", { id: task.node.id, status: "result", result });
    for (const other of task.dependents) {
      if (--other.missing === 0 && other.state === "waiting") enqueue(other);
    }
  }

  function fail(
    task: Task<Result>,
    failure: { error: unknown; cause: "thrown" | "timeout" | "abort" },
  ): void {
    end(task, "failed", { id: task.node.id, status: "error", ...failure });
    if (!isAborted) skipDependents(task);
  }

  function skip(task: Task<Result>, reason: string, root?: Task<Result>): void {
    task.root = root;
    end(task, "skipped", { id: task.node.id, status: "skip", reason });
  }

  /** All that hang off a node that ended without a result, at any distance, name the first of that chain. */
  function skipDependents(first: Task<Result>): void {
    const chain = [first];
    const root = rootOf(first);
    const reason = dependsOn(root);
    for (let task = chain.pop(); task !== undefined; task = chain.pop()) {
      for (const other of task.dependents) {
        if (hasEnded(other)) continue;
        skip(other, reason, root);
        chain.push(other);
      }
    }
  }

  function end(task: Task<Result>, state: "done" | "failed" | "skipped", outcome: NodeOutcome<Result>): void {
    if (task.state === "running") queue.release(task.node);
    task.state = state;
    dueAt.delete(task);
    task.controller = undefined; // what listens there is not kept for as long as the run lasts
    open--;
    listener.onOutcome(outcome);
  }

  /** When the stream has ended, what still waits for something that does not run waits for a cycle. */
  function skipCycles(): void {
    const waiting = [...tasks.values()].filter((task) => task.state === "waiting");
    if (waiting.length === 0) return;
    const indexOf = new Map(waiting.map((task, index) => [task.node.id, index]));
    const edges = waiting.map(({ node }) => (node.dependencies ?? []).flatMap((id) => indexOf.get(id) ?? []));
    const cycles = cyclesOf(edges, (index) => waiting[index]?.node.id ?? "");
    cycles.forEach((cycle, index) => {
      const task = waiting[index];
      if (cycle !== undefined && task !== undefined) skip(task, `Skipped: depends on itself: ${cycle}`);
    });
    cycles.forEach((cycle, index) => {
      const task = waiting[index];
      if (cycle !== undefined && task !== undefined) skipDependents(task);
    });
  }

  function abort(): void {
    if (isAborted || (isClosed && open === 0)) return;
    isAborted = isClosed = true;
    queue.clear();
    const error = signal?.reason ?? new DOMException("The run was aborted", "AbortError");
    for (const task of tasks.values()) {
      if (task.state === "running") {
        const { controller } = task;
        fail(task, { error, cause: "abort" });
        controller?.abort(error);
      } else if (!hasEnded(task)) skip(task, ABORTED);
    }
    maybeDone();
  }

  function maybeDone(): void {
    if (!isDone()) return;
    alarm.abort();
    signal?.removeEventListener("abort", abort);
    whenDone.resolve();
  }

  return {
    get isDone() {
      return isDone();
    },
    done: whenDone.promise,
    add,
    addFailed,
    close,
  };
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
function readyQueue<Result>(limit: number) {
  const groups = new Map<string, GroupState<Result>>();
  /** Groups that have a free place again and somebody waiting for it. */
  let freed: GroupState<Result>[] = [];
  let line = new Line<Task<Result>>();
  let parkedCount = 0;
  let running = 0;
  let exclusiveRuns = false;

  function push(task: Task<Result>): void {
    line.push(task);
  }

  /** The next one that may start, which counts as running from now on; undefined when nobody may. */
  function take(): Task<Result> | undefined {
    if (exclusiveRuns || running >= limit) return undefined;
    const overtaken = takeFreed();
    if (overtaken !== undefined) return started(overtaken);
    for (let task = line.first; task !== undefined; task = line.first) {
      if (task.node.exclusive && running > 0) return undefined;
      line.shift();
      const group = groupOf(task.node);
      if (group === undefined || hasPlace(group, task)) return started(task);
      group.parked.push({ task, order: parkedCount++ });
    }
    return undefined;
  }

  /** One that was taken has ended. */
  function release(node: ScheduleNode<Result>): void {
    running--;
    if (node.exclusive) exclusiveRuns = false;
    const group = groupOf(node);
    if (group === undefined) return;
    group.running--;
    if (group.parked.first !== undefined) freed.push(group);
  }

  /** Nobody waits any more. */
  function clear(): void {
    line = new Line();
    groups.clear();
    freed = [];
  }

  function started(task: Task<Result>): Task<Result> {
    running++;
    if (task.node.exclusive) exclusiveRuns = true;
    const group = groupOf(task.node);
    if (group !== undefined) group.running++;
    return task;
  }

  function takeFreed(): Task<Result> | undefined {
    const order = (group: GroupState<Result>): number => group.parked.first?.order ?? Infinity;
    while (freed.length > 0) {
      const group = freed.reduce((a, b) => order(a) <= order(b) ? a : b);
      freed.splice(freed.indexOf(group), 1);
      const task = group.parked.first?.task;
      if (task === undefined || !hasPlace(group, task)) continue;
      group.parked.shift();
      return task;
    }
    return undefined;
  }

  function groupOf({ group }: ScheduleNode<Result>): GroupState<Result> | undefined {
    if (group === undefined) return undefined;
    const state = groups.get(group.key) ?? { running: 0, parked: new Line() };
    groups.set(group.key, state);
    return state;
  }

  return { push, take, release, clear };
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
