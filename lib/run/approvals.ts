import type { PermissionRefused, User } from "../core/world.ts";
import type { Run } from "./run.ts";

/**
 * Asks the person at the terminal about what no flag allows, one thing at a time, and tells the run that is under way of the question
 * and the answer (turn.md 2.6). Without anybody to ask it is denied.
 */
export class Approvals {
  readonly #user: User;
  #run: Run | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(user: User) {
    this.#user = user;
  }

  /** Questions are told to this run from now on. */
  follow(run: Run): void {
    this.#run = run;
  }

  ask(refused: PermissionRefused): Promise<boolean> {
    const asked = this.#last.then(() => this.#ask(refused));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #ask(refused: PermissionRefused): Promise<boolean> {
    const { kind, value } = refused.request;
    const subject = `${kind} ${value}`;
    const permissions = [refused.flag];
    const canAsk = this.#user.canAnswer;
    if (canAsk) {
      this.#run?.tellOutside({ type: "permission-ask", subject, permissions, reason: refused.message });
    }
    const allowed = canAsk && await this.#answer(refused);
    this.#run?.tellOutside({
      type: "permission-answer",
      subject,
      permissions,
      allowed,
      reason: canAsk ? "terminal" : "nobody",
    });
    return allowed;
  }

  async #answer(refused: PermissionRefused): Promise<boolean> {
    const signal = this.#run?.signal;
    using _hold = this.#run?.limitClock.hold();
    try {
      const answer = await this.#user.ask(questionOf(refused), {
        choices: ["yes", "no"],
        ...(signal === undefined ? {} : { signal }),
      });
      return /^y(es)?$/i.test(answer.trim());
    } catch (error) {
      if (signal?.aborted) throw error;
      return false; // whoever closes the terminal has not said yes
    }
  }
}

/** What is wanted, with the whole command, and why it is not a matter of course, such as an address that is not public. */
function questionOf({ message, request: { detail } }: PermissionRefused): string {
  const [what = "", why = ""] = message.split(" is not allowed: ");
  const reason = why.includes("; add ") ? ` (${why.slice(0, why.lastIndexOf("; add "))})` : "";
  const command = detail === undefined ? "" : ` (${detail})`;
  return `${what}${command}${reason}: allow it for this run?`;
}
