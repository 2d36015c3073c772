// The one loop of a model and its gadgets (turn.md 2). What is asked, and what comes of an answer, is for the kind of the turn to say: a
// call file's model, a prompt, a document, a conversation.
import {
  type JsonObject,
  type Message,
  type Model,
  ModelError,
  type ModelRequest,
  type ToolCall,
  type ToolSpec,
} from "../../core/core.ts";
import { type Budget, BudgetError, type BudgetReached, budgetReached } from "../budget.ts";
import { type AnswerReader, textAlone } from "./answer_calls.ts";
import { assistantMessage, type ModelAnswer, whyBad } from "./model_answer.ts";
import { askModel, type ModelStepOptions } from "./model_step.ts";
import { askedToWait, isPassing, sleepForProvider, waitMs } from "./provider_sleep.ts";
import type { Run } from "../run.ts";

/** One kind of turn, from its first question to its end. */
export interface TurnKind<End> {
  /** What the model is asked next. */
  question(): Question | Promise<Question>;
  /** The answer is there, and its calls are with the question's reader. Undefined: the model is asked again. */
  answered(answer: ModelAnswer): Promise<End | undefined>;
  /** There was no answer. Undefined: the model is asked again. */
  failed(error: ModelError): End | undefined | Promise<End | undefined>;
  /** A budget is reached before a question. Default: it is thrown, as a {@linkcode BudgetError}. */
  stopped?(reached: BudgetReached): End;
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
  /** Of the keys of its steps: no other turn of the run has it. */
  readonly keyPrefix: string;
}

/** Runs a turn to its end. @throws the reason of the signal, when it is aborted; {DivergedError}; and what the kind throws. */
export async function runTurn<End>(kind: TurnKind<End>, bounds: TurnBounds): Promise<End> {
  const { run, budget, signal = run.signal, keyPrefix } = bounds;
  for (let n = 1;; n++) {
    signal.throwIfAborted();
    const reached = await budgetReached(budget, run, { key: `${keyPrefix}budget[${n}]` });
    if (reached !== undefined && kind.stopped === undefined) throw new BudgetError(reached);
    if (reached !== undefined && kind.stopped !== undefined) return kind.stopped(reached);
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

/** The `@llm` of a document (documents.md 8); its rounds and retries may be set by it. */
export const DOCUMENT_POLICY: TurnPolicy = {
  toolsMode: "native",
  startCalls: "after-reply",
  parallel: 1,
  rounds: 8,
  lastNotice: "The tool turns are used up. Give your final answer now, without calling tools.",
  contractRetries: 2,
  transportRetries: 2,
};

/** A turn for one answer: a question, rounds of the provider's own calls behind each reply, and an answer that may have to be of a form. */
export interface AnswerTurn<Value> extends TurnBounds {
  readonly policy: TurnPolicy;
  readonly model: Model;
  readonly messages: readonly Message[];
  /** What the model may call. */
  readonly tools: readonly ToolSpec[];
  /** What decides the answer besides the messages and the tools. */
  readonly about: JsonObject;
  readonly request: Pick<ModelRequest, "temperature" | "effort" | "stop">;
  /** Of a question without tools. */
  readonly form: Pick<ModelRequest, "schema" | "json">;
  /** Something comes after a turn that failed. Default: only what is asked again is kept. */
  readonly keepsFailure?: boolean;
  /** As that of a model step. */
  readonly isMessage?: boolean;
  /** Default: one that shows the text. */
  readonly reader?: AnswerReader;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Before the keys of what belongs to the `n`th question. */
  placeOf(n: number): string;
  /** Something of the answer that is coming was told already: it is not asked for again. */
  isTold?(): boolean;
  /** What was told of an answer is void. */
  takeBack?(): void;
  /** Says that a provider is waited for. Default: the run. */
  warn?(text: string): void;
  /** Answers the calls. */
  call(calls: readonly ToolCall[], place: string): Promise<readonly Message[]>;
  /** What an answer means, or why it is none. @throws what ends the turn */
  read(text: string, answer: ModelAnswer): { readonly value: Value } | { readonly why: string };
  /** What a turn ends with whose answer did not fit so often. */
  misfit(why: string, attempts: number): Error;
  /** The same for a question that was not answered. */
  givenUp(error: ModelError, attempts: number): Error;
}

/** Asks until there is an answer that fits. @throws as {@linkcode runTurn}, and what `misfit` and `givenUp` make */
export async function askForAnswer<Value>(turn: AnswerTurn<Value>): Promise<Value> {
  const { run, signal = run.signal, policy, model, messages, tools, about, form, reader = textAlone } = turn;
  const added: Message[] = [];
  /** How many of the added messages an earlier question had. */
  let known: number | undefined;
  let place = "";
  let [asked, rounds, misfits, failures, calls] = [0, 0, 0, 0, 0];
  const offered = (): readonly ToolSpec[] => rounds < policy.rounds ? tools : [];
  const isAskedAgain = (error: ModelError): boolean =>
    isPassing(error) && failures < policy.transportRetries && turn.isTold?.() !== true;
  /** The answer is the question's own: it is no news. */
  const add = (answer: Message, ...others: readonly Message[]): void => {
    known = added.length + 1;
    added.push(answer, ...others);
  };
  const end = await runTurn<{ readonly value: Value }>({
    question() {
      place = turn.placeOf(++asked);
      const news = known === undefined ? messages : added.slice(known);
      known = added.length;
      const specs = offered();
      return {
        key: `${place}model`,
        signal,
        model,
        news,
        about: { ...about, tools: specs.map(({ name }) => name) },
        callsBefore: calls,
        keepsFailure: (error) => turn.keepsFailure === true || isAskedAgain(error),
        isMessage: turn.isMessage,
        request: {
          messages: [...messages, ...added],
          retries: 0, // each attempt is a step
          ...turn.request,
          ...(specs.length > 0 ? { tools: specs } : form),
        },
        reader: () => reader,
      };
    },
    async answered(answer) {
      signal.throwIfAborted();
      failures = 0;
      calls += answer.calls.length;
      if (answer.calls.length > 0 && offered().length > 0) {
        turn.takeBack?.();
        add(assistantMessage(answer), ...await turn.call(answer.calls, place));
        if (++rounds >= policy.rounds) added.push({ role: "user", content: policy.lastNotice });
        return undefined;
      }
      const text = cutAt(answer.text, turn.request.stop);
      const read = turn.read(text, answer);
      if ("value" in read) return read;
      turn.takeBack?.();
      const why = whyBad(read.why, answer);
      if (misfits++ >= policy.contractRetries) throw turn.misfit(why, misfits);
      add({ role: "assistant", content: text }, {
        role: "user",
        content: `The answer is not valid: ${why}. Answer again with the JSON only.`,
      });
      return undefined;
    },
    async failed(failure) {
      const error = await askedToWait(failure, { run, signal, key: `${place}asked` });
      const isOver = !isAskedAgain(error);
      failures++;
      if (isOver) {
        turn.takeBack?.();
        throw turn.givenUp(error, failures);
      }
      const ms = waitMs(error, { attempt: failures, random: turn.random });
      await sleepForProvider({ run, signal, key: `${place}wait`, ms, error, warn: turn.warn });
      return undefined;
    },
  }, turn);
  return end.value;
}

/** Up to the earliest of the sequences (documents.md 7.5). */
function cutAt(text: string, stop: readonly string[] = []): string {
  const places = stop.map((sequence) => text.indexOf(sequence)).filter((at) => at !== -1);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
}
