import type { Model, ModelPart, ModelRequest } from "../core/model.ts";
import { ModelError, wrappedModel } from "../core/model.ts";
import { messageOf } from "../core/source_error.ts";

/** A model whose every failure is a {@linkcode ModelError}: what a model of the user's own throws is none. */
export function modelWithErrors(model: Model): Model {
  return wrappedModel(model, (request) => ({ [Symbol.asyncIterator]: () => partsOf(model, request) }));
}

function partsOf(model: Model, request: ModelRequest): AsyncIterator<ModelPart> {
  let parts: AsyncIterator<ModelPart> | undefined;
  return {
    async next() {
      try {
        parts ??= model.stream(request)[Symbol.asyncIterator]();
        return await parts.next();
      } catch (error) {
        if (error instanceof ModelError || request.signal?.aborted === true) throw error;
        throw new ModelError(messageOf(error), { code: "request", cause: error });
      }
    },
    async return() {
      await parts?.return?.();
      return { done: true, value: undefined };
    },
  };
}
