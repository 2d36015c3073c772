import { printable } from "../../render/shown_text.ts";
import { type Catalog, linkedSignal, type User, whenAborted } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { TerminalUser } from "../../host/terminal/user.ts";
import type { OpenCatalogOptions } from "../../project/project.ts";
import type { FoundSecret } from "../../service/keep.ts";
import { asking, type RunSurroundings } from "../../service/start/ready_run.ts";
import type { RunView } from "./view.ts";
import { workingFolder } from "../../host/paths.ts";
import { exitProcess } from "../../host/process.ts";
import { EXIT, InterruptedError } from "../../service/exit_code.ts";

/** Who is around a run. */
export interface AroundRunOptions {
  readonly terminal: Terminal;
  readonly stop: Interruptible;
  readonly isQuiet: boolean;
  /** Stdin is read by the run itself. */
  readonly usesStdin: boolean;
  /** Told what servers are given; default: it is gathered in `found`. */
  readonly secrets?: OpenCatalogOptions["secrets"];
  /** Whoever types already, so that no two wait for the same line. */
  readonly typist?: TerminalUser;
  /** Ends a question too: the answer that is being written was stopped. */
  readonly turn?: () => AbortSignal;
}

/** What a run is opened with, and what has to be put away when it is over. */
export interface AroundRun extends RunSurroundings, AsyncDisposable {}

/** Puts together what is around a run. Disposing of it ends the view and the servers, however the run ended. */
export async function aroundRun(view: RunView, options: AroundRunOptions): Promise<AroundRun> {
  const { terminal, stop: { signal } } = options;
  const notice = (text: string) => void view.notice(text);
  const user = await userBehind(view, options);
  const { approvals, approve } = asking(user);
  const found: FoundSecret[] = [];
  const { secrets = { add: (name: string, value: string) => void found.push({ name, value }) } } = options;
  let told = Promise.resolve();
  const stray = terminal.onStrayError((error) =>
    void (told = told.then(() => tellStray(error, view)).catch(() => undefined))
  );
  let catalog: Catalog | undefined;
  return {
    opening: {
      user,
      notice,
      signal,
      secrets,
      log: (server, line) => void view.log(server, line),
      approve,
    },
    approvals,
    found,
    unlessAborted: (opening) => unlessAborted(opening, signal),
    async open(opening) {
      try {
        const opened = await unlessAborted(opening, signal);
        catalog = opened.catalog;
        return opened;
      } catch (error) {
        // What comes too late nobody else closes, and its processes would hold up our end.
        opening.then(({ catalog }) => catalog.close?.()).catch(() => undefined);
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await told;
      await view.end();
      await catalog?.close?.();
      stray[Symbol.dispose]();
    },
  };
}

/** Of code that was loaded: what it does later nobody waits for. */
async function tellStray(error: unknown, view: RunView): Promise<void> {
  const { strayErrorText }: typeof import("../report_failure.ts") = await import(
    "../report_failure.ts" as string
  );
  await view.notice(strayErrorText(error, workingFolder()));
}

/** @throws {InterruptedError} */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const interrupted = whenAborted(signal).then(() => Promise.reject(new InterruptedError()));
  return await Promise.race([work, interrupted]).catch((error) => {
    throw signal.aborted ? new InterruptedError() : error;
  });
}

/** Who may be asked, and what for. */
export interface UserBehindOptions {
  readonly terminal: Terminal;
  readonly isQuiet: boolean;
  readonly usesStdin: boolean;
  /** Whoever types already, so that no two wait for the same line. */
  readonly typist?: TerminalUser;
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
export async function typistAt(terminal: Terminal, { edits = false } = {}): Promise<TerminalUser> {
  return await terminal.user({ show: (question) => terminal.stderr.write(printable(question)), edits });
}

/** Nobody at all. */
export const nobody: User = {
  canAnswer: false,
  ask: () => Promise.reject(new Error("Nobody can be asked: this run has no terminal to ask at")),
};

/** A run that Ctrl-C ends: once in order, by the signal; twice at once. */
export interface Interruptible {
  readonly signal: AbortSignal;
  /** True after Ctrl-C. */
  readonly isInterrupted: boolean;
  /** What is to be done before the process ends at once. */
  onSecond(cleanUp: () => void): void;
  /** Ends the run in order because nobody reads its result any more, which is no error. */
  leave(): void;
  readonly hasLeft: boolean;
}

/** Listens for Ctrl-C and for requests to end until the process is over. */
export function interruptible(terminal: Terminal): Interruptible {
  const controller = new AbortController();
  let cleanUp = () => {};
  let hasLeft = false;
  let isInterrupted = false;
  terminal.onInterrupt(() => {
    if (isInterrupted) {
      cleanUp();
      exitProcess(EXIT.interrupted);
    }
    isInterrupted = true;
    controller.abort(new Error("the run was interrupted"));
  });
  return {
    signal: controller.signal,
    get isInterrupted() {
      return isInterrupted;
    },
    onSecond: (work) => void (cleanUp = work),
    leave() {
      hasLeft = true;
      controller.abort(new Error("nobody reads the result any more"));
    },
    get hasLeft() {
      return hasLeft;
    },
  };
}
