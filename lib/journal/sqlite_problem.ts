import { JournalError } from "../core/journal.ts";
import { messageOf } from "../core/source_error.ts";

/** What SQLite says, and what it means for whoever has the journal. */
const KNOWN: readonly (readonly [said: RegExp, meaning: string])[] = [
  [/is not a database/, "it is not an SQLite database; move it away to begin a new journal"],
  [/unable to open/, "it cannot be opened; its folder has to be there, and both have to be yours to write"],
  [/readonly/, "it may be read only; make the file and its folder writable"],
  [
    /is locked|is busy/,
    "another process has been writing it for too long; try again, or find the process that hangs",
  ],
  [/disk is full/, "the disk is full; make room and resume"],
  [/malformed|disk I\/O error/, "it is damaged, or the disk is; move it away to begin a new journal"],
];

/** Does the work; what SQLite throws becomes a {@linkcode JournalError} that names the file and says what to do. */
export function withSqliteProblems<Result>(
  { path, action }: { readonly path: string; readonly action: "open" | "read" | "write" },
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    if (!isOfSqlite(error)) throw error;
    const said = messageOf(error);
    const meaning = KNOWN.find(([pattern]) => pattern.test(said))?.[1] ?? said;
    throw new JournalError(`Cannot ${action} the journal "${path}": ${meaning}`, { cause: error });
  }
}

function isOfSqlite(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}
