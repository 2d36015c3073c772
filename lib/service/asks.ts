import { whenAborted } from "../core/async.ts";
import type { Answer, OpenAsk } from "./service.ts";

/** What was said to an ask, and by whom. */
export interface Answered {
  readonly answer: Answer;
  readonly by: string;
}

/** What a run asks persons about, as long as it is open. */
export class Asks {
  #onChange = (): void => {};
  /** Made for the first one: most runs ask nothing. */
  #open: Map<string, { readonly ask: OpenAsk; take(answered: Answered): void }> | undefined;
  #answered: string[] = [];
  #count = 0;

  /** Called whenever one is opened or closed. */
  set onChange(changed: () => void) {
    this.#onChange = changed;
  }

  get open(): readonly OpenAsk[] {
    return this.#open === undefined ? NONE : [...this.#open.values()].map(({ ask }) => ask);
  }

  /** The numbers of those that are open no more, the latest 100. */
  get answered(): readonly string[] {
    return this.#answered;
  }

  /** Stays open until somebody answers, or the signal ends it. @throws the reason of the signal */
  async ask(
    asked: Omit<OpenAsk, "ask">,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Answered> {
    signal?.throwIfAborted();
    const ask = `a${++this.#count}`;
    const { promise, resolve } = Promise.withResolvers<Answered>();
    (this.#open ??= new Map()).set(ask, { ask: { ask, ...asked }, take: resolve });
    this.#onChange();
    try {
      const answered = await (signal === undefined ? promise : Promise.race([promise, whenAborted(signal)]));
      if (answered === undefined) throw signal?.reason;
      return answered;
    } finally {
      this.#close(ask);
    }
  }

  /** False when it is not open, or what was said is no answer to it. */
  answer(ask: string, answered: Answered): boolean {
    const found = this.#open?.get(ask);
    if (found === undefined || !fits(found.ask, answered.answer)) return false;
    this.#close(ask);
    found.take(answered);
    return true;
  }

  #close(ask: string): void {
    if (this.#open?.delete(ask) !== true) return;
    this.#answered = [...this.#answered.slice(-99), ask];
    this.#onChange();
  }
}

const NONE: readonly OpenAsk[] = [];

/** A permission is given or not; of choices one has to be taken. */
function fits({ kind, choices }: OpenAsk, answer: Answer): boolean {
  if (kind === "permission") return "allow" in answer;
  return "text" in answer && (choices === undefined || choices.includes(answer.text));
}
