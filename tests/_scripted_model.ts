import { type Model, ModelError, type ModelPart, type ModelRequest, systemClock } from "../mod.ts";

/** What a scripted model does when asked: parts in order; a number waits that many ms; an error is thrown. */
export type Script = readonly (string | number | ModelPart | ModelError)[];

/** A model that answers from a list, in order, and keeps what it was asked. */
export function scriptedModel(
  scripts: readonly Script[],
  options: { readonly contextTokens?: number } = {},
): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: "test/scripted",
    ...options,
    requests,
    async *stream(request: ModelRequest): AsyncIterable<ModelPart> {
      const { signal: _, ...kept } = request;
      requests.push(structuredClone(kept));
      const script = scripts[requests.length - 1];
      if (script === undefined) throw new ModelError("the script has run out", { code: "request" });
      let called = false;
      for (const step of script) {
        if (typeof step === "number") await systemClock.sleep(step, request.signal);
        else if (step instanceof ModelError) throw step;
        else if (typeof step === "string") yield { type: "text", text: step };
        else {
          if (step.type === "call") called = true;
          yield step;
          if (step.type === "finish") return;
        }
      }
      yield {
        type: "finish",
        reason: called ? "calls" : "stop",
        usage: { input: 10, output: 5 },
        model: "test/scripted",
      };
    },
  };
}
