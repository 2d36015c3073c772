import { type Model, ModelError, type ModelPart, type ModelRequest, wrappedModel } from "../core/model.ts";
import { Attempts } from "./attempts.ts";

/** The model that takes over, found when it is needed. */
export interface Fallback {
  /** `provider/model` */
  readonly id: string;
  find(): Model | Promise<Model>;
}

/** A model for which others take over, in order, when it fails before anything of its answer was shown. */
export function fallingBack(model: Model, fallbacks: readonly Fallback[]): Model {
  if (fallbacks.length === 0) return model;
  return wrappedModel(model, (request) => ({
    [Symbol.asyncIterator]: () => attempts(model, { fallbacks, request }),
  }));
}

function attempts(
  model: Model,
  { fallbacks, request }: { readonly fallbacks: readonly Fallback[]; readonly request: ModelRequest },
): AsyncIterator<ModelPart> {
  let attempt = 0;
  const after = (error: unknown) => {
    const next = fallbacks[attempt++];
    if (next === undefined || !(error instanceof ModelError) || isFinal(error)) throw error;
    return {
      part: { type: "retry" as const, attempt, delayMs: 0, error: error.message, model: next.id },
      open: async () => (await next.find()).stream(request)[Symbol.asyncIterator](),
    };
  };
  return new Attempts(model.stream(request)[Symbol.asyncIterator](), { after });
}

/** What another model would not do better: the user's own word. */
function isFinal({ code }: ModelError): boolean {
  return code === "aborted" || code === "permission";
}
