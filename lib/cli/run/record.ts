import { basename, resolve } from "node:path";
import { FileError, objectOrEmpty, ReplayError, type RunStart, SourceError } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { denoGrants } from "../../host/process.ts";
import { answeringRecord } from "../../service/record.ts";
import { UsageError } from "../../service/exit_code.ts";
import { flagFile } from "../../service/input/prompt_input.ts";
import { textFrom } from "../../service/input/kept_input.ts";

/** A record, ready to answer a run. */
export type OpenedReplay = ReturnType<typeof answeringRecord>;

/** What a record is read for. */
export interface OpenReplayOptions {
  readonly cwd: string;
  readonly kind: string;
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
  const record = await readReplay(file, cwd);
  const { run } = record;
  if (run.kind !== kind) {
    throw new UsageError(
      `${JSON.stringify(file)} is the record of another kind of run (${run.kind}): orrery ${
        commandOf(run)
      } --replay ${file}`,
      command,
    );
  }
  return record;
}

/** What the record is of. @throws {FileError}, {SourceError} at a line that is none of a record */
export async function recordedRun(file: string, cwd: string): Promise<RunStart> {
  return (await readReplay(file, cwd)).run;
}

async function readReplay(file: string, cwd: string): Promise<OpenedReplay> {
  const text = await flagFile(file, { flag: "--replay", cwd });
  try {
    return answeringRecord(text, { file });
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

/** @throws {ReplayError} with the difference, when the file is there and is another one than the recorded */
export async function assertSameText(
  word: string,
  { run, lines, cwd, record }: Pick<OpenedReplay, "run" | "lines"> & {
    readonly cwd: string;
    readonly record: string;
  },
): Promise<void> {
  const { file = "stdin", files: [stored] = [] } = run;
  const isNamedSo = basename(file) === basename(word);
  if (!denoGrants({ name: "read", path: resolve(cwd, word) })) return; // the record alone is enough
  const recorded = stored?.text ?? lines.map((line) => line.type === "source" ? line.text : "").join("");
  const now = await hostFiles({ root: cwd }).readText(word).catch((error) => {
    if (!(error instanceof FileError)) throw error;
    if (error.code === "not-found" && isNamedSo) return recorded;
    throw isNamedSo
      ? error
      : new FileError(`${error.message}; ${record} is the record of ${JSON.stringify(file)}`, error);
  });
  const difference = isSame(recorded, now) ? undefined : lineDifference(recorded, now);
  if (difference !== undefined) {
    const from = isNamedSo ? "" : ` in ${record}, which is the record of ${JSON.stringify(file)}`;
    throw new ReplayError(`${JSON.stringify(word)} is not what was recorded${from}: ${difference}`);
  }
}

/** Anything may stand where a secret was taken out, also several lines. */
function isSame(recorded: string, now: string): boolean {
  const [first = "", ...pieces] = recorded.split(/\[secret [^\]]*\]/);
  const last = pieces.pop();
  if (last === undefined) return recorded === now;
  let at = now.startsWith(first) ? first.length : Infinity;
  for (const piece of pieces) {
    const found = now.indexOf(piece, at);
    at = found < 0 ? Infinity : found + piece.length;
  }
  return at + last.length <= now.length && now.endsWith(last);
}

/** The first line that is another one; where a secret was taken out nothing can be compared. */
function lineDifference(recorded: string, now: string): string | undefined {
  const [before, after] = [recorded.split("\n"), now.split("\n")];
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const [was, is] = [before[i], after[i]];
    if (was === is || was?.includes("[secret ")) continue;
    return `line ${i + 1} was ${was === undefined ? "not there" : JSON.stringify(was)} and is ${
      is === undefined ? "not there" : JSON.stringify(is)
    }`;
  }
  return undefined;
}
