/** The command line cannot be understood; every line of the message is one thing that is wrong. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The command whose help explains it; absent when the command itself is unknown. */
  readonly command: string | undefined;

  constructor(problems: readonly string[], options: { command?: string } = {}) {
    super(problems.join("\n"));
    this.command = options.command;
  }
}
