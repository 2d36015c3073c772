import type { RecordLine, RunStart } from "../core/journal.ts";
import { hostFiles } from "../host/files.ts";
import { readRecord } from "../journal/record_file.ts";
import { Replay } from "../run/replay.ts";
import { promptRunInput } from "./prompt_run_input.ts";
import { UsageError } from "./exit_code.ts";

/** A record, ready to answer a run. */
export interface OpenedReplay {
  readonly replay: Replay;
  readonly lines: readonly RecordLine[];
}

/** What a record is read for. */
export interface OpenReplayOptions {
  readonly cwd: string;
  readonly kind: "calls" | "ask" | "chat" | "prompt";
  /** Default: the one that makes runs of this kind. */
  readonly command?: "run" | "ask" | "chat";
}

/** Opens the record of a run of this kind. @throws {FileError}, {SourceError} at a line that is none of a record, {UsageError} for another kind */
export async function openReplay(
  file: string,
  { cwd, kind, command = kind === "calls" || kind === "prompt" ? "run" : kind }: OpenReplayOptions,
): Promise<OpenedReplay> {
  const { run, lines } = readRecord(await hostFiles({ root: cwd }).readText(file), { file });
  if (run.kind !== kind) {
    throw new UsageError([
      `${JSON.stringify(file)} is the record of another kind of run (${run.kind}): orrery ${
        commandOf(run)
      } --replay ${file}`,
    ], { command });
  }
  return { replay: new Replay(run, lines), lines };
}

/** What the record is of. @throws {FileError}, {SourceError} at a line that is none of a record */
export async function recordedRun(file: string, cwd: string): Promise<RunStart> {
  return readRecord(await hostFiles({ root: cwd }).readText(file), { file }).run;
}

/** The command that a record was made with. */
function commandOf({ kind, file = "FILE", input }: RunStart): string {
  if (kind === "prompt" && promptRunInput(input).say !== undefined) return "ask";
  return kind === "calls" || kind === "prompt" ? `run ${file}` : kind;
}
