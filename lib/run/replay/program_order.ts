// The programs of a run, and what they are given in which order: the tactic, and what its calls and steps do inside.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  DivergedError,
  messageOf,
  ModelError,
  type PromptError,
  type RunEvent,
  type RunJournal,
  type StepOutcome,
} from "../../core/core.ts";
import { AgentError } from "../agent/call_state.ts";
import { PlaceOrder, type RecordedMark } from "./place_order.ts";
import type { Run } from "../run.ts";

const programs = new WeakMap<Run, ProgramOrder>();

/** The order of a run that is a program; undefined where the engine alone decides what comes next. */
export function orderOf(run: Run): ProgramOrder | undefined {
  return programs.get(run);
}

/** What a run's programs are given, in its order. */
export class ProgramOrder implements Disposable {
  readonly #recorded = new Map<string, RecordedMark[]>();
  readonly #places = new Map<string, PlaceOrder>();
  /** Steps that had ended inside of a call or another step, by what they are called there. */
  readonly #inside = new Map<string, string>();
  #failures: (() => void)[] = [];
  /** Why the run is not to be done, whatever the program makes of it. */
  fault: PromptError | undefined;

  /** @param events those told before the run was resumed */
  constructor(events: readonly RunEvent[]) {
    for (const event of events) {
      if (event.type !== "step-start" && event.type !== "step-end") continue;
      const { key, at } = event;
      const place = placeOf(key);
      if (place === undefined) continue;
      if (event.type === "step-end" && place !== "") this.#inside.set(stepId(key), key);
      const marks = this.#recorded.get(place) ?? [];
      marks.push({ key, at, isEnd: event.type === "step-end" });
      this.#recorded.set(place, marks);
    }
  }

  /** Its run has begun. */
  follow(run: Run): void {
    programs.set(run, this);
  }

  /** @param prefix before the keys of what is done there */
  at(prefix: string): PlaceOrder {
    const order = this.#places.get(prefix) ?? new PlaceOrder(this.#recorded.get(prefix));
    this.#places.set(prefix, order);
    return order;
  }

  /** What was begun in a place before the run was resumed, by its keys. */
  begunAt(prefix: string): readonly string[] {
    return (this.#recorded.get(prefix) ?? []).flatMap(({ key, isEnd }) => isEnd ? [] : [key]);
  }

  /** A step that was done before the run was resumed, is called the same, and lies inside of what was done in the place of this one. */
  maybeDoneInside(key: string, prefix: string): string | undefined {
    const done = this.#inside.get(stepId(key));
    return done?.startsWith(prefix) && placeOf(done) !== prefix ? done : undefined;
  }

  /** A failure that the program was given: it is kept when the program goes on after it, so a run that ends with it tries again. */
  notes(failure: () => void): void {
    this.#failures.push(failure);
  }

  /** Something begins: what was noted lies behind it. */
  keepFailures(): void {
    const failures = this.#failures;
    this.#failures = [];
    for (const keep of failures) keep();
  }

  [Symbol.dispose](): void {
    for (const order of this.#places.values()) order.end();
  }
}

/** What begins a key in a place: a step, or a question of a dialog, of the place's own tactic or of one that it calls. */
const IN_PLACE =
  /^(.*?\/)??(?:tactic\[[^\]]*\]\/)*(?:(?:dialog|fork)\[[^\]]*\]\/(?:fork\[[^\]]*\]\/)*turn\[\d+\]\/model|step:[^/]*)$/;

/** Before the key of a step, or of a question in a dialog, what stands there for its place; undefined for any other key. */
function placeOf(key: string): string | undefined {
  const found = IN_PLACE.exec(key);
  return found === null ? undefined : found[1] ?? "";
}

/** What a step is called, without its place and its number. */
function stepId(key: string): string {
  return (/step:[^/]*$/.exec(key)?.[0] ?? "").replace(/#\d+$/, "");
}

const currentTurn = new AsyncLocalStorage<ProgramTurn>();

/** The turn that is made here and now. */
export function turnHere(): ProgramTurn | undefined {
  return currentTurn.getStore();
}

/** Makes a turn as a part of its program, which gets what comes of it when its turn has come. */
export async function inTurn<Result>(
  run: Run,
  { agent, signal = run.signal, work }: {
    readonly agent: string;
    readonly signal: AbortSignal | undefined;
    work(): Promise<Result>;
  },
): Promise<Result> {
  const order = orderOf(run);
  if (order === undefined) return await work();
  currentTurn.getStore()?.goesOn();
  const turn = new ProgramTurn(order);
  try {
    const result = await currentTurn.run(turn, work);
    await turn.over(run.signal.aborted ? run.signal : signal);
    return result;
  } catch (error) {
    if (run.signal.aborted || error instanceof DivergedError) throw error;
    await turn.over(signal);
    turn.failed(error);
    throw turn.wasAborted ? abortedAgain(error, { agent, signal }) : error;
  }
}

/** It was aborted before the run was resumed. */
function abortedAgain(
  error: unknown,
  { agent, signal }: { readonly agent: string; readonly signal: AbortSignal },
): unknown {
  if (!(error instanceof AgentError) || error.code === "aborted") return error;
  const cause = signal.aborted ? signal.reason : error.cause;
  return new AgentError(`agent "${agent}": the call was aborted`, {
    code: "aborted",
    state: error.state,
    cause,
  });
}

/** One turn of a program, as its journal sees it. */
class ProgramTurn {
  readonly #program: ProgramOrder;
  #order: PlaceOrder | undefined;
  /** The question that was asked last, while the turn may end with its answer. */
  #last: string | undefined;
  /** How what has begun in it and has not ended is kept when the turn has failed. */
  readonly #open = new Map<string, (outcome: StepOutcome) => void>();
  /** What ended with its abort, before the run was resumed: the program aborts it again, at the latest behind all that was given. */
  #abortKey: string | undefined;

  constructor(program: ProgramOrder) {
    this.#program = program;
  }

  get wasAborted(): boolean {
    return this.#abortKey !== undefined;
  }

  /** @param prefix of its place */
  isAt(prefix: string): void {
    this.#order = this.#program.at(prefix);
  }

  /** A question begins in it, or a call. */
  begins(
    key: string,
    { isQuestion, known, end }: {
      readonly isQuestion: boolean;
      readonly known: StepOutcome | undefined;
      end(outcome: StepOutcome): void;
    },
  ): void {
    this.goesOn();
    if (isQuestion) {
      this.#last = key;
      this.#order?.begun(key);
    }
    if (known === undefined) this.#open.set(key, end);
    else this.ends(key, known);
  }

  ends(key: string, outcome: StepOutcome): void {
    this.#open.delete(key);
    if (key === this.#last) this.#order?.ended(key);
    const code = "error" in outcome ? outcome.error.code : undefined;
    if (code === "aborted" || code === "abort") this.#abortKey = `${key} aborted`;
  }

  /** The answer was not its last. */
  goesOn(): void {
    if (this.#last !== undefined) this.#order?.passed(this.#last);
    this.#last = undefined;
  }

  failed(error: unknown): void {
    for (const [key, end] of this.#open) {
      const failure = key === this.#last
        ? failureOf(error)
        : { message: `Aborted: ${messageOf(error)}`, code: "abort" };
      this.#program.notes(() => end({ error: failure }));
    }
  }

  /** The program may have what came of it. */
  async over(signal: AbortSignal): Promise<void> {
    const key = this.#last ?? this.#abortKey;
    if (key !== undefined) this.#order?.ended(key);
    await this.#order?.given(key, signal);
  }
}

function failureOf(
  error: unknown,
): { readonly message: string; readonly code: string; readonly flag?: string } {
  const cause = error instanceof AgentError ? error.cause : error;
  if (!(cause instanceof ModelError)) return { message: messageOf(error), code: "aborted" };
  const { message, code, flag } = cause;
  return { message, code, flag };
}

/** A journal that tells the turns of its programs what they begin and end. */
export function programJournal(journal: RunJournal, order: ProgramOrder): RunJournal {
  return aroundJournal(journal, {
    begin(step, options) {
      const { key, kind } = step;
      const turn = turnHere();
      if (turn?.wasAborted === true) throw new ModelError("the call was aborted", { code: "aborted" });
      order.keepFailures();
      const begun = journal.begin(step, options);
      if (kind === "model" || kind === "gadget") {
        turn?.begins(key, {
          isQuestion: kind === "model",
          known: begun.do === "answer" ? begun.outcome : undefined,
          end: (outcome) => journal.end(key, outcome),
        });
      } else turn?.goesOn();
      return begun;
    },
    end(key, outcome) {
      journal.end(key, outcome);
      turnHere()?.ends(key, outcome);
    },
  });
}

/** A journal that does some things in its own way, and everything else as the one inside. */
export function aroundJournal(inner: RunJournal, own: Partial<RunJournal>): RunJournal {
  return new Proxy(inner, {
    get(_target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(inner, name);
      return typeof value === "function" ? value.bind(inner) : value;
    },
  });
}
