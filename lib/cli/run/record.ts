import { objectOrEmpty, type RecordLine, type RunKind, type RunStart, SourceError } from "../../core/core.ts";
import { type ReadRecord, readRecord } from "../../journal/record_file.ts";
import { Replay } from "../../run/replay/replay.ts";
import { UsageError } from "../../service/exit_code.ts";
import { flagFile } from "../../service/input/prompt_input.ts";
import { textFrom } from "../../service/input/kept_input.ts";

/** A record, ready to answer a run. */
export interface OpenedReplay {
  readonly replay: Replay;
  readonly lines: readonly RecordLine[];
}

/** What a record is read for. */
export interface OpenReplayOptions {
  readonly cwd: string;
  readonly kind: RunKind;
  /** Default: the one that makes runs of this kind. */
  readonly command?: "run" | "ask" | "chat";
  /** The file of `--record`. */
  readonly alsoRecords: string | undefined;
}

/** Opens the record of a run of this kind. @throws {FileError}, {SourceError} at a line that is none of a record, {UsageError} for another kind, and where one is to be written too */
export async function openReplay(
  file: string,
  { cwd, kind, command = kind === "ask" || kind === "chat" ? kind : "run", alsoRecords }: OpenReplayOptions,
): Promise<OpenedReplay> {
  if (alsoRecords !== undefined) {
    throw new UsageError(
      `--record ${alsoRecords} and --replay ${file} do not go together: a replay is what was recorded; leave --record out`,
      command,
    );
  }
  const { run, lines } = await readReplay(file, cwd);
  if (run.kind !== kind) {
    throw new UsageError(
      `${JSON.stringify(file)} is the record of another kind of run (${run.kind}): orrery ${
        commandOf(run)
      } --replay ${file}`,
      command,
    );
  }
  return { replay: new Replay(run, lines), lines };
}

/** What the record is of. @throws {FileError}, {SourceError} at a line that is none of a record */
export async function recordedRun(file: string, cwd: string): Promise<RunStart> {
  return (await readReplay(file, cwd)).run;
}

async function readReplay(file: string, cwd: string): Promise<ReadRecord> {
  const text = await flagFile(file, { flag: "--replay", cwd });
  try {
    return readRecord(text, { file });
  } catch (error) {
    const isNone = error instanceof SourceError && error.hint === undefined && error.span?.line === 1;
    throw isNone ? noRecord(error) : error;
  }
}

function noRecord(error: SourceError): SourceError {
  const { message, span, source } = error;
  return new SourceError(message, {
    span,
    source,
    hint: "--replay takes a record, which is a file that --record has written.",
    cause: error,
  });
}

/** The command that a record was made with. */
function commandOf({ kind, file = "FILE", input }: RunStart): string {
  if (kind === "prompt" && textFrom(objectOrEmpty(input).say) !== undefined) return "ask";
  return kind === "ask" || kind === "chat" ? kind : `run ${file}`;
}
