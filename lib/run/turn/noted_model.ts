import {
  type Json,
  messageOf,
  type Model,
  ModelError,
  modelErrorCode,
  objectOrEmpty,
  toJson,
  wrappedModel,
} from "../../core/core.ts";
import type { Run } from "../run.ts";

/**
 * A model that a run has to find first. A record keeps what decides what it is asked, so that a replay needs no provider and no key.
 *
 * @throws {ModelError} when it cannot be found
 */
export async function notedModel(
  run: Run,
  { key, find }: { readonly key: string; find(): Model | Promise<Model> },
): Promise<Model> {
  const model = await run.lookUp(key, () => found(find), { note: noteOf, from: fromNote });
  if (model instanceof ModelError) throw model;
  return model;
}

async function found(find: () => Model | Promise<Model>): Promise<Model | ModelError> {
  try {
    return await find();
  } catch (error) {
    return problemOf(error);
  }
}

function problemOf(error: unknown): ModelError {
  return error instanceof ModelError
    ? error
    : new ModelError(messageOf(error), { code: "config", cause: error });
}

function noteOf(model: Model | ModelError): Json {
  if (model instanceof ModelError) {
    const { message, code, flag } = model;
    return { problem: toJson({ message, code, flag }) };
  }
  const { id, contextTokens, addons, takesServers } = model;
  return toJson({ id, contextTokens, addons, takesServers });
}

function fromNote(noted: Json): Model | ModelError {
  const { problem, ...known } = objectOrEmpty(noted);
  if (problem === undefined) return silentModel(known as unknown as KnownModel); // as `noteOf` has written it
  const { message, code, flag } = objectOrEmpty(problem);
  return new ModelError(String(message), {
    code: modelErrorCode(code),
    ...(typeof flag === "string" && { flag }),
  });
}

type KnownModel = Omit<Model, "stream" | "answered">;

/** Stands for the model whose answers a record has. */
export function silentModel(known: KnownModel): Model {
  return {
    ...known,
    stream: () => {
      throw new Error("A replay asks no model");
    },
  };
}

/** A model whose every failure is a {@linkcode ModelError}: what a model of the user's own throws is none. */
export function modelWithErrors(model: Model): Model {
  return wrappedModel(model, async function* (request) {
    try {
      yield* model.stream(request);
    } catch (error) {
      if (error instanceof ModelError || request.signal?.aborted === true) throw error;
      throw new ModelError(messageOf(error), { code: "request", cause: error });
    }
  });
}
