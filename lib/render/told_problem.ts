/** Something that `orrery check` found. */
export interface ToldProblem {
  /** As the format that tells it names files; empty for what is in no file, such as a flag. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  readonly severity: "error" | "warning";
  /** One line. */
  readonly message: string;
  /** Stable, for scripts: `E104`. */
  readonly code: string;
  /** What to do about it; absent where the message says it. */
  readonly hint?: string;
}

/** `FILE:LINE:COLUMN: error: TEXT` (documents.md 1.3); without a file `error: TEXT`. */
export function problemText({ file, line, column, severity, message }: ToldProblem): string {
  const text = `${severity}: ${message}`;
  return file === "" ? text : `${file}:${line}:${column}: ${text}`;
}
