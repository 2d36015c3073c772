// Programs that run for long and are talked to over their pipes, such as MCP servers on stdio. A program that runs once and
// is waited for is a `Shell`'s.

/** How a program ended. */
export interface PipeEnd {
  /** 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
}

/** A program that runs, and its pipes. */
export interface PipeProcess {
  /** Its stdout as it comes; nothing is read ahead of what is taken, so that a program that writes too much has to wait. */
  readonly stdout: AsyncIterable<Uint8Array>;
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<PipeEnd>;
  /** Writes to its stdin, whole and in the order of the calls; comes back when the pipe has taken it. @throws {Error} when it has ended. */
  write(text: string): Promise<void>;
  /** Whether waiting for it keeps our own process alive. Default true. */
  hold(isHeld: boolean): void;
  /**
   * Ends it and everything it started: stdin is closed, then TERM, and KILL 2 s later for what is still there. With `now` there is no
   * wait between the closing and TERM. Comes back when all is gone.
   */
  end(options?: { readonly now?: boolean }): Promise<void>;
}

/** How to start a program that is talked to. */
export interface PipeOptions {
  readonly args?: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Besides PATH, HOME, LANG and TERM of ours; nothing else reaches it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** Starts programs that are talked to. */
export interface Pipes {
  /** @throws {Error} that names the program and why it cannot be started. */
  start(command: string, options: PipeOptions): PipeProcess;
}
