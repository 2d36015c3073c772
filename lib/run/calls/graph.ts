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
import { type NodeContext, type NodeOutcome, Scheduler } from "../../schedule/scheduler.ts";
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
export class CallGraph {
  readonly #options: CallGraphOptions;
  readonly #run: Run;
  readonly #place: { readonly step?: string };
  readonly #signal: AbortSignal;
  #whenAborted: Promise<CallError> | undefined;
  readonly #scheduler: Scheduler<Json>;
  /** By id; the second call of an id is not among them. */
  readonly #calls = new Map<string, GraphCall>();
  readonly #written: GraphCall[] = [];
  #refused: Map<GraphCall, CallOutcome> | undefined;
  readonly #outcomes = new Map<string, CallOutcome>();
  /** Of the calls that run. */
  readonly #steps = new Map<string, CallStep>();
  #dependedOn: Set<string> | undefined;
  /** The placeholders that were told to stay. */
  readonly #unfilled = new Set<string>();
  #failures = 0;

  constructor(options: CallGraphOptions) {
    const { run, limits, step, signal = run.signal } = options;
    this.#options = options;
    this.#run = run;
    this.#place = step === undefined ? {} : { step };
    this.#signal = signal;
    this.#scheduler = new Scheduler<Json>({ onOutcome: (outcome) => this.#onOutcome(outcome) }, {
      ...limits,
      clock: run.limitClock,
      signal,
    });
  }

  /** How many calls gave no result. */
  get failures(): number {
    return this.#failures;
  }

  /** The calls in written order, each with how it ended. */
  *outcomes(): Iterable<{ readonly call: GraphCall; readonly outcome: CallOutcome }> {
    for (const call of this.#written) {
      const outcome = this.#refused?.get(call) ?? this.#outcomes.get(call.invocationId);
      if (outcome !== undefined) yield { call, outcome };
    }
  }

  /** The results of the calls that no other call depends on: one is the value itself, several an object by id. */
  value(): Json | undefined {
    const entries: [string, Json][] = [];
    for (const [id, outcome] of this.#outcomes) {
      if (outcome.status === "result" && this.#dependedOn?.has(id) !== true) {
        entries.push([id, outcome.result]);
      }
    }
    if (entries.length < 2) return entries[0]?.[1];
    const order = new Map([...this.#calls.keys()].map((id, index) => [id, index]));
    entries.sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
    return Object.fromEntries(entries);
  }

  /** A header was read. */
  open({ invocationId, gadgetName, dependencies, line }: Omit<GraphCall, "parameters">): void {
    this.#run.emit({ type: "call-open", ...this.#place, invocationId, gadgetName, dependencies, line });
  }

  /** A call that cannot be: it has an outcome, but is none of the graph. */
  refuse(call: { readonly invocationId: string; readonly line: number }, error: string): void {
    this.#failures++;
    const { invocationId, line } = call;
    this.#run.emit({ type: "call-error", ...this.#place, invocationId, line, error, code: "parse" });
  }

  /** Takes a whole call. A promise only where its gadget's module has to be loaded: what comes behind it has to wait. */
  add(call: GraphCall): undefined | Promise<void> {
    const { invocationId, dependencies, parseError } = call;
    this.#written.push(call);
    if (this.#calls.has(invocationId)) {
      const error = parseError ?? `Duplicate invocation id "${invocationId}"`;
      (this.#refused ??= new Map()).set(call, { status: "error", failure: { error, code: "parse" } });
      return void this.refuse(call, error);
    }
    this.#calls.set(invocationId, call);
    for (const id of dependencies) (this.#dependedOn ??= new Set()).add(id);
    if (parseError !== undefined) {
      return void this.#scheduler.addFailed(invocationId, new CallError(parseError, "parse"));
    }
    const { catalog, keyPrefix = "" } = this.#options;
    const found = findGadget(catalog, { name: call.gadgetName, run: this.#run, keyPrefix });
    if (!(found instanceof Promise)) return void this.#schedule(call, found);
    return Promise.race([found, this.#aborted()]).then((gadget) => this.#schedule(call, gadget));
  }

  /** Nothing more comes; a promise while not every call has its outcome. */
  close(): undefined | Promise<void> {
    const moment = this.#run.moment(`${this.#options.keyPrefix ?? ""}closed`); // what never came is skipped now
    if (moment === undefined) return this.#closed();
    return moment.catch(() => undefined).then(() => this.#closed()); // the run says why
  }

  #closed(): undefined | Promise<void> {
    this.#scheduler.close();
    return this.#scheduler.isDone ? undefined : this.#scheduler.done;
  }

  /** Settles at the abort: a module that never comes does not hold it up. */
  #aborted(): Promise<CallError> {
    return this.#whenAborted ??= whenAborted(this.#signal).then(() =>
      new CallError("The run was aborted", "abort")
    );
  }

  #schedule(call: GraphCall, gadget: AnyGadget | CallError): void {
    const { invocationId, dependencies } = call;
    if (gadget instanceof CallError) return this.#scheduler.addFailed(invocationId, gadget);
    const { maxConcurrent, exclusive } = gadget;
    this.#scheduler.add({
      id: invocationId,
      dependencies,
      run: (node) => this.#perform(call, gadget, node),
      group: maxConcurrent === undefined ? undefined : { key: gadget.name, limit: maxConcurrent },
      exclusive,
      timeoutMs: containedBy(gadget) === undefined ? gadget.timeoutMs : Infinity, // what runs in it has its own
    });
  }

  #perform(call: GraphCall, gadget: AnyGadget, node: NodeContext<Json>): Json | Promise<Json> {
    const { keyPrefix = "", limits, isLiteral = false } = this.#options;
    const resultOf = (id: string): Json | undefined => {
      const result = node.dependency(id);
      return result === undefined ? this.#noResult(id, call) : result;
    };
    const input = isLiteral ? call.parameters : fillInput(call.parameters, resultOf, gadget);
    const key = `${keyPrefix}call:${call.invocationId}`;
    const step = new CallStep(this.#run, {
      key,
      place: { ...this.#place, invocationId: call.invocationId, line: call.line },
      gadget,
      input,
      isContainer: containedBy(gadget) !== undefined,
    });
    this.#steps.set(call.invocationId, step);
    const known = step.begin({ isDeferred: isAsking(gadget) });
    if (known !== undefined) return known; // null is a result too
    const start = (onSent?: () => void): Json | Promise<Json> =>
      inStep(key, () =>
        runGadget({
          gadget: this.#withContents(gadget, { key, node }),
          input,
          mask: (value) => this.#run.mask(value),
          maskStart: (text) => this.#run.secrets?.stream().push(text) ?? text,
          maxBytes: limits?.resultBytes ?? RESULT_BYTES,
          onStart: () => step.started(),
          context: (parameters) =>
            callContext({
              call: { gadgetName: call.gadgetName, invocationId: call.invocationId, parameters },
              dependencies: call.dependencies,
              node,
              step,
              given: { ...this.#options.given, ...(onSent && { [SENT]: onSent }) },
            }),
        }));
    return isAsking(gadget) ? this.#permitted(gadget, node, start) : start();
  }

  /** Of calls that come behind it nothing is known, however late it runs. @throws {PlaceholderError} */
  #noResult(id: string, call: GraphCall): undefined {
    const other = this.#calls.get(id);
    const isKnown = other !== undefined && this.#written.indexOf(other) <= this.#written.indexOf(call);
    const problem = strangeResult(id, call, { isKnown });
    if (problem !== undefined) throw new PlaceholderError(problem);
    const key = `${call.invocationId} ${id}`;
    if (this.#unfilled.has(key)) return;
    this.#unfilled.add(key);
    const text = `${
      call.gadgetName || "a call"
    }: {{results.${id}}} stays as it is: no call before has the id ${JSON.stringify(id)}`;
    this.#run.emit({ type: "warning", text, ...(call.line > 0 && { line: call.line }) });
  }

  /**
   * Begins once it is known that it may; while somebody is asked no time runs out, and its own begins when its process was given it.
   *
   * @throws {PermissionRefused}
   */
  #permitted(
    gadget: AskingGadget,
    node: NodeContext<Json>,
    start: (onSent: () => void) => Json | Promise<Json>,
  ): Json | Promise<Json> {
    const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
    node.countFrom(sent);
    const begin = () => {
      this.#run.begins();
      return start(onSent);
    };
    const asked = gadget[PERMIT]();
    if (asked === undefined) return begin();
    const hold = this.#run.limitClock.hold();
    return asked.finally(() => hold[Symbol.dispose]()).then(begin);
  }

  /** What a container stands for is done here, as a part of the run. */
  #withContents(
    gadget: AnyGadget,
    { key, node }: { readonly key: string; readonly node: NodeContext<Json> },
  ): AnyGadget {
    const kind = containedBy(gadget);
    if (kind === undefined) return gadget;
    return {
      ...gadget,
      run: async (_input, { call: { parameters } }) => {
        const run = this.#run;
        const own = this.#options.containers?.[kind];
        const perform = own ?? (await run.containers)?.[kind];
        if (perform !== undefined) {
          return await perform({ run, keyPrefix: `${key}/`, parameters, signal: node.signal });
        }
        throw new CallError(`${gadget.name} cannot run here: this run has no ${kind}s`, "unavailable");
      },
    };
  }

  #onOutcome(ended: NodeOutcome<Json>): void {
    const { id } = ended;
    const call = this.#calls.get(id);
    const step = this.#steps.get(id);
    this.#steps.delete(id);
    step?.close();
    const outcome = this.#outcomeOf(ended);
    this.#outcomes.set(id, outcome);
    if (outcome.status !== "result") this.#failures++;
    const place = { ...this.#place, invocationId: id, line: call?.line ?? 0 };
    const tell = (): void => this.#run.emit(outcomeEvent(outcome, place));
    const isOpen = ended.status === "error" && ended.cause === "abort"; // it may be done again
    if (step === undefined || isOpen) tell();
    else step.finish(outcome, tell);
  }

  #outcomeOf(ended: NodeOutcome<Json>): CallOutcome {
    if (ended.status === "result") return { status: "result", result: ended.result };
    if (ended.status === "skip") return { status: "skip", reason: ended.reason };
    return { status: "error", failure: this.#run.mask(callFailure(ended.error, ended.cause)) };
  }
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
