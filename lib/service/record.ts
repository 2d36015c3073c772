// A record: everything a run does in a file of its own, which answers a run like it. Loaded where one is written or read.
import { resolve } from "node:path";
import { FileError, type RunStart, type Secrets } from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { growingFile } from "../host/files/growing_file.ts";
import { fileRecorder, type ReadRecord, readRecord } from "../journal/record_file.ts";
import { Replay } from "../run/replay/replay.ts";
import { type KeptRun, keptRun, type RunRecord } from "./keep.ts";

/** A record that answers a run, of which nothing is kept then. @throws {SourceError} at a line that is none of a record */
export function answeringRecord(
  text: string,
  { file }: { readonly file: string },
): ReadRecord & { readonly kept: KeptRun } {
  const record = readRecord(text, { file });
  return { ...record, kept: keptRun({ replay: new Replay(record.run, record.lines) }) };
}

/** A new record takes the place of an old one, and of nothing else that somebody has made. @throws {FileError} */
export async function assertRecord(file: string, cwd: string): Promise<void> {
  const files = hostFiles({ root: cwd });
  const there = await files.stat(file).catch(() => undefined);
  if (there?.kind === "folder") {
    throw new FileError(`Cannot record to ${JSON.stringify(file)}: it is a folder; name a file`, {
      path: file,
      code: "is-folder",
    });
  }
  if (there?.kind !== "file" || there.size === 0) return;
  const text = await files.readText(file).catch(() => "");
  if (text.startsWith('{"type":"run"')) return;
  throw new FileError(
    `Cannot record to ${
      JSON.stringify(file)
    }: there is a file of that name, and it is no record; choose another name`,
    { path: file, code: "other" },
  );
}

/** Begins a record with what its run begins with. */
export function startRecord(
  start: RunStart & { readonly id: string },
  { file, cwd, secrets }: {
    readonly file: string;
    readonly cwd: string;
    readonly secrets: Secrets | undefined;
  },
): RunRecord {
  const growing = growingFile(resolve(cwd, file), file);
  const recorder = fileRecorder((line) => growing.write(line), { secrets });
  recorder.write({ type: "run", version: 1, ...start });
  return { recorder, file: growing };
}
