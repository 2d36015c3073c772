import { linkedSignal } from "../core/async.ts";
import type { Clock } from "../core/clock.ts";
import { ModelError, wrappedModel } from "../core/model.ts";
import type { Model, ModelPart, ModelRequest } from "../core/model.ts";

/** A model whose whole answer has to be there within `ms` of the question; else it fails with `timeout`. */
export function modelWithin(
  model: Model,
  options: { readonly ms: number; readonly clock: Clock },
): Model {
  return wrappedModel(model, (request) => partsWithin(model, { ...options, request }));
}

async function* partsWithin(
  model: Model,
  { ms, clock, request }: { readonly ms: number; readonly clock: Clock; readonly request: ModelRequest },
): AsyncGenerator<ModelPart> {
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
}
