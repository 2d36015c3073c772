import { systemClock } from "../core/clock.ts";
import { ModelError, wrappedModel } from "../core/model.ts";
import type { Model } from "../core/model.ts";
import { scriptModel } from "../models/script_model.ts";
import type { AskedModel, ConversationModels } from "../run/conversation_work.ts";
import type { RepliesByStep } from "./conversation_test_replies.ts";
import type { TestFailure } from "./file_test.ts";

/** What the model of a step was sent the last time. */
export type SeenQuestion = Pick<AskedModel, "prompts" | "memory">;

/** The models of a conversation that is tested: each step has its own replies, each given once, in order. */
export class TestModels implements ConversationModels {
  readonly #replies: RepliesByStep;
  readonly #models = new Map<string, Model>();
  readonly #used = new Map<string, number>();
  readonly #seen = new Map<string, SeenQuestion>();
  readonly #missing = new Set<string>();

  constructor(replies: RepliesByStep) {
    this.#replies = replies;
  }

  find(_name: string | undefined, asked: AskedModel): Model {
    const { step, prompts, memory } = asked;
    this.#seen.set(step, { prompts, memory });
    return this.of(step);
  }

  /** The model of a step, and of all that runs in it. */
  of(step: string): Model {
    let model = this.#models.get(step);
    if (model === undefined) this.#models.set(step, model = this.#modelOf(step));
    return model;
  }

  /** Undefined: the step has asked nothing. */
  seen(step: string): SeenQuestion | undefined {
    return this.#seen.get(step);
  }

  /** What was asked and has no reply, in words. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** What nobody has asked for. */
  left(): readonly TestFailure[] {
    return [...this.#replies].flatMap(([step, { replies }]): readonly TestFailure[] => {
      const used = this.#used.get(step) ?? 0;
      const first = replies[used];
      if (first === undefined) return [];
      const count = replies.length - used;
      const left = count === 1 ? "1 reply is" : `${count} replies are`;
      const message = `step ${JSON.stringify(step)} has asked ${times(used)}: ${left} left over`;
      return [{ what: `model ${step}`, span: first.span, message }];
    });
  }

  #modelOf(step: string): Model {
    const replies = (this.#replies.get(step)?.replies ?? []).map(({ reply }) => reply);
    const script = scriptModel(replies, { id: `script/${step}`, clock: systemClock });
    return wrappedModel(script, (request) => {
      this.#use(step, replies.length);
      return script.stream(request);
    });
  }

  #use(step: string, count: number): void {
    const used = this.#used.get(step) ?? 0;
    if (used < count) return void this.#used.set(step, used + 1);
    const text = `step ${JSON.stringify(step)} asks its model, and there is no reply${
      count === 0 ? "" : ` left: ${count === 1 ? "the one reply is" : `all ${count} replies are`} used`
    }`;
    this.#missing.add(text);
    throw new ModelError(text, { code: "request" });
  }
}

function times(count: number): string {
  return count === 0 ? "no model" : count === 1 ? "once" : `${count} times`;
}
