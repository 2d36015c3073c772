// The turn of a step that asks a model (conversations.md 2.7, 2.8): a question, rounds of tool calls, and an answer that may have to be of
// a form. What is said streams to whoever reads the conversation; an answer that comes to nothing takes back what was told of it.

import type { JsonObject } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import type { Model, ModelError, ModelRequest } from "../core/model.ts";
import type { StepBase } from "../parse/agent_file.ts";
import { textAlone } from "./answer_calls.ts";
import type { AnswerReader } from "./answer_calls.ts";
import type { AnswerForm } from "./answer_form.ts";
import type { BudgetReached } from "./budget.ts";
import { BudgetError } from "./budget_error.ts";
import type { StepTools } from "./conversation_tools.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { StepWork } from "./conversation_work.ts";
import { isPassing, waitMs } from "./document_waits.ts";
import { CallMemory } from "./look_at_call.ts";
import { assistantMessage, whyBad } from "./model_answer.ts";
import type { ModelAnswer } from "./model_answer.ts";
import { askedToWait, sleepForProvider } from "./provider_sleep.ts";
import { runToolRound } from "./tool_round.ts";
import type { Question, TurnKind } from "./turn.ts";
import { CONVERSATION_POLICY } from "./turn_policy.ts";

/** One question of a step. */
export interface QuestionTurnOptions<Value> {
  readonly work: StepWork<StepBase>;
  readonly model: Model;
  readonly messages: readonly Message[];
  readonly sampling: Pick<ModelRequest, "temperature" | "args">;
  readonly form: AnswerForm<Value>;
  /** Default: none. */
  readonly tools?: StepTools;
  /** Its text is told while it comes. */
  readonly isSpoken: boolean;
}

/** What a model answered. */
export interface TurnAnswer<Value> {
  readonly text: string;
  readonly value: Value;
}

const NO_TOOLS: StepTools = { specs: [], gadgets: new Map() };

/** The state machine of one step. What goes wrong is thrown as a {@linkcode ConversationStepError}. */
export class QuestionTurn<Value> implements TurnKind<TurnAnswer<Value>> {
  readonly #options: QuestionTurnOptions<Value>;
  readonly #tools: StepTools;
  readonly #calls = new CallMemory();
  readonly #added: Message[] = [];
  /** Questions so far, failed ones too. */
  #asked = 0;
  /** How many of the added messages an earlier question had. */
  #known: number | undefined;
  #rounds = 0;
  #written = 0;
  /** Of the question that is being asked. */
  #failures = 0;
  #misfits = 0;
  /** Text of the answer that is coming was told. */
  #isTold = false;

  constructor(options: QuestionTurnOptions<Value>) {
    this.#options = options;
    this.#tools = options.tools ?? NO_TOOLS;
  }

  question(): Question {
    const { work, model, messages } = this.#options;
    const news = this.#known === undefined ? messages : this.#added.slice(this.#known);
    this.#asked++;
    this.#known = this.#added.length;
    return {
      key: `${this.#place}model`,
      signal: work.signal,
      model,
      news,
      about: this.#about(),
      callsBefore: this.#written,
      keepsFailure: (error) => this.#isAskedAgain(error),
      isMessage: false,
      request: this.#request(),
      reader: () => this.#reader(),
    };
  }

  async answered(answer: ModelAnswer): Promise<TurnAnswer<Value> | undefined> {
    this.#options.work.signal.throwIfAborted();
    this.#failures = 0;
    this.#written += answer.calls.length;
    if (answer.calls.length === 0 || this.#offered.length === 0) return this.#final(answer);
    await this.#round(answer);
    return undefined;
  }

  async failed(failure: ModelError): Promise<undefined> {
    const { run, signal, means } = this.#options.work;
    const error = await askedToWait(failure, { run, signal, key: `${this.#place}asked` });
    if (!this.#isAskedAgain(error)) throw this.#end(error.message, error);
    this.#failures++;
    await sleepForProvider({
      run,
      signal,
      key: `${this.#place}wait`,
      ms: waitMs(error, { attempt: this.#failures, random: means.random ?? Math.random }),
      tell: (ms) =>
        this.#options.work.warn(`${error.message}; trying again in ${Math.round(ms / 100) / 10} s`),
    });
    return undefined;
  }

  stopped(reached: BudgetReached): never {
    throw new BudgetError(reached);
  }

  /** Before the keys of what belongs to the question: most steps ask one. */
  get #place(): string {
    const { key } = this.#options.work;
    const isOnly = this.#asked === 1 && this.#tools.specs.length === 0;
    return isOnly ? `${key}/` : `${key}/turn[${this.#asked}]/`;
  }

  get #offered(): StepTools["specs"] {
    return this.#rounds < CONVERSATION_POLICY.rounds ? this.#tools.specs : [];
  }

  /** Never behind text that was told: it is said once or not at all. */
  #isAskedAgain(error: ModelError): boolean {
    return isPassing(error) && !this.#isTold && this.#failures < CONVERSATION_POLICY.transportRetries;
  }

  #about(): JsonObject {
    const { sampling: { temperature, args }, form } = this.#options;
    return {
      tools: this.#offered.map(({ name }) => name),
      temperature: temperature ?? null,
      ...(args?.reasoningEffort === undefined ? {} : { effort: String(args.reasoningEffort) }),
      ...(form.schema === undefined ? {} : { schema: form.schema }),
    };
  }

  #request(): ModelRequest {
    const { messages, sampling, form: { schema } } = this.#options;
    const tools = this.#offered;
    return {
      messages: [...messages, ...this.#added],
      retries: 0, // each attempt is a step
      ...sampling,
      ...(tools.length > 0 && { tools }),
      ...(schema !== undefined && tools.length === 0 && { schema, json: true }),
    };
  }

  #reader(): AnswerReader {
    const { work, isSpoken } = this.#options;
    if (!isSpoken) return { ...textAlone, text: () => Promise.resolve([]) };
    return {
      ...textAlone,
      text: (text) => {
        this.#isTold = true;
        work.delta(text);
        return Promise.resolve([]); // the step tells it, in its place among the others
      },
    };
  }

  async #round(answer: ModelAnswer): Promise<void> {
    const { work: { run, signal, means } } = this.#options;
    this.#takeBack();
    const calls = await runToolRound(answer.calls, {
      run,
      signal,
      keyPrefix: this.#place,
      tools: this.#tools.gadgets,
      parallel: CONVERSATION_POLICY.parallel,
      memory: this.#calls,
      given: {},
      bounds: means.calls,
    });
    this.#add(
      assistantMessage(answer),
      ...calls.map(({ id, name, text = "" }): Message => ({ role: "tool", id, name, content: text })),
    );
    this.#rounds++;
    if (this.#offered.length === 0) {
      this.#added.push({ role: "user", content: CONVERSATION_POLICY.lastNotice });
    }
  }

  #final(answer: ModelAnswer): TurnAnswer<Value> | undefined {
    const { text } = answer;
    const { form } = this.#options;
    const isEmpty = form.schema === undefined && text.trim() === ""; // of a form, it is one that does not fit
    if (isEmpty) throw this.#end(whyBad("the model gave an empty answer", answer));
    const read = form.read(text);
    if ("value" in read) return { text, value: read.value };
    if (this.#misfits >= CONVERSATION_POLICY.contractRetries) {
      throw this.#end("the model did not answer in the requested form");
    }
    this.#misfits++;
    this.#takeBack();
    this.#add({ role: "assistant", content: text }, {
      role: "user",
      content: `The answer is not valid: ${whyBad(read.why, answer)}. Answer again with the JSON only.`,
    });
    return undefined;
  }

  /** The answer is the question's own: it is no news. */
  #add(answer: Message, ...messages: readonly Message[]): void {
    this.#known = this.#added.length + 1;
    this.#added.push(answer, ...messages);
  }

  #end(reason: string, cause?: unknown): ConversationStepError {
    this.#takeBack();
    const { id } = this.#options.work.step;
    return new ConversationStepError(id, reason, cause === undefined ? undefined : { cause });
  }

  #takeBack(): void {
    if (this.#isTold) this.#options.work.discard();
    this.#isTold = false;
  }
}
