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
  refuseUntaken,
  type Secrets,
  type StepError,
  toJson,
  toldMs,
  type ToolCall,
  withoutMedia,
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
  const input = toJson({ messages: withoutMedia(news), about });
  const entered = enterStep(run, { key, kind: "model", name: model.id, input, idempotent: true });
  const open = entered.outcome === undefined ? entered : undefined;
  const step = modelStep(options, open);
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

/** What comes of one question. @param open undefined: it was answered before */
function modelStep(options: ModelStepOptions, open: OpenStep | undefined) {
  const {
    run,
    key,
    model,
    request,
    signal = run.signal,
    callsBefore = 0,
    keepsFailure = false,
    isMessage = true,
  } = options;
  const calls: ToolCall[] = [];
  const cutCalls: Pick<ToolCall, "id" | "name">[] = [];
  const callIds = new Set<string>();
  const reasoning: Reasoning[] = [];
  const pieces = new AnswerPieces();
  let said = "";
  /** Where the answer begins in it: behind a thought that had looked like text. */
  let answerStart = 0;
  let finished: Extract<ModelPart, { readonly type: "finish" }> | undefined;
  /** Its outcome is in the journal. */
  let isKept = false;
  /** How much of the text, and how many calls, belong to whole calls. */
  let whole: { readonly text: number; readonly calls: number } | undefined;
  const startedAt = run.clock.now();
  const masked = run.secrets && maskedParts(run.secrets);
  const reader = options.reader(onWhole);

  /** From the journal: nothing is told or kept again. */
  async function giveAgain(answer: ModelAnswer): Promise<ModelAnswer> {
    isKept = true;
    model.answered?.(request, { isFailure: false });
    const { text, calls } = answer;
    if (text !== "") await reader.text(text);
    for (const call of calls) await reader.call(call);
    await reader.end(cutOffBy(answer));
    return answer;
  }

  /** What had come of an answer before the process ended is all there is of it. */
  async function takeAsWhole(prefix: ModelAnswer): Promise<ModelAnswer> {
    await giveAgain(prefix);
    const answer: ModelAnswer = { ...prefix, isCut: true };
    keep(answer);
    return answer;
  }

  async function ask(): Promise<ModelAnswer> {
    try {
      refuseUntaken(model, request.messages);
      await run.onceKept(() => undefined);
      await eachUntilAborted(
        model.stream({ ...request, effort: run.effort ?? request.effort, signal }),
        (part) => arrived(masked?.push(part) ?? [part]),
        signal,
      );
      signal.throwIfAborted();
      await arrived(masked?.end() ?? []);
      return await whenEnded();
    } catch (error) {
      return brokenOff(error);
    }
  }

  async function arrived(parts: readonly ModelPart[]): Promise<void> {
    for (const part of parts) {
      if (run.isRecording) run.part(key, toJson(part));
      await take(part);
    }
  }

  async function take(part: ModelPart): Promise<void> {
    switch (part.type) {
      case "text":
        return await takeText(part.text);
      case "call-start":
        return reader.open(part);
      case "call":
        return await takeCall(part.call);
      case "call-cut":
        return void cutCalls.push(part);
      case "thought":
        if (part.wasText === true) answerStart = said.length;
        else reasoning.push(part.reasoning);
        return;
      case "retry":
        reader.drop(part.error);
        return run.emit({ type: "warning", text: retryText(part) });
      case "warning":
        return run.emit({ type: "warning", text: part.text });
      case "finish":
        finished = part;
        return;
      case "reasoning":
        if (part.text !== "") run.emit({ type: "reasoning-delta", step: key, text: part.text });
        return;
      case "call-delta":
        return;
      default:
        return part satisfies never;
    }
  }

  async function takeText(text: string): Promise<void> {
    if (text === "") return;
    said += text;
    pieces.text(text);
    show(await reader.text(text));
  }

  async function takeCall(given: ToolCall): Promise<void> {
    let { id } = given;
    for (let n = callsBefore + calls.length + 1; id === "" || callIds.has(id); n++) {
      id = `call_${n}`;
    }
    const call = id === given.id ? given : { ...given, id };
    calls.push(call);
    callIds.add(id);
    await reader.call(call);
  }

  function show(texts: readonly string[]): void {
    for (const text of texts) run.emit({ type: "text-delta", step: key, text });
  }

  function onWhole(text: number): void {
    whole = { text, calls: calls.length };
    if (isKept) return;
    const all = { textLength: text, calls, reasoning };
    run.prefix(key, () => pieces.cut(all));
  }

  async function whenEnded(): Promise<ModelAnswer> {
    const { reason: finish = "other", rawReason, usage = { input: 0, output: 0 } } = finished ?? {};
    const isNamed = rawReason !== undefined && (finish === "other" || finish === "error");
    const isThought = answerStart > 0 && whole === undefined; // else calls of it have run
    const answer: ModelAnswer = {
      text: isThought ? said.slice(answerStart).trimStart() : said,
      calls,
      reasoning,
      finish,
      ...(isNamed && { rawFinish: rawReason }),
      usage,
      model: finished?.model ?? model.id,
    };
    for (const { id, name } of cutCalls) {
      await takeCall({ id, name, arguments: "", cut: cutCall(answer) });
    }
    const cutOff = cutOffBy(answer);
    if (cutOff !== undefined) run.emit({ type: "warning", text: `${answer.model}: ${cutOff}` });
    show(await reader.end(cutOff));
    keep(answer);
    return answer;
  }

  /** The calls that were whole have run or are running: what they were part of is kept, and the model is not asked the same again. */
  function brokenOff(error: unknown): ModelAnswer {
    if (signal.aborted) {
      const { reason } = signal;
      if (said !== "") tellFailure({ message: messageOf(reason), code: "aborted" });
      throw reason;
    }
    if (!(error instanceof ModelError)) throw error;
    run.part(key, problemJson(error));
    reader.drop(error.message);
    if (whole === undefined) {
      const { message, code, flag } = error;
      const failed = { message: run.mask(message), code, ...(flag === undefined ? {} : { flag }) };
      const isKept = typeof keepsFailure === "function" ? keepsFailure(error) : keepsFailure;
      if (isKept && error.code !== "context") {
        open?.end({ error: failed }, () => tellFailure(failed));
      } else tellFailure(failed);
      throw error;
    }
    run.emit({
      type: "warning",
      text: `${error.message}. What it had called before that is kept, and it is asked to go on.`,
    });
    const answer: ModelAnswer = {
      text: said.slice(0, whole.text),
      calls,
      reasoning,
      finish: "error",
      usage: { input: 0, output: 0 },
      model: model.id,
      isCut: true,
    };
    keep(answer);
    return answer;
  }

  /** What was said is told with it: it is in no outcome. */
  function tellFailure(error: StepError): void {
    run.emit({ type: "step-end", key, ms: elapsedMs(), error, ...partial(0) });
  }

  function partial(from: number): { readonly partial?: string } {
    const partial = said.slice(from);
    return partial === "" ? {} : { partial };
  }

  function keep(answer: ModelAnswer): void {
    const outcome = answerJson(answer);
    const ms = elapsedMs();
    open?.end({ ok: outcome }, () => {
      if (isMessage) run.emit({ type: "message", step: key, n: 1, text: answer.text });
      if (answer.isCut !== true) {
        run.emit({ type: "usage", step: key, model: answer.model, ...answer.usage });
      }
      run.emit({ type: "step-end", key, ms, outcome, ...partial(answer.text.length) });
    });
  }

  function elapsedMs(): number {
    return toldMs(run.clock.now() - startedAt);
  }

  return { giveAgain, takeAsWhole, ask };
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
function maskedParts(secrets: Secrets) {
  const streams: Readonly<Record<PieceType, ReturnType<Secrets["stream"]>>> = {
    text: secrets.stream(),
    reasoning: secrets.stream(),
  };

  /** Gives what may be told by now. How a call grows is told no more: the whole call comes. */
  function push(part: ModelPart): readonly ModelPart[] {
    switch (part.type) {
      case "text":
      case "reasoning":
        return piece(part.type, streams[part.type].push(part.text));
      case "call-delta":
        return [];
      case "call":
        return [{
          ...part,
          call: { ...secrets.maskJson(part.call), arguments: maskedArguments(part.call) },
        }];
      case "finish":
        return [...end(), secrets.maskJson(part)];
      case "thought":
        return [...(part.wasText === true ? end() : []), secrets.maskJson(part)];
      default:
        return [secrets.maskJson(part)];
    }
  }

  /** Text within JSON within JSON would be escaped twice: the values are what is looked through. */
  function maskedArguments({ arguments: given }: ToolCall): string {
    try {
      const values = parseJson(given);
      const masked = secrets.maskJson(values);
      return masked === values ? given : JSON.stringify(masked);
    } catch {
      return secrets.mask(given);
    }
  }

  /** Gives what was held back. */
  function end(): readonly ModelPart[] {
    const { text, reasoning } = streams;
    return [...piece("reasoning", reasoning.end()), ...piece("text", text.end())];
  }

  return { push, end };
}

function piece(type: PieceType, text: string): readonly ModelPart[] {
  return text === "" ? [] : [{ type, text }];
}
