import { slotText } from "../../conversation/fill_template.ts";
import {
  type Clock,
  linkedSignal,
  type Message,
  messageOf,
  type Model,
  ModelError,
  type ModelPart,
  orAborted,
  PermissionRefused,
  withCause,
  wrappedModel,
} from "../../core/core.ts";
import type { AgentPrompt, MemorySelection, ModelFields, StepBase } from "../../parse/agent/agent.ts";
import type { StepTools } from "./gadget.ts";
import { type AskedModel, ConversationStepError, type StepWork } from "./work.ts";
import { EnvText, EnvValues } from "./request.ts";
import { textAlone } from "../turn/answer_calls.ts";
import type { AnswerForm } from "../turn/answer_contract.ts";
import { whyBad } from "../turn/model_answer.ts";
import { modelWithErrors, notedModel } from "../turn/noted_model.ts";
import { runToolRound } from "../turn/tool_round.ts";
import { askForAnswer, CONVERSATION_POLICY } from "../turn/turn.ts";

/** What a step asks besides what its fields say. */
export interface StepQuestion<Value> {
  readonly kind: AskedModel["kind"];
  /** Before the prompts. Default: nothing. */
  readonly before?: readonly Message[];
  /** Behind the memory. Default: nothing. */
  readonly behind?: readonly Message[];
  /** Where the step selects nothing. */
  readonly memory: readonly MemorySelection[];
  /** Where the step has none. Default: the provider's. */
  readonly temperature?: number;
  readonly form: AnswerForm<Value>;
  readonly tools?: StepTools;
  /** Default false. */
  readonly isSpoken?: boolean;
}

/** Asks the model of a step. @throws {ConversationStepError}; {BudgetError}; {DivergedError}; the reason of the signal */
export async function askOfStep<Value>(
  work: StepWork<StepBase & ModelFields>,
  question: StepQuestion<Value>,
): Promise<TurnAnswer<Value>> {
  const { run, means, step, key, signal } = work;
  const { kind, before = [], behind = [], form, tools, isSpoken = false } = question;
  const prompts = promptMessages(work, step.prompts);
  const selections = step.memory ?? question.memory;
  const memory = selections.length === 0 ? [] : work.memory(selections, step.memoryLimit);
  const messages = [...before, ...prompts, ...memory, ...behind];
  if (messages.length === 0) {
    throw new ConversationStepError(
      step.id,
      "there is nothing to send to the model: no prompts, and no memory yet",
    );
  }
  const model = await modelOfStep(work, { step: step.id, kind, prompts, memory, schema: form.schema });
  const { effort, temperature = question.temperature } = step;
  const { schema } = form;
  const { specs, gadgets } = tools ?? NO_TOOLS;
  const memoryOfCalls = new Set<string>();
  let isTold = false; // text of the answer that is coming
  const takeBack = (): void => {
    if (isTold) work.discard();
    isTold = false;
  };
  const problem = (reason: string, cause?: unknown): ConversationStepError => {
    takeBack();
    return new ConversationStepError(step.id, reason, withCause({ cause }));
  };
  return await askForAnswer<TurnAnswer<Value>>({
    run,
    signal,
    budget: means.budget,
    keyPrefix: `${key}/`,
    policy: CONVERSATION_POLICY,
    model,
    messages,
    tools: specs,
    about: {
      temperature: temperature ?? null,
      ...(effort && { effort }),
      ...(schema === undefined ? {} : { schema }),
    },
    request: { temperature, effort },
    form: { schema, json: schema && true },
    isMessage: false,
    reader: {
      ...textAlone,
      text(text) {
        isTold ||= isSpoken;
        if (isSpoken) work.delta(text);
        return Promise.resolve([]); // the step tells it, in its place among the others
      },
    },
    random: Math.random,
    placeOf: (n) => n === 1 && specs.length === 0 ? `${key}/` : `${key}/turn[${n}]/`, // most steps ask one question
    isTold: () => isTold, // it is said once or not at all
    takeBack,
    warn: (text) => work.warn(text),
    async call(calls, place) {
      const answered = await runToolRound(calls, {
        run,
        signal,
        keyPrefix: place,
        tools: gadgets,
        parallel: CONVERSATION_POLICY.parallel,
        memory: memoryOfCalls,
        given: {},
        bounds: means.calls,
      });
      return answered.map(({ id, name, text = "" }): Message => ({ role: "tool", id, name, content: text }));
    },
    read(text, answer) {
      const isEmpty = schema === undefined && text.trim() === ""; // of a form, it is one that does not fit
      if (isEmpty) throw problem(whyBad("the model gave an empty answer", answer));
      const read = form.read(text);
      return "value" in read ? { value: { text, value: read.value } } : read;
    },
    misfit: () => problem("the model did not answer in the requested form"),
    givenUp: (error) => problem(error.message, error),
  });
}

/** What a model answered. */
interface TurnAnswer<Value> {
  readonly text: string;
  readonly value: Value;
}

const NO_TOOLS: StepTools = { specs: [], gadgets: new Map() };

type Work = StepWork<StepBase & Pick<ModelFields, "model">>;

/** Of a whole answer, in ms (conversations.md 2.7). */
const TIMEOUT_MS = 60_000;

/** The model of a step, or the configured default. @throws {ConversationStepError} when there is none */
async function modelOfStep(work: Work, asked: AskedModel): Promise<Model> {
  const { run, means, step, key, signal } = work;
  try {
    const noted = notedModel(run, { key: `${key}/finds-model`, find: () => find(work, asked) });
    const model = await orAborted(noted, signal);
    return modelWithin(modelWithErrors(model), { ms: means.timeoutMs ?? TIMEOUT_MS, clock: run.clock });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new ConversationStepError(step.id, error.message, { cause: error });
  }
}

/** @throws {ModelError} `config` */
async function find({ step, means }: Work, asked: AskedModel): Promise<Model> {
  if (step.model === undefined) {
    return known(
      await means.models.find(undefined, asked),
      `no model set; add "model" or configure a default`,
    );
  }
  const written = new EnvText(step.model, (text) => text);
  const values = await EnvValues.read(written.names, (name) => means.env(name)).catch(refused);
  const hide = (told: string): string => values.hiddenIn(told).message;
  const name = written.with(values);
  try {
    const model = known(await means.models.find(name, asked), `there is no model "${name}"`);
    return written.names.length === 0 ? model : hiddenModel(model, { id: written.shown, hide });
  } catch (error) {
    throw written.names.length === 0 ? error : hiddenError(error, hide);
  }
}

/** A refusal stays one, with the flag that would allow it. @throws */
function refused(error: unknown): never {
  if (!(error instanceof PermissionRefused)) throw error;
  throw new ModelError(error.message, { code: "permission", flag: error.flag, cause: error });
}

function known(model: Model | undefined, problem: string): Model {
  if (model === undefined) throw new ModelError(problem, { code: "config" });
  return model;
}

/** A model whose whole answer has to be there within `ms` of the question; else it fails with `timeout`. */
function modelWithin(model: Model, { ms, clock }: { readonly ms: number; readonly clock: Clock }): Model {
  return wrappedModel(model, async function* (request): AsyncGenerator<ModelPart> {
    const ended = new AbortController();
    using linked = linkedSignal([request.signal, ended.signal]);
    const late = clock.sleep(ms, linked.signal).then((): never => {
      throw new ModelError(`${model.id} did not answer within ${ms / 1000} s`, { code: "timeout" });
    });
    late.catch(() => undefined); // it fails at the end of each answer, when nobody looks
    const parts = model.stream({ ...request, signal: linked.signal })[Symbol.asyncIterator]();
    try {
      while (true) {
        const pulled = parts.next();
        pulled.catch(() => undefined);
        const next = await Promise.race([pulled, late]);
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      ended.abort();
      parts.return?.()?.catch(() => undefined); // not waited for: it may hang
    }
  });
}

/** A model that is told of by another id, in its errors too. @param options.hide takes the rest out that is not to be told */
function hiddenModel(
  model: Model,
  { id, hide: hidden }: { readonly id: string; hide(text: string): string },
): Model {
  const hide = (text: string): string => hidden(text.replaceAll(model.id, () => id));
  const own = wrappedModel(model, async function* (request): AsyncGenerator<ModelPart> {
    try {
      for await (const part of model.stream(request)) yield hiddenPart(part, hide);
    } catch (error) {
      request.signal?.throwIfAborted();
      throw error instanceof ModelError
        ? hiddenError(error, hide)
        : new ModelError(hide(messageOf(error)), { code: "request" });
    }
  });
  return { ...own, id };
}

/** An error without what is hidden; its code stays. */
function hiddenError(error: unknown, hide: (text: string) => string): ModelError {
  const message = hide(messageOf(error));
  if (!(error instanceof ModelError)) return new ModelError(message, { code: "config" });
  return new ModelError(message, { ...error });
}

function hiddenPart(part: ModelPart, hide: (text: string) => string): ModelPart {
  if (part.type === "finish") return { ...part, model: hide(part.model) };
  if (part.type !== "retry") return part;
  return { ...part, error: hide(part.error), model: part.model && hide(part.model) };
}

/** The prompts of a step as messages, filled (conversations.md 2.7). A constant that is not there gives none, with a warning. */
function promptMessages(
  work: StepWork<StepBase>,
  prompts: readonly AgentPrompt[],
): readonly Message[] {
  return prompts.flatMap((prompt): readonly Message[] => {
    if (prompt.role !== "constant") return [{ role: prompt.role, content: work.fill(prompt.text) }];
    const content = constantText(work, prompt.name);
    if (content !== undefined) return [{ role: "system", content }];
    work.warn(`there is no constant "${prompt.name}"; its prompt is left out`);
    return [];
  });
}

/** A constant as text, filled; undefined when there is none of that name. */
export function constantText(work: StepWork<StepBase>, name: string): string | undefined {
  const { constants } = work;
  return Object.hasOwn(constants, name) ? work.fill(slotText(constants[name])) : undefined;
}
