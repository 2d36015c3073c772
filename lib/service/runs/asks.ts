import { type PermissionRefused, shown, type User, whenAborted } from "../../core/core.ts";
import type { Approve } from "../../policy/policy.ts";
import { Approvals } from "../../run/approvals.ts";
import type { Answer, OpenAsk } from "../service.ts";

/** What was said to an ask, and by whom. */
export interface Answered {
  readonly answer: Answer;
  readonly by: string;
}

/** What a run asks persons about, as long as it is open. */
export class Asks {
  #onChange = (): void => {};
  readonly #open = new Map<string, { readonly ask: OpenAsk; take(answered: Answered): void }>();
  /** The latest 100. */
  #decided = new Map<string, string>();
  #count = 0;

  /** Called whenever one is opened or closed. */
  set onChange(changed: () => void) {
    this.#onChange = changed;
  }

  get open(): readonly OpenAsk[] {
    return [...this.#open.values()].map(({ ask }) => ask);
  }

  /** What became of those that are open no more, in words, by their names. */
  get decided(): ReadonlyMap<string, string> {
    return this.#decided;
  }

  /**
   * An earlier process, or turn, of this run has asked too: no name of theirs is given again, since an answer that comes late would mean
   * another question. None asks a thousand times in a millisecond, so what it asked need not be known.
   *
   * @param startedAt of the run, in ms since 1970
   * @param decided what is known here of what was said to them
   */
  goOn(startedAt: number, decided: ReadonlyMap<string, string> = new Map()): void {
    this.#count = Math.max(1, Date.now() - startedAt) * 1_000;
    this.#decided = new Map(decided);
  }

  /** Stays open until somebody answers, or the signal ends it. @throws the reason of the signal */
  async ask(
    asked: Omit<OpenAsk, "ask">,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Answered> {
    signal?.throwIfAborted();
    const ask = `a${++this.#count}`;
    const { promise, resolve } = Promise.withResolvers<Answered>();
    this.#open.set(ask, { ask: { ask, ...asked }, take: resolve });
    this.#onChange();
    try {
      const answered = await (signal === undefined ? promise : Promise.race([promise, whenAborted(signal)]));
      if (answered === undefined) throw signal?.reason;
      return answered;
    } finally {
      this.#close(ask, "the run did not wait for an answer any more");
    }
  }

  /** False when it is not open, or what was said is no answer to it. */
  answer(ask: string, answered: Answered): boolean {
    const found = this.#open.get(ask);
    if (found === undefined || !fits(found.ask, answered.answer)) return false;
    this.#close(ask, `${inWords(answered.answer)} by ${answered.by}`);
    found.take(answered);
    return true;
  }

  #close(ask: string, decided: string): void {
    if (this.#open.delete(ask) !== true) return;
    this.#decided.set(ask, decided);
    const [oldest] = this.#decided.size > MOST_DECIDED ? this.#decided.keys() : [];
    if (oldest !== undefined) this.#decided.delete(oldest);
    this.#onChange();
  }
}

const MOST_DECIDED = 100;

function inWords(answer: Answer): string {
  return "text" in answer
    ? `it was answered ${shown(answer.text)}`
    : answer.allow
    ? "it was allowed"
    : "it was denied";
}

/** A permission is given or not; of choices one has to be taken. */
function fits({ kind, choices }: OpenAsk, answer: Answer): boolean {
  if (kind === "permission") return "allow" in answer;
  return "text" in answer && (choices === undefined || choices.includes(answer.text));
}

/** Whoever follows a run, as its engine asks them. */
export interface AskingUser {
  readonly user: User;
  readonly approvals: Approvals;
  /** For the policy: what nobody is asked about is refused. */
  readonly approve: Approve;
}

/** Asks whoever follows a run; a question stays open until somebody answers, or the run ends. */
export function askingUser(asks: Asks): AskingUser {
  const user: User = {
    canAnswer: true,
    async ask(question, { choices, signal } = {}) {
      const { answer } = await asks.ask(
        { kind: "question", question, choices },
        { signal },
      );
      return "text" in answer ? answer.text : answer.allow ? "yes" : "no";
    },
  };
  const approvals = new Approvals(user, {
    async ask({ request: { kind, value }, flag }, { question, signal }) {
      const { answer, by } = await asks.ask(
        { kind: "permission", subject: `${kind} ${value}`, permissions: [flag], question },
        { signal },
      );
      return { allowed: "allow" in answer && answer.allow, by };
    },
  });
  return {
    user,
    approvals,
    approve: async (refused) => isAskedAbout(refused) && await approvals.ask(refused),
  };
}

/** Commands run only where a grant says so: an answer from a page is none. */
function isAskedAbout({ request: { kind } }: PermissionRefused): boolean {
  return kind !== "run";
}
