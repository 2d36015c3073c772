// What runs of one document, one after another, have done: the next one takes what came of a step from here when it is about to do the
// same with the same input. A journal of its own stands behind each run, so that each can be resumed, traced and listed by itself.
import {
  type BeginOptions,
  canonicalJson,
  isJsonObject,
  type Json,
  type RunEvent,
  type RunJournal,
  sha256,
  type StepKind,
  type StepOutcome,
  type StepStart,
  type StepTurn,
} from "../../core/core.ts";
import { aroundJournal } from "./program_order.ts";

/** Reads are done anew: what they give may be what has changed. A write costs nothing, and what it wrote may be gone. */
const REUSED_KINDS: ReadonlySet<StepKind> = new Set<StepKind>(["model", "gadget", "shell", "http", "ask"]);

interface DoneStep {
  readonly identity: string;
  readonly outcome: StepOutcome;
  /** The operation that it was done for. */
  readonly operation: string | undefined;
}

/** The steps of earlier runs by what they did, and the run that is under way. */
export class EarlierSteps {
  /** To be taken, each once, in the order in which they were done. */
  #earlier = new Map<string, StepOutcome[]>();
  /** Of the run that is under way. */
  #done: DoneStep[] = [];
  #isWhole = true;
  #identities = new Map<string, string>();
  /** What was said so far in the turns of an operation, as a hash: the input of a model step has only what is new. */
  #talks = new Map<string, string>();
  #operations: string[] = [];
  #counts = new Map<string, { reused: number; performed: number }>();

  /** The journal of a new run: it answers what was done before. What a run did not come to stays for the next one, unless it was done. */
  journal(inner: RunJournal): RunJournal {
    this.#beginRun();
    return aroundJournal(inner, {
      begin: (step, options) => this.#begin(inner, step, options),
      end: (key, outcome) => {
        inner.end(key, outcome);
        this.#finished(key, outcome);
      },
      tell: (event) => {
        inner.tell(event);
        this.#told(event);
      },
      release: (status, usage) => {
        this.#isWhole = status === "done";
        inner.release(status, usage);
      },
    });
  }

  /** Whether all that an operation of this run did, and there was something, had been done before. */
  isReused(operation: string): boolean {
    const { reused = 0, performed = 0 } = this.#counts.get(operation) ?? {};
    return reused > 0 && performed === 0;
  }

  #beginRun(): void {
    const left = this.#isWhole ? [] : [...this.#earlier];
    this.#earlier = new Map();
    for (const { identity, outcome } of this.#done) this.#keep(identity, [outcome]);
    for (const [identity, outcomes] of left) this.#keep(identity, outcomes);
    this.#done = [];
    this.#isWhole = false;
    this.#identities = new Map();
    this.#talks = new Map();
    this.#operations = [];
    this.#counts = new Map();
  }

  #keep(identity: string, outcomes: readonly StepOutcome[]): void {
    this.#earlier.set(identity, [...this.#earlier.get(identity) ?? [], ...outcomes]);
  }

  #begin(inner: RunJournal, step: StepStart, options: BeginOptions | undefined): StepTurn {
    const turn = inner.begin(step, options);
    if (!REUSED_KINDS.has(step.kind)) return turn;
    const identity = this.#identityOf(step);
    this.#identities.set(step.key, identity);
    if (turn.do === "answer") this.#finished(step.key, turn.outcome);
    if (turn.do !== "perform" || turn.prefix !== undefined) return turn;
    const outcome = this.#earlier.get(identity)?.shift();
    this.#count(step.key, outcome === undefined ? "performed" : "reused");
    if (outcome === undefined) return turn;
    inner.finish(step.key, outcome);
    this.#finished(step.key, outcome);
    return { do: "answer", outcome, ms: 0, attempt: turn.attempt };
  }

  /** What failed is tried again. */
  #finished(key: string, outcome: StepOutcome): void {
    const identity = this.#identities.get(key);
    if (identity === undefined || "error" in outcome) return;
    this.#done.push({ identity, outcome, operation: this.#operations.at(-1) });
    const talk = turnOf(key);
    if (talk !== undefined) this.#hear(talk.place, outcome.ok);
  }

  #identityOf({ key, kind, name, input }: StepStart): string {
    const talk = kind === "model" ? turnOf(key) : undefined;
    if (talk === undefined || !isJsonObject(input)) return sha256(canonicalJson([kind, name, input]));
    const { messages = [], ...rest } = input;
    if (talk.n === 1) this.#talks.delete(talk.place);
    if (!Array.isArray(messages) || messages.length > 0) this.#hear(talk.place, messages);
    return sha256(canonicalJson([kind, name, rest, this.#talks.get(talk.place) ?? ""]));
  }

  #hear(place: string, said: Json): void {
    this.#talks.set(place, sha256(canonicalJson([this.#talks.get(place) ?? "", said])));
  }

  /** For every place that the step is inside of. */
  #count(key: string, how: "reused" | "performed"): void {
    for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
      const place = key.slice(0, at);
      const counts = this.#counts.get(place) ?? { reused: 0, performed: 0 };
      counts[how]++;
      this.#counts.set(place, counts);
    }
  }

  /** Of an operation that failed nothing is reused: its command, or its question, is what is to be tried again. */
  #told(event: RunEvent): void {
    if (event.type === "step-start" && event.kind === "step") this.#operations.push(event.key);
    if (event.type !== "step-end" || event.key !== this.#operations.at(-1)) return;
    this.#operations.pop();
    if (event.error === undefined) return;
    this.#done = this.#done.filter(({ operation }) => operation !== event.key);
  }
}

/** The place of a turn and its number: `op[12]/turn[2]/model`. */
function turnOf(key: string): { readonly place: string; readonly n: number } | undefined {
  const [, place, n] = /^(.*)turn\[(\d+)\]\/model$/.exec(key) ?? [];
  return place === undefined ? undefined : { place, n: Number(n) };
}
