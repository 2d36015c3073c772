/** What the exit codes of the process mean (cli.md). */
export const EXIT = {
  ok: 0,
  /** The run failed. */
  failed: 1,
  /** Usage, configuration, or something found before anything ran. */
  usage: 2,
  /** The answer does not meet its output contract. */
  contract: 4,
  /** A permission was refused. */
  refused: 5,
  /** A budget is used up. */
  budget: 6,
  /** The provider of a model, or the network. */
  provider: 7,
  timeout: 124,
  interrupted: 130,
} as const;

/** What the `reason` of a `run-end` means for the exit code; the others are told by the run's status. */
export const EXIT_OF_REASON: ReadonlyMap<string, number> = new Map([
  ["config", EXIT.usage],
  ["contract", EXIT.contract],
  ["permission", EXIT.refused],
  ["turns", EXIT.budget],
  ["tokens", EXIT.budget],
  ["cost", EXIT.budget],
  ["time", EXIT.budget],
  ["provider", EXIT.provider],
  ["timeout", EXIT.timeout],
  ["interrupted", EXIT.interrupted],
  ["journal", EXIT.failed],
  ["diverged", EXIT.failed],
  ["unverified", EXIT.failed],
]);

/** The command line cannot be understood; every line of the message is one thing that is wrong. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The command whose help explains it; absent when the command itself is unknown. */
  readonly command: string | undefined;

  constructor(problems: string | readonly string[], command?: string) {
    super([problems].flat().join("\n"));
    this.command = command;
  }
}

/** Ctrl-C came before anything ran, which needs no message. Exit code 130. */
export class InterruptedError extends Error {}

/** What a run was made of is not what it was when it began. */
export class ChangedError extends UsageError {}
