// Models of conversations that answer from lists: the replies of each step, in order.
import { type Message, type Model, ModelError, type ModelPart, type ModelRequest } from "../mod.ts";
import { textOf } from "../lib/core/message.ts";
import type { AskedModel, ConversationModels } from "../lib/run/conversation/work.ts";

/** Text, the object of a form, what goes wrong, or parts as they come. */
export type ScriptedReply = string | Readonly<Record<string, unknown>> | Error | readonly ModelPart[];

/** One question that was asked. */
export interface SeenQuestion {
  readonly step: string;
  readonly kind: AskedModel["kind"];
  /** `model` of the step. */
  readonly model: string | undefined;
  /** `user: hi` */
  readonly prompts: readonly string[];
  readonly memory: readonly string[];
  readonly request: ModelRequest;
}

/** Models, and what they have seen. */
export interface ScriptedModels extends ConversationModels {
  readonly seen: {
    /** Oldest first. */
    readonly questions: readonly SeenQuestion[];
    /** What the step was asked last: the prompts, filled, as `role: text`. Undefined: it was not asked. */
    prompts(step: string): readonly string[] | undefined;
    /** The memory, in the same way. */
    memory(step: string): readonly string[] | undefined;
  };
}

/** A model for each step, which gives the replies of the step in order, over all visits. */
export function scriptedModels(
  replies: Readonly<Record<string, readonly ScriptedReply[]>>,
): ScriptedModels {
  const questions: SeenQuestion[] = [];
  const used = new Map<string, number>();
  const next = (step: string): ScriptedReply => {
    const n = used.get(step) ?? 0;
    used.set(step, n + 1);
    return replies[step]?.[n] ??
      new ModelError(`the script has no reply ${n + 1} for step "${step}"`, { code: "request" });
  };
  const last = (step: string): SeenQuestion | undefined => questions.findLast((one) => one.step === step);
  return {
    seen: {
      questions,
      prompts: (step) => last(step)?.prompts,
      memory: (step) => last(step)?.memory,
    },
    find: (name, asked): Model => ({
      id: name ?? "script/steps",
      answered: () => void next(asked.step),
      async *stream(request): AsyncGenerator<ModelPart> {
        const { signal: _signal, ...kept } = request;
        questions.push({
          step: asked.step,
          kind: asked.kind,
          model: name,
          prompts: asked.prompts.map(lineOf),
          memory: asked.memory.map(lineOf),
          request: structuredClone(kept),
        });
        yield* partsOf(next(asked.step));
      },
    }),
  };
}

function lineOf(message: Message): string {
  return `${message.role}: ${textOf(message)}`;
}

function* partsOf(reply: ScriptedReply): Generator<ModelPart> {
  if (reply instanceof Error) throw reply;
  if (isParts(reply)) yield* reply;
  else yield { type: "text", text: typeof reply === "string" ? reply : JSON.stringify(reply) };
  const reason = isParts(reply) && reply.some(({ type }) => type === "call") ? "calls" : "stop";
  yield { type: "finish", reason, usage: { input: 1, output: 1 }, model: "script/steps" };
}

function isParts(reply: ScriptedReply): reply is readonly ModelPart[] {
  return Array.isArray(reply);
}
