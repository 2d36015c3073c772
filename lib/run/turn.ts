// The one loop of a model and its gadgets (turn.md 2). What is asked, and what comes of an answer, is for the kind of the turn to say: a
// call file's model, a prompt, a document, a conversation.

import { ModelError } from "../core/model.ts";
import { budgetReached } from "./budget.ts";
import type { Budget, BudgetReached } from "./budget.ts";
import type { ModelAnswer } from "./model_answer.ts";
import { askModel } from "./model_step.ts";
import type { ModelStepOptions } from "./model_step.ts";
import type { Run } from "./run.ts";

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
