import { linkedSignal } from "../core/abort_signals.ts";
import type { User } from "../core/world.ts";
import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import type { RunView } from "./run_view.ts";

/** Who may be asked, and what for. */
export interface UserBehindOptions {
  readonly terminal: Terminal;
  readonly isQuiet: boolean;
  readonly usesStdin: boolean;
  /** Whoever types already, so that no two wait for the same line. */
  readonly typist?: TerminalUser | undefined;
  /** Ends a question too. */
  readonly turn?: () => AbortSignal;
}

/** Who can be asked while a run is on: nobody while stdin is something else's, or where nobody wants to be asked. */
export async function userBehind(view: RunView, options: UserBehindOptions): Promise<User> {
  const { terminal, isQuiet, usesStdin, turn } = options;
  if (isQuiet || usesStdin || !terminal.stdinIsTerminal || !terminal.stderr.isTerminal) return nobody;
  const user = options.typist ?? await typistAt(terminal);
  return {
    canAnswer: user.canAnswer,
    async ask(question, asked = {}) {
      using linked = linkedSignal([asked.signal, turn?.()]);
      await view.pause();
      try {
        return await user.ask(question, { ...asked, signal: linked.signal });
      } catch (error) {
        // What comes next would be written over the question; a conversation begins a new line by itself.
        if (turn === undefined) await terminal.stderr.write("\n");
        throw error;
      } finally {
        view.resume();
      }
    },
  };
}

/** Whoever types at a terminal; what is asked there is shown as text that it obeys in nothing. */
export async function typistAt(terminal: Terminal): Promise<TerminalUser> {
  const { printable }: typeof import("../render/printable.ts") = await import(
    "../render/printable.ts" as string
  );
  return await terminal.user({ show: (question) => terminal.stderr.write(printable(question)) });
}

/** Nobody at all. */
export const nobody: User = {
  canAnswer: false,
  ask: () => Promise.reject(new Error("Nobody can be asked: this run has no terminal to ask at")),
};
