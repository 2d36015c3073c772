// What is kept of a run: its steps in the journal of the project, and a record where one is wanted. Every run loads it before its first
// call, also one that is not kept: secrets are kept out of that too.
import type { Config } from "../catalog/config/config.ts";
import {
  type Journal,
  type JournalStatus,
  type Recorder,
  type RunJournal,
  type RunStart,
  type Secrets,
  shownPath,
} from "../core/core.ts";
import { journalPath, runFiles } from "../host/files/journal_files.ts";
import { hostEnv, isProcessAlive, thisProcess } from "../host/process.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import { sqliteJournal } from "../journal/sqlite_journal.ts";
import { PROVIDER_KINDS } from "../models/provider.ts";
import { shellWord } from "../policy/refusal.ts";
import type { DrainRun } from "../run/drain.ts";
import type { RunObserver } from "../run/run.ts";
import type { Replay } from "../run/replay/replay.ts";
import type { ProjectSettings } from "../project/project.ts";
import { dropGrants, grantsNothing, keepGrants, type RunGrants } from "../project/trust/grants.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { projectRoot } from "../host/paths.ts";

/** Where a run belongs and what it was allowed. */
export interface RunPlace {
  readonly root: string;
  readonly cwd: string;
  readonly config: Config;
  readonly grants: RunGrants;
  /** What its servers are given. */
  readonly found: readonly FoundSecret[];
  readonly observe?: ProjectSettings["observe"];
}

/** A value that nobody is to see. */
export interface FoundSecret {
  readonly name: string;
  readonly value: string;
}

/** What is to be kept. */
export interface KeepFlags {
  readonly ephemeral: boolean;
  readonly record: string | undefined;
}

/** A run as its engine takes it, and what is left to do at its end. */
export interface KeptRun {
  /** For the engine, as far as they are there. */
  readonly options: {
    readonly journal?: RunJournal;
    readonly secrets?: Secrets;
    readonly recorder?: Recorder;
    readonly observer?: RunObserver;
    /** Where there is no journal. */
    readonly id?: string;
    readonly drain?: DrainRun;
    /** Answers every effect. */
    readonly replay?: Replay;
  };
  /** Its id when it can be resumed, from its beginning on. */
  readonly id: string | undefined;
  /** What commands about it begin with, as `wayTo` gives it. */
  readonly way: string;
  /** Where the record is until it is whole. */
  readonly partialRecord: string | undefined;
  /** Gives how the run is kept that has ended, undefined when it is not. The record takes its place. @throws {FileError} for the record */
  close(): JournalStatus | undefined;
}

/** Begins to keep a new run. @throws {JournalError} when the journal cannot be written, {FileError} for the record */
export async function createRun(start: RunStart, place: RunPlace, flags: KeepFlags): Promise<KeptRun> {
  const secrets = maybeSecrets(place);
  const records = flags.record === undefined ? undefined : await recordCode();
  if (flags.record !== undefined) await records?.assertRecord(flags.record, place.cwd);
  const held = newRun(start, { place, flags, secrets });
  const observer = place.observe?.(start.file);
  if (held === undefined) return keptRun({ secrets, observer });
  const way = wayTo(place);
  const { run } = held;
  const isGranted = !flags.ephemeral && !grantsNothing(place.grants);
  if (isGranted) await keepGrants(run.id, place.grants, place);
  const record = flags.record === undefined
    ? {}
    : records?.startRecord({ ...start, id: run.id }, { file: flags.record, cwd: place.cwd, secrets });
  return keptRun({ secrets, observer, held, way, isGranted, isLasting: !flags.ephemeral, ...record });
}

async function recordCode(): Promise<typeof import("./record.ts")> {
  return await import("./record.ts" as string);
}

/** What a command begins with that is about a run of a project: nothing where the working folder finds that project. */
export function wayTo({ root, cwd }: Pick<RunPlace, "root" | "cwd">): string {
  if (cwd === root || projectRoot(cwd, cwd) === root) return "";
  return `cd ${shellWord(shownPath(root, cwd))} && `;
}

/** What keeps secrets out, where there are any. */
function maybeSecrets({ config, grants, found }: RunPlace): Secrets | undefined {
  const { allowAll, allow } = grants.settings;
  const isSet = (name: string) => hostEnv(name) !== undefined;
  const hasKeys = Object.values(PROVIDER_KINDS).some(({ keyVariables }) => keyVariables.some(isSet));
  const hasSettings = [config.models.providers ?? {}, config.mcpServers, config.project.parts].some((part) =>
    Object.keys(part).length > 0
  );
  if (
    found.length === 0 && !hasKeys && !hasSettings && !allowAll && !allow.env.all &&
    allow.env.list.length === 0
  ) {
    return undefined;
  }
  return foundSecrets({ config, grants, found });
}

/** What nobody is to see, also of the servers that were started. */
export function foundSecrets(
  { config, grants: { settings }, found }: Pick<RunPlace, "config" | "grants" | "found">,
): Secrets {
  const secrets = runSecrets({ config, settings });
  for (const { name, value } of found) secrets.add(name, value);
  return secrets;
}

/** A run, and the journal that is disposed of with it. */
interface HeldRun {
  readonly run: RunJournal;
  readonly journal: Journal;
}

/** Without a journal nobody could know a record's run by its id. */
function newRun(
  start: RunStart,
  { place, flags, secrets }: {
    readonly place: RunPlace;
    readonly flags: KeepFlags;
    readonly secrets: Secrets | undefined;
  },
): HeldRun | undefined {
  const journal = flags.ephemeral
    ? flags.record === undefined ? undefined : memoryJournal({ secrets })
    : openJournal(place.root, { secrets });
  return journal === undefined ? undefined : { journal, run: journal.create(start) };
}

/** A record that is being written. */
export interface RunRecord {
  readonly recorder: Recorder;
  readonly file: { readonly partialPath: string; finish(): void };
}

/** A run that is kept as far as it is said here. */
export function keptRun(
  { secrets, observer, held, way = "", isGranted = false, isLasting = false, recorder, file, replay }: {
    readonly secrets?: Secrets;
    readonly observer?: RunObserver;
    readonly replay?: Replay;
    readonly held?: HeldRun;
    readonly way?: string;
    /** Something may be kept of what it was allowed. */
    readonly isGranted?: boolean;
    readonly isLasting?: boolean;
  } & Partial<RunRecord>,
): KeptRun {
  const run = held?.run;
  let isWhole = false;
  return {
    options: {
      secrets,
      journal: run,
      recorder,
      observer,
      replay,
    },
    id: isLasting ? run?.id : undefined,
    way,
    get partialRecord() {
      return isWhole ? undefined : file?.partialPath;
    },
    close() {
      const status = isLasting ? run?.status : undefined;
      held?.journal[Symbol.dispose]();
      const isOver = status === "done" || status === "failed";
      if (isOver && isGranted && run !== undefined) dropGrants(run.id);
      file?.finish();
      isWhole = true;
      return status;
    },
  };
}

/**
 * Opens the journal of a project, `.orrery/orrery.db` of its root; it is made when it is not there.
 *
 * @throws {JournalError} that says why it cannot be kept there, and what to do
 *
 * ```ts
 * import { openJournal } from "orrery";
 *
 * const root = Deno.makeTempDirSync();
 * using journal = openJournal(root);
 * console.log(journal.list().length); // => 0
 * ```
 */
export function openJournal(root: string, options: { readonly secrets?: Secrets } = {}): Journal {
  const path = journalPath(root);
  return sqliteJournal(path, {
    ...options,
    texts: runFiles(path),
    owner: thisProcess(),
    isAlive: isProcessAlive,
    every(ms, work) {
      const timer = setInterval(work, ms);
      return () => clearInterval(timer);
    },
  });
}
