// A program's own function as the model of its conversations.
import {
  type Effort,
  isRecord,
  isStream,
  type Message,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
} from "../../core/core.ts";
import { portModel } from "./port_model.ts";
import type { AskedModel, ConversationModels } from "../../run/conversation/work.ts";
import { shown } from "../../schema/issue.ts";

/** What a conversation asks a program's own model. */
export interface ConversationModelRequest extends AskedModel {
  /** All that a model reads: what is built in, the prompts, and the memory. */
  readonly messages: readonly Message[];
  /** How hard it is to think. */
  readonly effort?: Effort;
  /** Aborted when the conversation is, and when the answer takes too long. */
  readonly signal: AbortSignal;
}

/**
 * A program's own model: text, whole or piece by piece, or an object where a form is asked for. What it throws decides what happens: a
 * `ModelError`, or an error with the `status` of an HTTP answer, or one of a connection that broke (these may be tried again).
 */
export type ConversationModelFunction = (
  request: ConversationModelRequest,
) => AsyncIterable<string> | Promise<string | object>;

/** A function as the model of every step, whatever its name. */
export function modelOfFunction(answer: ConversationModelFunction): ConversationModels {
  return {
    find(name, asked) {
      const id = name ?? "program/model";
      return { id, stream: (request) => partsOf(answer, { id, asked, request }) };
    },
  };
}

interface Question {
  readonly id: string;
  readonly asked: AskedModel;
  readonly request: ModelRequest;
}

async function* partsOf(answer: ConversationModelFunction, question: Question): AsyncGenerator<ModelPart> {
  const { id, request } = question;
  try {
    for await (const text of textsOf(answer, question)) yield { type: "text", text };
  } catch (error) {
    request.signal?.throwIfAborted();
    throw await problemOf(error, id);
  }
  yield { type: "finish", reason: "stop", usage: { input: 0, output: 0 }, model: id };
}

async function* textsOf(
  answer: ConversationModelFunction,
  { id, asked, request: { messages, effort, signal = new AbortController().signal } }: Question,
): AsyncGenerator<string> {
  const given: unknown = answer({ ...asked, messages, ...(effort && { effort }), signal });
  const said = isStream(given) ? given : await given;
  if (!isStream(said)) return yield wholeText(said, id);
  for await (const piece of said) {
    if (typeof piece !== "string") throw noAnswer(id, piece);
    yield piece;
  }
}

/** @throws {ModelError} `answer` */
function wholeText(said: unknown, id: string): string {
  if (typeof said === "string") return said;
  const text = isRecord(said) || Array.isArray(said) ? JSON.stringify(said) : undefined;
  if (text === undefined) throw noAnswer(id, said);
  return text;
}

function noAnswer(id: string, found: unknown): ModelError {
  const what = typeof found === "function" ? "a function" : shown(found);
  return new ModelError(`The model "${id}" gave no answer: expected text or an object, found ${what}`, {
    code: "answer",
  });
}

/** What a port throws means the same. */
async function problemOf(error: unknown, name: string): Promise<unknown> {
  const failing: Model = portModel({ call: () => Promise.reject(error) }, { name });
  try {
    for await (const _part of failing.stream({ messages: [] }));
  } catch (problem) {
    return problem;
  }
  return error;
}
