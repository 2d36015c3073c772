import type { RecordLine } from "../core/record.ts";
import { hostFiles } from "../host/files.ts";
import { readRecord } from "../journal/record_file.ts";
import { Replay } from "../run/replay.ts";
import { UsageError } from "./usage_error.ts";

/** A record, ready to answer a run. */
export interface OpenedReplay {
  readonly replay: Replay;
  readonly lines: readonly RecordLine[];
}

/** Opens the record of a run of this kind. @throws {FileError}, {SourceError} at a line that is none of a record, {UsageError} for another kind */
export async function openReplay(
  file: string,
  { cwd, kind }: { readonly cwd: string; readonly kind: "calls" | "ask" | "chat" },
): Promise<OpenedReplay> {
  const { run, lines } = readRecord(await hostFiles({ root: cwd }).readText(file), { file });
  const command = kind === "calls" ? "run" : kind;
  if (run.kind !== kind) {
    const other = run.kind === "calls" ? `run ${run.file ?? "FILE"}` : run.kind;
    throw new UsageError([
      `${
        JSON.stringify(file)
      } is the record of another kind of run (${run.kind}): orrery ${other} --replay ${file}`,
    ], { command });
  }
  return { replay: new Replay(run, lines), lines };
}
