import type { Catalog } from "../core/catalog.ts";
import { messageOf } from "../core/source_error.ts";
import { whenAborted } from "../core/abort_signals.ts";
import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import type { OpenCatalogOptions } from "../project/project.ts";
import type { FoundSecret } from "../project/open_run.ts";
import type { Approvals } from "../run/approvals.ts";
import type { Interruptible } from "./interruptible.ts";
import type { RunView } from "./run_view.ts";
import { userBehind } from "./user_behind.ts";

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
  readonly typist?: TerminalUser | undefined;
  /** Ends a question too: the answer that is being written was stopped. */
  readonly turn?: () => AbortSignal;
}

/** What a run is opened with, and what has to be put away when it is over. */
export interface AroundRun extends AsyncDisposable {
  /** For the catalogue. */
  readonly opening: Pick<
    OpenCatalogOptions,
    "user" | "approve" | "notice" | "log" | "signal" | "secrets"
  >;
  /** For the run; undefined when nobody can be asked. */
  readonly approvals: Approvals | undefined;
  /** What servers are given, which nobody is to see. */
  readonly found: readonly FoundSecret[];
  /** What is being opened; undefined when Ctrl-C came first. */
  unlessAborted<Value>(opening: Promise<Value>): Promise<Value | undefined>;
  /** What was opened, to be closed at the end; undefined when Ctrl-C came first, also where a module never ends loading. */
  open<Opened extends { readonly catalog: Catalog }>(
    opening: Promise<Opened>,
  ): Promise<Opened | undefined>;
}

/** Puts together what is around a run. Disposing of it ends the view and the servers, however the run ended. */
export async function aroundRun(view: RunView, options: AroundRunOptions): Promise<AroundRun> {
  const { terminal, stop: { signal } } = options;
  const notice = (text: string) => void view.notice(text);
  const user = await userBehind(view, options);
  const approvals = user.canAnswer ? new (await loadApprovals()).Approvals(user) : undefined;
  const found: FoundSecret[] = [];
  const { secrets = { add: (name: string, value: string) => void found.push({ name, value }) } } = options;
  const stray = terminal.onStrayError((error) =>
    notice(`a gadget left an error behind: ${messageOf(error)}`)
  );
  let catalog: Catalog | undefined;
  return {
    opening: {
      user,
      notice,
      signal,
      secrets,
      log: (server, line) => void view.log(server, line),
      ...(approvals && { approve: (refused) => approvals.ask(refused) }),
    },
    approvals,
    found,
    unlessAborted: (opening) => unlessAborted(opening, signal),
    async open(opening) {
      const opened = await unlessAborted(opening, signal);
      catalog = opened?.catalog;
      return opened;
    },
    async [Symbol.asyncDispose]() {
      await view.end();
      await catalog?.close?.();
      stray[Symbol.dispose]();
    },
  };
}

const loadApprovals = (): Promise<typeof import("../run/approvals.ts")> =>
  import("../run/approvals.ts" as string);

async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  try {
    return await Promise.race([work, whenAborted(signal)]);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
