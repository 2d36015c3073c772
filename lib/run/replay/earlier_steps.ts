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
export interface EarlierSteps {
  /** The journal of a new run: it answers what was done before. What a run did not come to stays for the next one, unless it was done. */
  journal(inner: RunJournal): RunJournal;
  /** Whether all that an operation of this run did, and there was something, had been done before. */
  isReused(operation: string): boolean;
}

/** None yet. */
export function earlierSteps(): EarlierSteps {
  /** To be taken, each once, in the order in which they were done. */
  let earlier = new Map<string, StepOutcome[]>();
  /** Of the run that is under way. */
  let done: DoneStep[] = [];
  let isWhole = true;
  let identities = new Map<string, string>();
  /** What was said so far in the turns of an operation, as a hash: the input of a model step has only what is new. */
  let talks = new Map<string, string>();
  let operations: string[] = [];
  let countsOf = new Map<string, { reused: number; performed: number }>();

  function journal(inner: RunJournal): RunJournal {
    beginRun();
    return aroundJournal(inner, {
      begin: (step, options) => begin(inner, step, options),
      end: (key, outcome) => {
        inner.end(key, outcome);
        finished(key, outcome);
      },
      tell: (event) => {
        inner.tell(event);
        told(event);
      },
      release: (status, usage) => {
        isWhole = status === "done";
        inner.release(status, usage);
      },
    });
  }

  function isReused(operation: string): boolean {
    const { reused = 0, performed = 0 } = countsOf.get(operation) ?? {};
    return reused > 0 && performed === 0;
  }

  function beginRun(): void {
    const left = isWhole ? [] : [...earlier];
    earlier = new Map();
    for (const { identity, outcome } of done) keep(identity, [outcome]);
    for (const [identity, outcomes] of left) keep(identity, outcomes);
    done = [];
    isWhole = false;
    identities = new Map();
    talks = new Map();
    operations = [];
    countsOf = new Map();
  }

  function keep(identity: string, outcomes: readonly StepOutcome[]): void {
    earlier.set(identity, [...earlier.get(identity) ?? [], ...outcomes]);
  }

  function begin(inner: RunJournal, step: StepStart, options: BeginOptions | undefined): StepTurn {
    const turn = inner.begin(step, options);
    if (!REUSED_KINDS.has(step.kind)) return turn;
    const identity = identityOf(step);
    identities.set(step.key, identity);
    if (turn.do === "answer") finished(step.key, turn.outcome);
    if (turn.do !== "perform" || turn.prefix !== undefined) return turn;
    const outcome = earlier.get(identity)?.shift();
    count(step.key, outcome === undefined ? "performed" : "reused");
    if (outcome === undefined) return turn;
    inner.finish(step.key, outcome);
    finished(step.key, outcome);
    return { do: "answer", outcome, ms: 0, attempt: turn.attempt };
  }

  /** What failed is tried again. */
  function finished(key: string, outcome: StepOutcome): void {
    const identity = identities.get(key);
    if (identity === undefined || "error" in outcome) return;
    done.push({ identity, outcome, operation: operations.at(-1) });
    const talk = turnOf(key);
    if (talk !== undefined) hear(talk.place, outcome.ok);
  }

  function identityOf({ key, kind, name, input }: StepStart): string {
    const talk = kind === "model" ? turnOf(key) : undefined;
    if (talk === undefined || !isJsonObject(input)) return sha256(canonicalJson([kind, name, input]));
    const { messages = [], ...rest } = input;
    if (talk.n === 1) talks.delete(talk.place);
    if (!Array.isArray(messages) || messages.length > 0) hear(talk.place, messages);
    return sha256(canonicalJson([kind, name, rest, talks.get(talk.place) ?? ""]));
  }

  function hear(place: string, said: Json): void {
    talks.set(place, sha256(canonicalJson([talks.get(place) ?? "", said])));
  }

  /** For every place that the step is inside of. */
  function count(key: string, how: "reused" | "performed"): void {
    for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
      const place = key.slice(0, at);
      const counts = countsOf.get(place) ?? { reused: 0, performed: 0 };
      counts[how]++;
      countsOf.set(place, counts);
    }
  }

  /** Of an operation that failed nothing is reused: its command, or its question, is what is to be tried again. */
  function told(event: RunEvent): void {
    if (event.type === "step-start" && event.kind === "step") operations.push(event.key);
    if (event.type !== "step-end" || event.key !== operations.at(-1)) return;
    operations.pop();
    if (event.error === undefined) return;
    done = done.filter(({ operation }) => operation !== event.key);
  }

  return { journal, isReused };
}

/** The place of a turn and its number: `op[12]/turn[2]/model`. */
function turnOf(key: string): { readonly place: string; readonly n: number } | undefined {
  const [, place, n] = /^(.*)turn\[(\d+)\]\/model$/.exec(key) ?? [];
  return place === undefined ? undefined : { place, n: Number(n) };
}
