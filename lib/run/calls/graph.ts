// The calls of one text, or of one answer of a model, run as a graph while the text is still being written. Each call is one journaled
// step; what it tells goes through the run.
import {
  type AnyGadget,
  type AskingGadget,
  type Catalog,
  type GadgetCall,
  type GadgetContext,
  isAsking,
  type Json,
  PERMIT,
  SENT,
  type SentContext,
  whenAborted,
} from "../../core/core.ts";
import { createScheduler, type NodeContext, type NodeOutcome } from "../../schedule/scheduler.ts";
import { CallError, callFailure, type CallOutcome, CallStep, outcomeEvent } from "./step.ts";
import type { Containers } from "./container.ts";
import { inStep } from "../replay/work_place.ts";
import type { Run } from "../run.ts";
import {
  containedBy,
  fillInput,
  findGadget,
  ownCopy,
  PlaceholderError,
  RESULT_BYTES,
  runGadget,
  strangeResult,
} from "./gadget.ts";

/** A call, whoever wrote it. */
export interface GraphCall {
  readonly invocationId: string;
  readonly gadgetName: string;
  readonly dependencies: readonly string[];
  /** The arguments; leaves may be `TextValue`s, which the gadget's schema types. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly parseError?: string;
  /** Of its header; 0 when it was not written as text. */
  readonly line: number;
}

/** Bounds of calls. */
export interface CallLimits {
  /** How many calls may run at once. Default 16. */
  readonly concurrency?: number;
  /** For gadgets that say nothing else. Default 60,000. */
  readonly timeoutMs?: number;
  /** Of UTF-8 a result may take before it is cut. Default 1,048,576. */
  readonly resultBytes?: number;
}

/** How the calls are run. */
export interface CallGraphOptions {
  readonly run: Run;
  readonly catalog: Catalog;
  readonly limits?: CallLimits;
  /** The model step that wrote them; absent for the run's own source. */
  readonly step?: string;
  /** Before the key of each step; default nothing. */
  readonly keyPrefix?: string;
  /** Aborts the calls. Default: the run's. */
  readonly signal?: AbortSignal;
  /** No placeholder is filled: what stands in the arguments is data. */
  readonly isLiteral?: boolean;
  /** What the gadgets get besides. */
  readonly given?: Pick<GadgetContext, "deps" | "dialog">;
  /** Gives what does what its calls contain, before the run is asked. Default: nothing. */
  readonly containers?: Containers;
}

/** A graph of calls that grows while it runs; every call ends in exactly one outcome. */
export interface CallGraph {
  /** How many calls gave no result. */
  readonly failures: number;
  /** The calls in written order, each with how it ended. */
  outcomes(): Iterable<{ readonly call: GraphCall; readonly outcome: CallOutcome }>;
  /** The results of the calls that no other call depends on: one is the value itself, several an object by id. */
  value(): Json | undefined;
  /** A header was read. */
  open(header: Omit<GraphCall, "parameters">): void;
  /** A call that cannot be: it has an outcome, but is none of the graph. */
  refuse(call: { readonly invocationId: string; readonly line: number }, error: string): void;
  /** Takes a whole call. A promise only where its gadget's module has to be loaded: what comes behind it has to wait. */
  add(call: GraphCall): undefined | Promise<void>;
  /** Nothing more comes; a promise while not every call has its outcome. */
  close(): undefined | Promise<void>;
}

/** A graph without calls. */
export function createCallGraph(options: CallGraphOptions): CallGraph {
  let abortError: Promise<CallError> | undefined;
  /** By id; the second call of an id is not among them. */
  const calls = new Map<string, GraphCall>();
  const written: GraphCall[] = [];
  let refused: Map<GraphCall, CallOutcome> | undefined;
  const ended = new Map<string, CallOutcome>();
  /** Of the calls that run. */
  const steps = new Map<string, CallStep>();
  let dependedOn: Set<string> | undefined;
  /** The placeholders that were told to stay. */
  const unfilled = new Set<string>();
  let failed = 0;
  const { run, catalog, limits, step: from, signal = run.signal, keyPrefix = "", isLiteral = false } =
    options;
  const of = from === undefined ? {} : { step: from };
  const scheduler = createScheduler<Json>({ onOutcome }, {
    ...limits,
    clock: run.limitClock,
    signal,
  });

  function* outcomes(): Iterable<{ readonly call: GraphCall; readonly outcome: CallOutcome }> {
    for (const call of written) {
      const outcome = refused?.get(call) ?? ended.get(call.invocationId);
      if (outcome !== undefined) yield { call, outcome };
    }
  }

  function value(): Json | undefined {
    const entries: [string, Json][] = [];
    for (const [id, outcome] of ended) {
      if (outcome.status === "result" && dependedOn?.has(id) !== true) {
        entries.push([id, outcome.result]);
      }
    }
    if (entries.length < 2) return entries[0]?.[1];
    const order = new Map([...calls.keys()].map((id, index) => [id, index]));
    entries.sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
    return Object.fromEntries(entries);
  }

  function open({ invocationId, gadgetName, dependencies, line }: Omit<GraphCall, "parameters">): void {
    run.emit({ type: "call-open", ...of, invocationId, gadgetName, dependencies, line });
  }

  function refuse(call: { readonly invocationId: string; readonly line: number }, error: string): void {
    failed++;
    const { invocationId, line } = call;
    run.emit({ type: "call-error", ...of, invocationId, line, error, code: "parse" });
  }

  function add(call: GraphCall): undefined | Promise<void> {
    const { invocationId, dependencies, parseError } = call;
    written.push(call);
    if (calls.has(invocationId)) {
      const error = parseError ?? `Duplicate invocation id "${invocationId}"`;
      (refused ??= new Map()).set(call, { status: "error", failure: { error, code: "parse" } });
      return void refuse(call, error);
    }
    calls.set(invocationId, call);
    for (const id of dependencies) (dependedOn ??= new Set()).add(id);
    if (parseError !== undefined) {
      return void scheduler.addFailed(invocationId, new CallError(parseError, "parse"));
    }
    const found = findGadget(catalog, { name: call.gadgetName, run, keyPrefix });
    if (!(found instanceof Promise)) return void schedule(call, found);
    return Promise.race([found, aborted()]).then((gadget) => schedule(call, gadget));
  }

  function close(): undefined | Promise<void> {
    const moment = run.moment(`${keyPrefix}closed`); // what never came is skipped now
    if (moment === undefined) return closed();
    return moment.catch(() => undefined).then(closed); // the run says why
  }

  function closed(): undefined | Promise<void> {
    scheduler.close();
    return scheduler.isDone ? undefined : scheduler.done;
  }

  /** Settles at the abort: a module that never comes does not hold it up. */
  function aborted(): Promise<CallError> {
    return abortError ??= whenAborted(signal).then(() => new CallError("The run was aborted", "abort"));
  }

  function schedule(call: GraphCall, gadget: AnyGadget | CallError): void {
    const { invocationId, dependencies } = call;
    if (gadget instanceof CallError) return scheduler.addFailed(invocationId, gadget);
    const { maxConcurrent, exclusive } = gadget;
    scheduler.add({
      id: invocationId,
      dependencies,
      run: (node) => perform(call, gadget, node),
      group: maxConcurrent === undefined ? undefined : { key: gadget.name, limit: maxConcurrent },
      exclusive,
      timeoutMs: containedBy(gadget) === undefined ? gadget.timeoutMs : Infinity, // what runs in it has its own
    });
  }

  function perform(call: GraphCall, gadget: AnyGadget, node: NodeContext<Json>): Json | Promise<Json> {
    const resultOf = (id: string): Json | undefined => {
      const result = node.dependency(id);
      return result === undefined ? noResult(id, call) : result;
    };
    const input = isLiteral ? call.parameters : fillInput(call.parameters, resultOf, gadget);
    const key = `${keyPrefix}call:${call.invocationId}`;
    const step = new CallStep(run, {
      key,
      place: { ...of, invocationId: call.invocationId, line: call.line },
      gadget,
      input,
      isContainer: containedBy(gadget) !== undefined,
    });
    steps.set(call.invocationId, step);
    const known = step.begin({ isDeferred: isAsking(gadget) });
    if (known !== undefined) return known; // null is a result too
    const start = (onSent?: () => void): Json | Promise<Json> =>
      inStep(key, () =>
        runGadget({
          gadget: withContents(gadget, { key, node }),
          input,
          mask: (value) => run.mask(value),
          maskStart: (text) => run.secrets?.stream().push(text) ?? text,
          maxBytes: limits?.resultBytes ?? RESULT_BYTES,
          onStart: () => step.started(),
          context: (parameters) =>
            callContext({
              call: { gadgetName: call.gadgetName, invocationId: call.invocationId, parameters },
              dependencies: call.dependencies,
              node,
              step,
              given: { ...options.given, ...(onSent && { [SENT]: onSent }) },
            }),
        }));
    return isAsking(gadget) ? permitted(gadget, node, start) : run.onceKept(() => start());
  }

  /** Of calls that come behind it nothing is known, however late it runs. @throws {PlaceholderError} */
  function noResult(id: string, call: GraphCall): undefined {
    const other = calls.get(id);
    const isKnown = other !== undefined && written.indexOf(other) <= written.indexOf(call);
    const problem = strangeResult(id, call, { isKnown });
    if (problem !== undefined) throw new PlaceholderError(problem);
    const key = `${call.invocationId} ${id}`;
    if (unfilled.has(key)) return;
    unfilled.add(key);
    const text = `${
      call.gadgetName || "a call"
    }: {{results.${id}}} stays as it is: no call before has the id ${JSON.stringify(id)}`;
    run.emit({ type: "warning", text, ...(call.line > 0 && { line: call.line }) });
  }

  /**
   * Begins once it is known that it may; while somebody is asked no time runs out, and its own begins when its process was given it.
   *
   * @throws {PermissionRefused}
   */
  function permitted(
    gadget: AskingGadget,
    node: NodeContext<Json>,
    start: (onSent: () => void) => Json | Promise<Json>,
  ): Json | Promise<Json> {
    const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
    node.countFrom(sent);
    const begin = () => {
      run.begins();
      return run.onceKept(() => start(onSent));
    };
    const asked = gadget[PERMIT]();
    if (asked === undefined) return begin();
    const hold = run.limitClock.hold();
    return asked.finally(() => hold[Symbol.dispose]()).then(begin);
  }

  /** What a container stands for is done here, as a part of the run. */
  function withContents(
    gadget: AnyGadget,
    { key, node }: { readonly key: string; readonly node: NodeContext<Json> },
  ): AnyGadget {
    const kind = containedBy(gadget);
    if (kind === undefined) return gadget;
    return {
      ...gadget,
      run: async (_input, { call: { parameters } }) => {
        const own = options.containers?.[kind];
        const perform = own ?? (await run.containers)?.[kind];
        if (perform !== undefined) {
          return await perform({ run, keyPrefix: `${key}/`, parameters, signal: node.signal });
        }
        throw new CallError(`${gadget.name} cannot run here: this run has no ${kind}s`, "unavailable");
      },
    };
  }

  function onOutcome(node: NodeOutcome<Json>): void {
    const { id } = node;
    const call = calls.get(id);
    const step = steps.get(id);
    steps.delete(id);
    step?.close();
    const outcome = outcomeOf(node);
    ended.set(id, outcome);
    if (outcome.status !== "result") failed++;
    const place = { ...of, invocationId: id, line: call?.line ?? 0 };
    const tell = (): void => run.emit(outcomeEvent(outcome, place));
    const isOpen = node.status === "error" && node.cause === "abort"; // it may be done again
    if (step === undefined || isOpen) tell();
    else step.finish(outcome, tell);
  }

  function outcomeOf(node: NodeOutcome<Json>): CallOutcome {
    if (node.status === "result") return { status: "result", result: node.result };
    if (node.status === "skip") return { status: "skip", reason: node.reason };
    return { status: "error", failure: run.mask(callFailure(node.error, node.cause)) };
  }

  return {
    get failures() {
      return failed;
    },
    outcomes,
    value,
    open,
    refuse,
    add,
    close,
  };
}

/** What a call's context is made of. */
interface CallContextOptions {
  readonly call: GadgetCall;
  /** The ids that the call depends on. */
  readonly dependencies: readonly string[];
  readonly node: NodeContext<Json>;
  readonly step: CallStep;
  /** What the gadgets get besides. */
  readonly given: Pick<SentContext, "deps" | "dialog" | typeof SENT>;
}

/** What `run` of a gadget gets besides its input. All of it is the object's own, so that `{ ...context }` has it too. */
function callContext({ call, dependencies, node, step, given }: CallContextOptions): GadgetContext {
  const context: GadgetContext = {
    signal: node.signal,
    invocationId: call.invocationId,
    dependencies: {},
    call,
    ...given,
    log: (text: string) => step.log(String(text)),
    progress: (done: number, total?: number) => step.progress(done, total),
  };
  if (dependencies.length === 0) return context; // a getter, also in the literal, takes longer to make than all of this
  return Object.defineProperty(context, "dependencies", {
    /** Copies of the results, made when they are asked for: most gadgets look only at their input. */
    get: () => Object.fromEntries(dependencies.map((id) => [id, ownCopy(node.dependency(id) ?? null)])),
  });
}
