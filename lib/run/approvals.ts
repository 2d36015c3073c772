import { type PermissionRefused, timerTurn, type User } from "../core/core.ts";
import type { Run } from "./run.ts";
import { stepHere } from "./replay/work_place.ts";

/** What was said to a question. */
export interface Said {
  readonly allowed: boolean;
  /** Who said it, as events name them. */
  readonly by: string;
}

/** How the person is asked where there is more to it than a line that is typed. */
export type AskPerson = (
  refused: PermissionRefused,
  options: { readonly question: string; readonly signal?: AbortSignal },
) => Promise<Said>;

/**
 * Asks the person at the terminal about what no flag allows, one thing at a time, and tells the run that is under way of the question
 * and the answer (turn.md 2.6). Without anybody to ask it is denied.
 */
export class Approvals {
  readonly #user: User;
  readonly #askPerson: AskPerson | undefined;
  #run: Run | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param options.ask Default: `yes` or `no` is typed at the terminal */
  constructor(user: User, options: { readonly ask?: AskPerson } = {}) {
    this.#user = user;
    this.#askPerson = options.ask;
  }

  /** Questions are told to this run from now on. */
  follow(run: Run): void {
    this.#run = run;
  }

  ask(refused: PermissionRefused): Promise<boolean> {
    const step = stepHere();
    const asked = this.#last.then(() => this.#ask(refused, step));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #ask(refused: PermissionRefused, step: string | undefined): Promise<boolean> {
    const { kind, value } = refused.request;
    const subject = `${kind} ${value}`;
    const permissions = [refused.flag];
    const canAsk = this.#user.canAnswer;
    if (canAsk) {
      this.#run?.tellOutside({
        type: "permission-ask",
        step,
        subject,
        permissions,
        reason: refused.message,
      });
      await timerTurn(); // whoever is asked has read by then what was said before
    }
    const { allowed, by } = canAsk ? await this.#answer(refused) : { allowed: false, by: "nobody" };
    this.#run?.tellOutside({
      type: "permission-answer",
      step,
      subject,
      permissions,
      allowed,
      reason: by,
    });
    return allowed;
  }

  async #answer(refused: PermissionRefused): Promise<Said> {
    const signal = this.#run?.signal;
    using _hold = this.#run?.limitClock.hold();
    try {
      const question = questionOf(refused);
      if (this.#askPerson !== undefined) return await this.#askPerson(refused, { question, signal });
      const answer = await this.#user.ask(question, { choices: ["yes", "no"], signal });
      return { allowed: /^y(es)?$/i.test(answer.trim()), by: TERMINAL };
    } catch (error) {
      if (signal?.aborted) throw error;
      return { allowed: false, by: TERMINAL }; // whoever closes the terminal has not said yes
    }
  }
}

const TERMINAL = "terminal";

/** What is wanted, with the whole command, and why it is not a matter of course, such as an address that is not public. */
function questionOf({ message, request: { detail } }: PermissionRefused): string {
  const [what = "", why = ""] = message.split(" is not allowed: ");
  const reason = why.includes("; add ") ? ` (${why.slice(0, why.lastIndexOf("; add "))})` : "";
  const command = detail === undefined ? "" : ` (${detail})`;
  return `${what}${command}${reason}: allow it for this run?`;
}
