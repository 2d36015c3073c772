import { childEnvironment, type ChildOptions } from "./child_start.ts";
import { seesProgram } from "./find_program.ts";
import { ownGroup } from "./own_group.ts";
import { atExit } from "./process.ts";
import { killGroup } from "./process_group.ts";
import { maybeScript, type ScriptChild, type ScriptOptions, startScriptChild } from "./script_child.ts";

const OPEN = new TextEncoder().encode("\n");

/** A shell that is loaded and held before the first word of its script. */
export class HeldCommand implements AsyncDisposable {
  readonly shell: ScriptChild;
  readonly #identity: string;
  readonly #exit: Disposable;
  #hasEnded = false;

  private constructor(shell: ScriptChild, identity: string) {
    this.shell = shell;
    this.#identity = identity;
    this.#exit = atExit(() => killGroup(shell.child));
    shell.child.status.then(() => this.#hasEnded = true, () => {});
  }

  /** @throws {Error} that names the program and why it cannot be started */
  static start(command: string, options: Omit<ScriptOptions, "isHeld"> & { script: string }): HeldCommand {
    return new HeldCommand(
      startScriptChild(command, { ...options, isHeld: true }),
      identityOf(command, options),
    );
  }

  /**
   * What loads a command ahead of its turn; it does not keep our process alive. Undefined where it cannot be held; what it loads is undefined
   * where it cannot be started, which is told in its turn.
   */
  static maybeLoader(
    command: string,
    settings: Omit<ChildOptions, "stdin">,
  ): (() => HeldCommand | undefined) | undefined {
    const env = childEnvironment(settings);
    const script = maybeScript(command, settings.args);
    const isSeen = seesProgram(command, { ...settings, env });
    if (script === undefined || ownGroup([], { isSeen }).isGrouped !== true) return undefined;
    const options = { ...settings, stdin: "null" as const, env, script, isSeen };
    return () => {
      try {
        const held = HeldCommand.start(command, options);
        held.shell.child.unref();
        return held;
      } catch {
        return undefined;
      }
    };
  }

  /** Whether it is that command and can still be let go. */
  is(command: string, options: Pick<ScriptOptions, "args" | "cwd" | "env">): boolean {
    return !this.#hasEnded && this.#identity === identityOf(command, options);
  }

  /** Lets it run once `onReady` has come back; it is the caller's from then on. @throws what `onReady` throws, when it is ended */
  letGo(onReady: () => void): Promise<void> {
    const { child } = this.shell;
    child.ref();
    try {
      onReady();
    } catch (error) {
      this[Symbol.asyncDispose]().catch(() => {});
      throw error;
    }
    return open(child.stdin).finally(() => this.#exit[Symbol.dispose]());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { child } = this.shell;
    killGroup(child);
    child.ref();
    const streams = [child.stdout.cancel(), child.stderr.cancel(), child.stdin.close()];
    await Promise.allSettled([child.status, ...streams]);
    this.#exit[Symbol.dispose]();
  }
}

/** The shell may have ended by then: its script cannot be read. */
async function open(gate: WritableStream<Uint8Array>): Promise<void> {
  const writer = gate.getWriter();
  await writer.write(OPEN).catch(() => {});
  await writer.close().catch(() => {});
}

function identityOf(
  command: string,
  { args, cwd, env }: Pick<ScriptOptions, "args" | "cwd" | "env">,
): string {
  return JSON.stringify([command, args, cwd, env]);
}
