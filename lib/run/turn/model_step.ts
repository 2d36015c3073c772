// One answer of a model: one journaled step. Its calls start while it is still coming. What it has said as far as its last whole call is
// kept with the start of that call; when the process or the connection ends there, that is the whole answer.
import {
  eachUntilAborted,
  type Json,
  type Message,
  messageOf,
  type Model,
  ModelError,
  modelErrorCode,
  type ModelPart,
  type ModelRequest,
  orAborted,
  parseJson,
  type Reasoning,
  type Secrets,
  type StepError,
  toJson,
  toldMs,
  type ToolCall,
} from "../../core/core.ts";
import type { AnswerReader } from "./answer_calls.ts";
import { againIn } from "./provider_sleep.ts";
import {
  answerFrom,
  answerFromPieces,
  answerJson,
  AnswerPieces,
  cutCall,
  cutOffBy,
  type ModelAnswer,
} from "./model_answer.ts";
import { enterStep, type OpenStep } from "../effect.ts";
import type { Run } from "../run.ts";

/** One question to a model. */
export interface ModelStepOptions {
  readonly run: Run;
  readonly key: string;
  readonly model: Model;
  readonly request: ModelRequest;
  /** The messages that are new since the step before: what came earlier is that step's input. */
  readonly news: readonly Message[];
  /** Ends the question. Default: the run's. */
  readonly signal?: AbortSignal;
  /** Calls that were answered before, so that the ids of those without one go on counting. Default 0. */
  readonly callsBefore?: number;
  /** A failure is kept like an answer: what came after it depends on it. Default: it is asked again after a resume. */
  readonly keepsFailure?: boolean | ((error: ModelError) => boolean);
  /** The answer is told as a `message` of this step. Default true; what a conversation says is told by its own steps. */
  readonly isMessage?: boolean;
  /** What else decides the answer. */
  readonly about: Json;
  /** Makes what takes text and calls; it tells how much of the text there was when a call is whole. */
  reader(onWhole: (textLength: number) => void): AnswerReader;
}

/**
 * Asks a model, or takes what it answered before. The calls of the answer are with the reader by then.
 *
 * @throws {ModelError} when there is no answer and no whole call of one; {DivergedError}
 */
export async function askModel(options: ModelStepOptions): Promise<ModelAnswer> {
  const { run, key, model, news, about } = options;
  const input = toJson({ messages: news, about });
  const entered = enterStep(run, { key, kind: "model", name: model.id, input, idempotent: true });
  const open = entered.outcome === undefined ? entered : undefined;
  const step = new ModelStep(options, open);
  if (entered.outcome !== undefined) {
    const outcome = await orAborted(entered.outcome, options.signal ?? run.signal);
    if ("ok" in outcome) return await step.giveAgain(answerFrom(outcome.ok, model.id));
    const { message, code, flag } = outcome.error;
    if (code !== "aborted") model.answered?.(options.request, { isFailure: true }); // that, too, was its answer
    throw new ModelError(message, { code: modelErrorCode(code), flag });
  }
  run.emit({ type: "step-start", key, kind: "model", name: model.id, attempt: entered.attempt });
  if (entered.prefix === undefined) return await step.ask();
  return await step.takeAsWhole(answerFromPieces(entered.prefix, model.id));
}

class ModelStep {
  readonly #options: ModelStepOptions;
  /** Undefined: it was answered before. */
  readonly #open: OpenStep | undefined;
  readonly #run: Run;
  readonly #signal: AbortSignal;
  readonly #reader: AnswerReader;
  readonly #masked: MaskedParts | undefined;
  readonly #startedAt: number;
  readonly #calls: ToolCall[] = [];
  readonly #cutCalls: Pick<ToolCall, "id" | "name">[] = [];
  readonly #callIds = new Set<string>();
  readonly #reasoning: Reasoning[] = [];
  readonly #pieces = new AnswerPieces();
  #text = "";
  /** Where the answer begins in it: behind a thought that had looked like text. */
  #answerFrom = 0;
  #finish: Extract<ModelPart, { readonly type: "finish" }> | undefined;
  /** Its outcome is in the journal. */
  #isKept = false;
  /** How much of the text, and how many calls, belong to whole calls. */
  #whole: { readonly text: number; readonly calls: number } | undefined;

  constructor(options: ModelStepOptions, open: OpenStep | undefined) {
    this.#options = options;
    this.#open = open;
    this.#run = options.run;
    this.#signal = options.signal ?? options.run.signal;
    this.#startedAt = options.run.clock.now();
    const { secrets } = options.run;
    this.#masked = secrets && new MaskedParts(secrets);
    this.#reader = options.reader((text) => this.#onWhole(text));
  }

  /** From the journal: nothing is told or kept again. */
  async giveAgain(answer: ModelAnswer): Promise<ModelAnswer> {
    this.#isKept = true;
    this.#options.model.answered?.(this.#options.request, { isFailure: false });
    const { text, calls } = answer;
    if (text !== "") await this.#reader.text(text);
    for (const call of calls) await this.#reader.call(call);
    await this.#reader.end(cutOffBy(answer));
    return answer;
  }

  /** What had come of an answer before the process ended is all there is of it. */
  async takeAsWhole(prefix: ModelAnswer): Promise<ModelAnswer> {
    await this.giveAgain(prefix);
    const answer: ModelAnswer = { ...prefix, isCut: true };
    this.#end(answer);
    return answer;
  }

  async ask(): Promise<ModelAnswer> {
    const { model, request } = this.#options;
    try {
      await eachUntilAborted(
        model.stream({ ...request, signal: this.#signal }),
        (part) => this.#arrived(this.#masked?.push(part) ?? [part]),
        this.#signal,
      );
      this.#signal.throwIfAborted();
      await this.#arrived(this.#masked?.end() ?? []);
      return await this.#whenEnded();
    } catch (error) {
      return this.#brokenOff(error);
    }
  }

  async #arrived(parts: readonly ModelPart[]): Promise<void> {
    for (const part of parts) {
      if (this.#run.isRecording) this.#run.part(this.#options.key, toJson(part));
      await this.#take(part);
    }
  }

  async #take(part: ModelPart): Promise<void> {
    switch (part.type) {
      case "text":
        return await this.#takeText(part.text);
      case "call-start":
        return this.#reader.open(part);
      case "call":
        return await this.#takeCall(part.call);
      case "call-cut":
        return void this.#cutCalls.push(part);
      case "thought":
        if (part.wasText === true) this.#answerFrom = this.#text.length;
        else this.#reasoning.push(part.reasoning);
        return;
      case "retry":
        this.#reader.drop(part.error);
        return this.#run.emit({ type: "warning", text: retryText(part) });
      case "finish":
        this.#finish = part;
        return;
      case "reasoning":
      case "call-delta":
        return;
      default:
        return part satisfies never;
    }
  }

  async #takeText(text: string): Promise<void> {
    if (text === "") return;
    this.#text += text;
    this.#pieces.text(text);
    this.#show(await this.#reader.text(text));
  }

  async #takeCall(given: ToolCall): Promise<void> {
    let { id } = given;
    const { callsBefore = 0 } = this.#options;
    for (let n = callsBefore + this.#calls.length + 1; id === "" || this.#callIds.has(id); n++) {
      id = `call_${n}`;
    }
    const call = id === given.id ? given : { ...given, id };
    this.#calls.push(call);
    this.#callIds.add(id);
    await this.#reader.call(call);
  }

  #show(texts: readonly string[]): void {
    for (const text of texts) this.#run.emit({ type: "text-delta", step: this.#options.key, text });
  }

  #onWhole(text: number): void {
    this.#whole = { text, calls: this.#calls.length };
    if (this.#isKept) return;
    const all = { textLength: text, calls: this.#calls, reasoning: this.#reasoning };
    this.#run.prefix(this.#options.key, () => this.#pieces.cut(all));
  }

  async #whenEnded(): Promise<ModelAnswer> {
    const { model } = this.#options;
    const { reason: finish = "other", rawReason, usage = { input: 0, output: 0 } } = this.#finish ?? {};
    const isNamed = rawReason !== undefined && (finish === "other" || finish === "error");
    const isThought = this.#answerFrom > 0 && this.#whole === undefined; // else calls of it have run
    const answer: ModelAnswer = {
      text: isThought ? this.#text.slice(this.#answerFrom).trimStart() : this.#text,
      calls: this.#calls,
      reasoning: this.#reasoning,
      finish,
      ...(isNamed && { rawFinish: rawReason }),
      usage,
      model: this.#finish?.model ?? model.id,
    };
    for (const { id, name } of this.#cutCalls) {
      await this.#takeCall({ id, name, arguments: "", cut: cutCall(answer) });
    }
    const cutOff = cutOffBy(answer);
    if (cutOff !== undefined) this.#run.emit({ type: "warning", text: `${answer.model}: ${cutOff}` });
    this.#show(await this.#reader.end(cutOff));
    this.#end(answer);
    return answer;
  }

  /** The calls that were whole have run or are running: what they were part of is kept, and the model is not asked the same again. */
  #brokenOff(error: unknown): ModelAnswer {
    if (this.#signal.aborted) {
      const { reason } = this.#signal;
      if (this.#text !== "") this.#failed({ message: messageOf(reason), code: "aborted" });
      throw reason;
    }
    if (!(error instanceof ModelError)) throw error;
    this.#run.part(this.#options.key, problemJson(error));
    this.#reader.drop(error.message);
    if (this.#whole === undefined) {
      const { message, code, flag } = error;
      const failed = { message: this.#run.mask(message), code, ...(flag === undefined ? {} : { flag }) };
      const { keepsFailure = false } = this.#options;
      const isKept = typeof keepsFailure === "function" ? keepsFailure(error) : keepsFailure;
      if (isKept && error.code !== "context") {
        this.#open?.end({ error: failed }, () => this.#failed(failed));
      } else this.#failed(failed);
      throw error;
    }
    this.#run.emit({
      type: "warning",
      text: `${error.message}. What it had called before that is kept, and it is asked to go on.`,
    });
    const answer: ModelAnswer = {
      text: this.#text.slice(0, this.#whole.text),
      calls: this.#calls,
      reasoning: this.#reasoning,
      finish: "error",
      usage: { input: 0, output: 0 },
      model: this.#options.model.id,
      isCut: true,
    };
    this.#end(answer);
    return answer;
  }

  /** What was said is told with it: it is in no outcome. */
  #failed(error: StepError): void {
    this.#run.emit({ type: "step-end", key: this.#options.key, ms: this.#ms(), error, ...this.#partial(0) });
  }

  #partial(from: number): { readonly partial?: string } {
    const partial = this.#text.slice(from);
    return partial === "" ? {} : { partial };
  }

  #end(answer: ModelAnswer): void {
    const { key, isMessage = true } = this.#options;
    const outcome = answerJson(answer);
    const ms = this.#ms();
    this.#open?.end({ ok: outcome }, () => {
      if (isMessage) this.#run.emit({ type: "message", step: key, n: 1, text: answer.text });
      if (answer.isCut !== true) {
        this.#run.emit({ type: "usage", step: key, model: answer.model, ...answer.usage });
      }
      this.#run.emit({ type: "step-end", key, ms, outcome, ...this.#partial(answer.text.length) });
    });
  }

  #ms(): number {
    return toldMs(this.#run.clock.now() - this.#startedAt);
  }
}

/** A failure as a record has it, whether a journal keeps it or not. */
function problemJson({ message, code, status, flag }: ModelError): Json {
  return toJson({ type: "problem", message, code, status, flag });
}

function retryText({ error, delayMs, model }: Extract<ModelPart, { readonly type: "retry" }>): string {
  const next = model === undefined ? againIn(delayMs) : `${model} takes over`;
  return `${error}; ${next}`;
}

// A secret that a model says in pieces is one still: it is taken out before anybody gets the pieces, a record too.

type PieceType = "text" | "reasoning";

/** The parts of one answer, with the secrets taken out of them. */
class MaskedParts {
  readonly #secrets: Secrets;
  readonly #streams: Readonly<Record<PieceType, ReturnType<Secrets["stream"]>>>;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
    this.#streams = { text: secrets.stream(), reasoning: secrets.stream() };
  }

  /** Gives what may be told by now. How a call grows is told no more: the whole call comes. */
  push(part: ModelPart): readonly ModelPart[] {
    switch (part.type) {
      case "text":
      case "reasoning":
        return piece(part.type, this.#streams[part.type].push(part.text));
      case "call-delta":
        return [];
      case "call":
        return [{
          ...part,
          call: { ...this.#secrets.maskJson(part.call), arguments: this.#arguments(part.call) },
        }];
      case "finish":
        return [...this.end(), this.#secrets.maskJson(part)];
      case "thought":
        return [...(part.wasText === true ? this.end() : []), this.#secrets.maskJson(part)];
      default:
        return [this.#secrets.maskJson(part)];
    }
  }

  /** Text within JSON within JSON would be escaped twice: the values are what is looked through. */
  #arguments({ arguments: given }: ToolCall): string {
    try {
      const values = parseJson(given);
      const masked = this.#secrets.maskJson(values);
      return masked === values ? given : JSON.stringify(masked);
    } catch {
      return this.#secrets.mask(given);
    }
  }

  /** Gives what was held back. */
  end(): readonly ModelPart[] {
    const { text, reasoning } = this.#streams;
    return [...piece("reasoning", reasoning.end()), ...piece("text", text.end())];
  }
}

function piece(type: PieceType, text: string): readonly ModelPart[] {
  return text === "" ? [] : [{ type, text }];
}
