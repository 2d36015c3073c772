// What models and servers say in the test of a conversation.
import { type Json, type Model, ModelError, systemClock, wrappedModel } from "../../../core/core.ts";
import { scriptModel } from "../../../models/script/script.ts";
import type { AskedModel, ConversationModels } from "../../../run/conversation/work.ts";
import { type RepliesByStep, type RequestAnswers, requestKey } from "./file.ts";
import type { TestFailure, TestField } from "../field.ts";

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
    return [...this.#replies].flatMap(([step, replies]): readonly TestFailure[] => {
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
    const replies = (this.#replies.get(step) ?? []).map(({ reply }) => reply);
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

/** The network of a conversation that is tested. */
export class TestServer {
  readonly failures: TestFailure[] = [];
  readonly #answers: ReadonlyMap<string, RequestAnswers>;
  readonly #used = new Map<string, number>();
  readonly #missing = new Set<string>();

  constructor(answers: ReadonlyMap<string, RequestAnswers>) {
    this.#answers = answers;
  }

  /** What was asked and has no answer, in words. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** What nobody has asked for. */
  left(): readonly TestFailure[] {
    return [...this.#answers].flatMap(([request, { field, isShared }]): readonly TestFailure[] => {
      const used = this.#used.get(request) ?? 0;
      const count = Array.isArray(field.value) ? field.value.length - used : used === 0 ? 1 : 0;
      if (isShared || count === 0) return [];
      const message = used === 0
        ? `${request} was not asked for`
        : `${request} was asked for ${times(used)}, ${
          count === 1 ? "1 answer is" : `${count} answers are`
        } left over`;
      return [{ what: request, span: field.keySpan, message }];
    });
  }

  /** Answers as the test says; a request without an answer fails. */
  readonly fetch = (url: string, init: RequestInit = {}): Promise<Response> => {
    const request = requestKey(init.method ?? "GET", url);
    const answer = this.#next(request);
    if (answer === undefined) return Promise.reject(new TypeError(`the test has no answer for ${request}`));
    const error = answer.at("error").text();
    if (error !== undefined) return Promise.reject(new TypeError(error));
    const sent = typeof init.body === "string" ? init.body : "";
    this.failures.push(...answer.at("sent").failures(sent, `body of ${request}`));
    return Promise.resolve(responseOf(answer));
  };

  #next(request: string): TestField | undefined {
    const known = this.#answers.get(request)?.field;
    const used = this.#used.get(request) ?? 0;
    const answer = Array.isArray(known?.value) ? known.items()[used] : known;
    if (answer !== undefined) this.#used.set(request, used + 1);
    else {
      const why = used === 0
        ? "the test has no answer for it"
        : `there is no answer left: all ${used} are used`;
      this.#missing.add(`${request} was asked for, and ${why}`);
    }
    return answer;
  }
}

function responseOf(answer: TestField): Response {
  const { value: body = "" } = answer.at("body");
  const events = answer.at("events");
  const [type, text] = events.isThere
    ? ["text/event-stream", events.items().map(({ value }) => eventOf(value)).join("")]
    : typeof body === "string"
    ? ["text/plain", body]
    : ["application/json", JSON.stringify(body)];
  return new Response(text === "" ? null : text, {
    status: answer.at("status").number() ?? 200,
    headers: { "content-type": answer.at("type").text() ?? type, ...answer.at("headers").texts() },
  });
}

/** A server-sent event: its data, as text or as JSON. */
function eventOf(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.split("\n").map((line) => `data: ${line}\n`).join("") + "\n";
}
