import type { PermissionRefused } from "../core/world.ts";
import type { User } from "../core/world.ts";
import type { Approve } from "../policy/approving_policy.ts";
import { Approvals } from "../run/approvals.ts";
import type { Asks } from "./asks.ts";

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
