// The one loop of a model and its gadgets (turn.md 2). What is asked, and what comes of an answer, is for the kind of the turn to say: a
// call file's model, a prompt, a document, a conversation.
import { ModelError } from "../../core/core.ts";
import { type Budget, type BudgetReached, budgetReached } from "../budget.ts";
import type { ModelAnswer } from "./model_answer.ts";
import { askModel, type ModelStepOptions } from "./model_step.ts";
import type { Run } from "../run.ts";

/** One kind of turn, from its first question to its end. */
export interface TurnKind<End> {
  /** What the model is asked next. */
  question(): Question | Promise<Question>;
  /** The answer is there, and its calls are with the question's reader. Undefined: the model is asked again. */
  answered(answer: ModelAnswer): Promise<End | undefined>;
  /** There was no answer. Undefined: the model is asked again. */
  failed(error: ModelError): End | undefined | Promise<End | undefined>;
  /** A budget is reached before a question. */
  stopped(reached: BudgetReached): End;
}

/** One question to the model. */
export interface Question extends Omit<ModelStepOptions, "run"> {
  /** There was no answer: what its calls have begun has its outcome before the turn goes on. */
  abandon?(): Promise<void>;
}

/** What every kind of turn takes. */
export interface TurnBounds {
  readonly run: Run;
  readonly budget: Budget;
  /** Ends the turn. Default: the run's. */
  readonly signal?: AbortSignal;
  /** Where it is, when several turns may be under way at once. Default: nothing. */
  readonly place?: string;
}

/** Runs a turn to its end. @throws the reason of the signal, when it is aborted; {DivergedError}; and what the kind throws. */
export async function runTurn<End>(kind: TurnKind<End>, bounds: TurnBounds): Promise<End> {
  const { run, budget, signal = run.signal, place } = bounds;
  while (true) {
    signal.throwIfAborted();
    const reached = await budgetReached(budget, run, { place });
    if (reached !== undefined) return kind.stopped(reached);
    const end = await round(kind, { run, signal });
    if (end !== undefined) return end;
  }
}

/** One answer, with the calls in it. */
async function round<End>(
  kind: TurnKind<End>,
  { run, signal }: { readonly run: Run; readonly signal: AbortSignal },
): Promise<End | undefined> {
  let question: Question | undefined;
  let answer: ModelAnswer;
  try {
    question = await kind.question();
    answer = await askModel({ ...question, run });
  } catch (error) {
    await question?.abandon?.();
    if (!(error instanceof ModelError) || signal.aborted) throw error;
    return await kind.failed(error);
  }
  return await kind.answered(answer);
}

/** What a kind of file makes of the one turn (turn.md 2). Kinds differ here and nowhere in the loop. */
export interface TurnPolicy {
  /** How a model is told of its tools and calls them: in its text, or by the provider's own calls. */
  readonly toolsMode: "blocks" | "native";
  /** `mid-stream`: a call starts while the model still answers. */
  readonly startCalls: "mid-stream" | "after-reply";
  /** How many calls run at once. */
  readonly parallel: number;
  /** How many answers may call tools; the one after them gets `lastNotice` and no tools. */
  readonly rounds: number;
  readonly lastNotice: string;
  /** How often an answer that breaks the output contract goes back to the model. */
  readonly contractRetries: number;
  /** How often a call of the model is tried again when it fails for a while. */
  readonly transportRetries: number;
}

/** `orrery ask`, `orrery chat`, and calls that a model writes. */
export const ASK_POLICY: TurnPolicy = {
  toolsMode: "blocks",
  startCalls: "mid-stream",
  parallel: 16,
  rounds: 10,
  lastNotice: "No more gadgets can be called. Give your final answer now, from what you know.",
  contractRetries: 3,
  transportRetries: 3,
};

/** The steps of a conversation that ask a model (conversations.md 2.7). */
export const CONVERSATION_POLICY: TurnPolicy = {
  toolsMode: "native",
  startCalls: "after-reply",
  parallel: 8,
  rounds: 5,
  lastNotice: "No more tools can be called. Give your final answer now, from what you know.",
  contractRetries: 1,
  transportRetries: 1,
};
