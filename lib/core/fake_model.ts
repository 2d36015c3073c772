import { type Model, ModelError, type ModelPart, type ModelRequest } from "./model.ts";

/** A reply of a fake model: a text, the parts of an answer (a `finish` is added when there is none), or what goes wrong. */
export type FakeReply = string | readonly ModelPart[] | Error;

/** A model that keeps what it was asked. */
export interface FakeModel extends Model {
  /** Oldest first. */
  readonly requests: readonly ModelRequest[];
}

/**
 * A model for tests: gives these replies in order, or what a function makes of each request.
 *
 * ```ts
 * import { fakeModel } from "orrery";
 *
 * const model = fakeModel(["Hello"]);
 * for await (const part of model.stream({ messages: [{ role: "user", content: "Hi" }] })) {
 *   if (part.type === "text") console.log(part.text); // => Hello
 * }
 * console.log(model.requests.length); // => 1
 * ```
 */
export function fakeModel(
  replies: readonly FakeReply[] | ((request: ModelRequest) => FakeReply | AsyncIterable<ModelPart>),
  options: Pick<Partial<Model>, "id" | "contextTokens" | "media"> = {},
): FakeModel {
  const { id = "fake/model", contextTokens, media } = options;
  const requests: ModelRequest[] = [];
  const replyTo = (request: ModelRequest) => {
    if (typeof replies === "function") return replies(request);
    return replies[requests.length - 1] ??
      new ModelError(`${id} has no reply: all ${replies.length} are used`, { code: "request" });
  };
  return {
    id,
    requests,
    contextTokens,
    media,
    async *stream(request) {
      requests.push(request);
      const reply = replyTo(request);
      if (reply instanceof Error) throw reply;
      let isFinished = false;
      let hasCalls = false;
      for await (const part of typeof reply === "string" ? [{ type: "text" as const, text: reply }] : reply) {
        request.signal?.throwIfAborted();
        isFinished ||= part.type === "finish";
        hasCalls ||= part.type === "call";
        yield part;
      }
      if (isFinished) return;
      yield {
        type: "finish",
        reason: hasCalls ? "calls" : "stop",
        usage: { input: 0, output: 0 },
        model: id,
      };
    },
  };
}
