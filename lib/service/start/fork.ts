import type { Journal } from "../../core/core.ts";
import { keepGrants, keptGrants } from "../../project/trust/grants.ts";

/**
 * Makes a new run of a part of another one: of what came before the step `from`, or behind a turn. It may do what that one may, since it was the
 * user who allowed it, and it is the user who goes on. Gives its id.
 *
 * @throws {RunNotFoundError}, {StepNotFoundError}, {TurnNotFoundError}
 */
export async function forkRun(
  id: string,
  at: { readonly from: string } | { readonly turn: number },
  { journal, root, cwd = root, isEphemeral = false }: {
    readonly journal: Journal;
    readonly root: string;
    readonly cwd?: string;
    /** Nothing is kept of what it may do. Default false. */
    readonly isEphemeral?: boolean;
  },
): Promise<string> {
  const fork = "turn" in at ? journal.branch(id, at) : journal.fork(id, at);
  if (!isEphemeral) await keepGrants(fork, await keptGrants(id, { root }), { root, cwd });
  return fork;
}
