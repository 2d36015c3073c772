// The turn of an @llm (documents.md 7, 8): a question, rounds of tool calls one after another, and an answer that may have to fit a schema.
import { type JsonObject, type Message, type Model, ModelError, type ToolSpec } from "../../core/core.ts";
import { textAlone } from "../turn/answer_calls.ts";
import { BudgetError, type BudgetReached } from "../budget.ts";
import { type DocumentTools, runDocumentCalls, type ToolAnswer } from "./calls.ts";
import { assistantMessage, type ModelAnswer, whyBad } from "../turn/model_answer.ts";
import { OperationError } from "./failure.ts";
import { askedToWait, isPassing, sleepForProvider, waitMs } from "../turn/provider_sleep.ts";
import type { Run } from "../run.ts";
import type { Question, TurnKind } from "../turn/turn.ts";

/** One @llm, from its messages to its answer. */
export interface DocumentTurnOptions {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** Before the key of each step: `op[12]/`. */
  readonly keyPrefix: string;
  readonly model: Model;
  readonly messages: readonly Message[];
  /** None: the model is asked for text alone. */
  readonly tools: DocumentTools;
  /** So many answers may call tools. */
  readonly toolTurnsMax: number;
  /** How often a failed question, and an answer that does not fit, is asked for again. */
  readonly retries: number;
  readonly contract?: AnswerContract;
  readonly temperature?: number;
  readonly stop: readonly string[];
  /** The document goes on after a failure. */
  readonly keepsFailure: boolean;
  /** From 0 to 1. */
  readonly random: () => number;
  /** What tools gave, as soon as the calls of an answer have ended; `place` is before the keys of their steps. */
  onTools(answers: readonly ToolAnswer[], place: string): void;
}

/** What an answer has to be. */
export interface AnswerContract {
  readonly schema: JsonObject;
  /** The JSON text of an answer, or why it is none: `it is not JSON`, `/items/0: type`. */
  check(answer: string): { readonly text: string } | { readonly why: string };
}

const NO_MORE_TOOLS = "The tool turns are used up. Give your final answer now, without calling tools.";

/** The state machine of one @llm. Its end is the text of the answer. */
export class DocumentTurn implements TurnKind<string> {
  readonly #options: DocumentTurnOptions;
  readonly #added: Message[] = [];
  /** Questions so far, failed ones too. */
  #asked = 0;
  /** How many of the added messages an earlier question had. */
  #known: number | undefined;
  #toolTurns = 0;
  /** Of the question that is being asked. */
  #failures = 0;
  #misfits = 0;
  #calls = 0;

  constructor(options: DocumentTurnOptions) {
    this.#options = options;
  }

  question(): Question {
    const { keyPrefix, signal, model, messages, retries, temperature, stop, contract } = this.#options;
    const news = this.#known === undefined ? [...messages, ...this.#added] : this.#added.slice(this.#known);
    const tools = this.#offered;
    this.#asked++;
    this.#known = this.#added.length;
    return {
      key: `${keyPrefix}turn[${this.#asked}]/model`,
      signal,
      model,
      news,
      about: {
        tools: tools.map(({ name }) => name),
        stop: [...stop],
        temperature: temperature ?? null,
        ...(contract !== undefined && { schema: contract.schema }),
      },
      callsBefore: this.#calls,
      keepsFailure: (error) => this.#options.keepsFailure || (isPassing(error) && this.#failures < retries),
      request: {
        messages: [...messages, ...this.#added],
        retries: 0, // each attempt is a step
        temperature,
        ...(stop.length > 0 && { stop }),
        ...(tools.length > 0 && { tools }),
        ...(contract !== undefined && tools.length === 0 && { schema: contract.schema }),
      },
      reader: () => textAlone,
    };
  }

  async answered(answer: ModelAnswer): Promise<string | undefined> {
    this.#options.signal.throwIfAborted();
    this.#failures = 0;
    this.#calls += answer.calls.length;
    const isOffered = this.#offered.length > 0;
    if (isOffered && answer.calls.length > 0) {
      await this.#round(answer);
      return undefined;
    }
    return this.#final(cutAt(answer.text, this.#options.stop), answer);
  }

  async failed(failure: ModelError): Promise<undefined> {
    const { run, signal, keyPrefix, retries, random } = this.#options;
    const place = `${keyPrefix}turn[${this.#asked}]`;
    const error = await askedToWait(failure, { run, signal, key: `${place}/asked` });
    const attempts = ++this.#failures;
    if (!isPassing(error) || attempts > retries) throw this.#givenUp(error, attempts);
    await sleepForProvider({
      run,
      signal,
      key: `${place}/wait`,
      ms: waitMs(error, { attempt: attempts, random }),
      error,
    });
    return undefined;
  }

  stopped(reached: BudgetReached): never {
    throw new BudgetError(reached);
  }

  get #offered(): readonly ToolSpec[] {
    const { tools, toolTurnsMax } = this.#options;
    return this.#toolTurns < toolTurnsMax ? tools.specs : [];
  }

  async #round(answer: ModelAnswer): Promise<void> {
    const { run, signal, keyPrefix, tools, toolTurnsMax } = this.#options;
    const place = `${keyPrefix}turn[${this.#asked}]/`;
    const answers = await runDocumentCalls(answer.calls, { run, signal, tools, keyPrefix: place });
    this.#known = this.#added.length + 1; // the answer is the step's own
    this.#added.push(
      assistantMessage(answer),
      ...answers.map(({ id, name, text }): Message => ({ role: "tool", id, name, content: text })),
    );
    this.#toolTurns++;
    if (this.#toolTurns >= toolTurnsMax) this.#added.push({ role: "user", content: NO_MORE_TOOLS });
    this.#options.onTools(answers, place);
  }

  #final(text: string, answer: ModelAnswer): string | undefined {
    const { contract, retries } = this.#options;
    if (text.trim() === "") throw new OperationError(whyBad("the model gave an empty answer", answer));
    if (contract === undefined) return text;
    const checked = contract.check(text);
    if ("text" in checked) return checked.text;
    const why = whyBad(checked.why, answer);
    const attempts = ++this.#misfits;
    if (attempts > retries) {
      throw new OperationError(
        `the answer does not match the schema after ${attempts} ${
          attempts === 1 ? "attempt" : "attempts"
        }: ${why}`,
      );
    }
    this.#known = this.#added.length + 1;
    this.#added.push(
      { role: "assistant", content: text },
      { role: "user", content: `The answer is not valid: ${why}. Answer again with the JSON only.` },
    );
    return undefined;
  }

  #givenUp(error: ModelError, attempts: number): Error {
    if (error.code === "permission" || error.code === "config") return error;
    const { message, code, status, flag } = error;
    const after = attempts === 1 ? "" : ` after ${attempts} attempts`;
    return new ModelError(`model call failed${after}: ${message}`, {
      code,
      cause: error,
      status,
      flag,
    });
  }
}

/** Up to the earliest of the sequences (documents.md 7.5). */
function cutAt(text: string, stop: readonly string[]): string {
  const places = stop.map((sequence) => text.indexOf(sequence)).filter((at) => at !== -1);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
}
