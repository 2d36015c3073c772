import { requestKey } from "./conversation_test_answers.ts";
import type { RequestAnswers, ServerAnswer } from "./conversation_test_answers.ts";
import type { TestFailure } from "./file_test.ts";
import { textFailure } from "./text_wanted.ts";

/** The network of a conversation that is tested. */
export class TestServer {
  readonly #answers: ReadonlyMap<string, RequestAnswers>;
  readonly #used = new Map<string, number>();
  readonly #missing = new Set<string>();
  readonly #failures: TestFailure[] = [];

  constructor(requests: readonly RequestAnswers[]) {
    this.#answers = new Map(requests.map((each) => [each.request, each]));
  }

  /** What was asked and has no answer, in words. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** What was not sent as expected. */
  get failures(): readonly TestFailure[] {
    return this.#failures;
  }

  /** What nobody has asked for. */
  left(): readonly TestFailure[] {
    return [...this.#answers.values()].flatMap((each): readonly TestFailure[] => {
      const { request, span, answers, isList, isShared } = each;
      const used = this.#used.get(request) ?? 0;
      const count = isList ? answers.length - used : used === 0 ? 1 : 0;
      if (isShared || count === 0) return [];
      const message = used === 0
        ? `${request} was not asked for`
        : `${request} was asked for ${used === 1 ? "once" : `${used} times`}, ` +
          `${count === 1 ? "1 answer is" : `${count} answers are`} left over`;
      return [{ what: request, span, message }];
    });
  }

  /** Answers as the test says; a request without an answer fails. */
  readonly fetch = (url: string, init: RequestInit = {}): Promise<Response> => {
    const request = requestKey(init.method ?? "GET", url);
    const answer = this.#next(request);
    if (answer === undefined) return Promise.reject(new TypeError(`the test has no answer for ${request}`));
    if (answer.error !== undefined) return Promise.reject(new TypeError(answer.error));
    const { sent, status, headers, body } = answer;
    if (sent !== undefined) this.#compare(request, { sent, body: init.body });
    return Promise.resolve(new Response(body === "" ? null : body, { status, headers }));
  };

  #next(request: string): ServerAnswer | undefined {
    const known = this.#answers.get(request);
    const used = this.#used.get(request) ?? 0;
    const answer = known?.answers[known.isList ? used : 0];
    if (answer !== undefined) this.#used.set(request, used + 1);
    else {
      this.#missing.add(
        used === 0
          ? `${request} was asked for, and the test has no answer for it`
          : `${request} was asked for, and there is no answer left: all ${used} are used`,
      );
    }
    return answer;
  }

  #compare(
    request: string,
    { sent, body }: {
      readonly sent: NonNullable<ServerAnswer["sent"]>;
      readonly body: RequestInit["body"] | undefined;
    },
  ): void {
    const found = typeof body === "string" ? body : "";
    const failure = textFailure(found, { what: `body of ${request}`, wanted: sent });
    if (failure !== undefined) this.#failures.push(failure);
  }
}
