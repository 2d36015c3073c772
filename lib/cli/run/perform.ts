// Any run from the moment it can begin: followed to its end, its result put where it belongs.
import { dirname, resolve } from "node:path";
import { isJsonObject, type RunEvent, typedPath } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { App } from "../../service/app.ts";
import type { KeepFlags, KeptRun } from "../../service/keep.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { printable, printableLine } from "../../render/shown_text.ts";
import {
  type Keeping,
  type ReadyRun,
  recordedPlace,
  type StartPlace,
} from "../../service/start/ready_run.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { runsOf } from "../../service/start/runs_of.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { type AroundRun, aroundRun, type Interruptible } from "./around.ts";
import { type DeliverOptions, endRun, toItsEnd } from "./end.ts";
import { answerAround, followRun, type RunView, viewOf } from "./view.ts";

/** Where a run is shown. */
export interface RunWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly place: Pick<ProjectSettings, "root" | "cwd">;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly kept: KeptRun;
  /** As in `DeliverOptions`. */
  readonly allowBy?: string;
}

/** A run that begins here. */
export interface BegunHere extends Omit<RunWork, "kept" | "place" | "flags"> {
  readonly flags: RunWork["flags"] & KeepFlags;
  readonly app: App;
  /** Stdin is read by the run itself. */
  readonly usesStdin: boolean;
  /** Answers it. Default: it begins to be kept when it is ready. */
  readonly kept?: KeptRun;
}

/** Opens what is around a run, makes it ready, and runs it; gives the exit code. */
export async function runHere(
  work: BegunHere,
  readied: (at: StartPlace & { readonly around: AroundRun }) => Promise<ReadyRun>,
): Promise<number> {
  const { terminal, flags, view, stop, usesStdin, app, app: { project, grants } } = work;
  stop.onSecond(() => view.abandon());
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin });
  const ready = await readied({ project, grants, around });
  const kept = work.kept ?? await app.createRun(ready.start, flags, around.found);
  return await performRun(ready, { ...work, place: project, kept });
}

/** Runs it to its end and delivers its result; gives the exit code. @param keeping what its engine gets, where that is not what is kept */
export async function performRun(
  ready: ReadyRun,
  work: RunWork,
  keeping: Keeping = work.kept.options,
): Promise<number> {
  const { start: { file = "stdin" }, shows: { asItComes = false, marker, results, ...shows } } = ready;
  const { terminal, flags, view, place } = work;
  const isStreamed = asItComes && !flags.json && !flags.jsonl && flags.output === undefined;
  const answer = isStreamed ? answerAround(work) : undefined;
  const seen = results === undefined ? view : typingPaths(view, place);
  const events = ready.events(keeping);
  const summary = await toItsEnd(work, () => followRun(events, { ...work, view: seen, answer }));
  const shown = results?.shown;
  if (shown !== undefined) await terminal.stdout.write(shown);
  const code = await endRun(summary, {
    ...work,
    ...shows,
    cwd: place.cwd,
    emptyNotice: marker && noCalls(file, marker),
    isShown: isStreamed || shown !== undefined,
  });
  const warning = results?.warning;
  if (warning !== undefined && !flags.quiet) {
    await terminal.stderr.write(`warning: ${printableLine(warning)}\n`);
  }
  return code;
}

function noCalls(file: string, marker: string): string {
  const name = file === "stdin" ? file : printable(JSON.stringify(file));
  return `notice: nothing ran: no line of ${name} begins with ${printable(marker)}\n`;
}

/** Names files as they are typed in the working folder, which events of documents name from the root (documents.md 1.3). */
function typingPaths(view: RunView, place: RunWork["place"]): Pick<RunView, "event" | "end"> {
  if (place.root === place.cwd) return view;
  const operation = (name: string): string =>
    name.replace(
      /^(@\S+ )(.+)(?=:\d+$)/,
      (_, before: string, file: string) => before + typedPath(file, place),
    );
  const message = (text: string): string =>
    text.replace(/^.+?(?=:\d+:\d+: error: )/, (file) => typedPath(file, place));
  const typed = (event: RunEvent): RunEvent => {
    if (event.type === "step-start") return { ...event, name: operation(event.name) };
    if (event.type === "step-skip" && event.name !== undefined) {
      return { ...event, name: operation(event.name) };
    }
    if (event.type === "warning" && event.file !== undefined) {
      return { ...event, file: typedPath(event.file, place) };
    }
    if (event.type === "run-end" && event.error !== undefined) {
      return { ...event, error: message(event.error) };
    }
    if (event.type !== "step-end" || event.error === undefined) return event;
    return { ...event, error: { ...event.error, message: message(event.error.message) } };
  };
  return { event: (event) => view.event(typed(event)), end: () => view.end() };
}

/** What the command line says of a file, or a prompt, that is to be run. */
export interface FileCommand {
  readonly flags: ParsedCommand<typeof COMMANDS.run>["flags"];
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly stop: Interruptible;
}

/** A file whose run is answered by a record. */
export interface ReplayFileOptions extends FileCommand {
  readonly kind: Kind;
  /** The file of the record. */
  readonly record: string;
}

/** Runs the file of a record again, every effect answered by it. @throws {ReplayError} when the file is not the recorded one any more */
export async function replayFile(
  word: string,
  { kind: row, record, cwd, ...work }: ReplayFileOptions,
): Promise<number> {
  const { flags, terminal, stop: { signal } } = work;
  const { assertSameText, openReplay }: typeof import("./record.ts") = await import("./record.ts" as string);
  const runs = await runsOf(row);
  const { run, lines, kept } = await openReplay(record, { cwd, kind: row.name, alsoRecords: flags.record });
  if (runs === undefined) throw new Error(`Nothing makes ${row.name} ready again`);
  if (word !== "-") await assertSameText(word, { run, lines, cwd, record });
  const folder = word === "-" ? cwd : dirname(resolve(cwd, word));
  const at = await recordedPlace(folder, { cwd, grants: grantsOf(flags), signal });
  const input = isJsonObject(run.input) ? { ...run.input, out: flags.out ?? "none" } : run.input;
  const ready = await runs.again({ id: record, run: { ...run, input } }, at);
  const view = await viewOf(row.seen, terminal, { flags, file: run.file ?? word });
  return await performRun(ready, { ...work, view, place: at.project, kept });
}
