import { ModelError, wrappedModel } from "../core/model.ts";
import type { Model, ModelPart, ModelRequest } from "../core/model.ts";
import { messageOf } from "../core/source_error.ts";

/** How a model is called, and what takes the rest out that is not to be told. */
export interface Hiding {
  readonly id: string;
  hide(text: string): string;
}

/** A model that is told of by another id, in its errors too. */
export function hiddenModel(model: Model, hiding: Hiding): Model {
  const hide = (text: string): string => hiding.hide(text.replaceAll(model.id, () => hiding.id));
  const own = wrappedModel(model, (request) => partsOf(model, { request, hide }));
  return { ...own, id: hiding.id };
}

/** An error without what is hidden; its code stays. */
export function hiddenError(error: unknown, hide: (text: string) => string): ModelError {
  const message = hide(messageOf(error));
  if (!(error instanceof ModelError)) return new ModelError(message, { code: "config" });
  const { code, status, retryAfterMs, flag } = error;
  return new ModelError(message, {
    code,
    status,
    retryAfterMs,
    flag,
  });
}

async function* partsOf(
  model: Model,
  { request, hide }: { readonly request: ModelRequest; readonly hide: (text: string) => string },
): AsyncGenerator<ModelPart> {
  try {
    for await (const part of model.stream(request)) yield hiddenPart(part, hide);
  } catch (error) {
    request.signal?.throwIfAborted();
    throw error instanceof ModelError
      ? hiddenError(error, hide)
      : new ModelError(hide(messageOf(error)), { code: "request" });
  }
}

function hiddenPart(part: ModelPart, hide: (text: string) => string): ModelPart {
  if (part.type === "finish") return { ...part, model: hide(part.model) };
  if (part.type !== "retry") return part;
  return {
    ...part,
    error: hide(part.error),
    ...(part.model === undefined ? {} : { model: hide(part.model) }),
  };
}
