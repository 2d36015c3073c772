/** What the exit codes of the process mean (cli.md). */
export const EXIT = {
  ok: 0,
  /** The run failed. */
  failed: 1,
  /** Usage, configuration, or something found before anything ran. */
  usage: 2,
  /** A permission was refused. */
  refused: 5,
  interrupted: 130,
} as const;
