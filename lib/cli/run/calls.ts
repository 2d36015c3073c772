import { EMPTY_CATALOG, FileError, objectOrEmpty, ReplayError, type RunEvent } from "../../core/core.ts";
import { basename, dirname, resolve } from "node:path";
import { hostFiles } from "../../host/files/files.ts";
import { denoGrants } from "../../host/process.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { Markers } from "../../parse/calls/header.ts";
import type { KeptRun } from "../../project/open_run.ts";
import { isProjectAccepted, openSettings } from "../../project/project.ts";
import { printable } from "../../render/shown_text.ts";
import { limitsFrom, markersFrom } from "../../service/input/kept_input.ts";
import type { PromptsPlace } from "../../service/prompt/containers.ts";
import { callsEvents } from "../../service/start/calls.ts";
import { type Interruptible, nobody } from "./around.ts";
import { type DeliverOptions, endRun, toItsEnd } from "./end.ts";
import { type GrantFlags, grantsOf } from "../flags/grants.ts";
import { type OpenedReplay, openReplay } from "./record.ts";
import { chooseView, followRun, type RunView } from "./view.ts";

/** A text of calls that is about to run. */
interface CallsWork {
  /** As messages name it. */
  readonly name: string;
  readonly markers: Markers;
  /** Of its run. */
  readonly events: AsyncIterable<RunEvent>;
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly kept: KeptRun | undefined;
}

/** Runs calls to their end and delivers their result; gives the exit code. */
export async function performCalls(work: CallsWork): Promise<number> {
  const { name, markers, events } = work;
  const summary = await toItsEnd(work, () => followRun(events, work));
  return await endRun(summary, { ...work, emptyNotice: noCalls(name, markers) });
}

function noCalls(file: string, { start }: Markers): string {
  const name = file === "stdin" ? file : printable(JSON.stringify(file));
  return `notice: nothing ran: no line of ${name} begins with ${printable(start)}\n`;
}

/** What a replay needs. */
export interface ReplayCallsOptions {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"] & GrantFlags & { readonly record: string | undefined };
  /** The file of the record. */
  readonly record: string;
  readonly cwd: string;
  readonly stop: Interruptible;
}

/** Runs the calls of a record again, every effect answered by it. @throws {ReplayError} when the file is not the recorded one any more */
export async function replayCalls(word: string, options: ReplayCallsOptions): Promise<number> {
  const { terminal, flags, cwd, stop, record } = options;
  const opened = await openReplay(record, { cwd, kind: "calls", alsoRecords: flags.record });
  if (word !== "-") await assertSameText(word, { opened, cwd, record });
  const { run } = opened.replay;
  const name = run.file ?? word;
  const view = chooseView(terminal, { flags, file: name });
  const input = objectOrEmpty(run.input);
  const markers = markersFrom(input.markers);
  const events = callsEvents({
    replay: opened.replay,
    catalog: EMPTY_CATALOG,
    signal: stop.signal,
    markers,
    limits: limitsFrom(input.limits),
    asked: input,
    prompts: replayedPrompts(word === "-" ? cwd : dirname(resolve(cwd, name)), { cwd, flags }),
    source: { name, isReadOnce: false, text: [] },
  }, {});
  return await performCalls({ terminal, flags, cwd, stop, view, kept: undefined, name, markers, events });
}

/** @throws {ReplayError} with the difference, when the file is there and is another one than the recorded */
export async function assertSameText(
  word: string,
  { opened, cwd, record }: {
    readonly opened: OpenedReplay;
    readonly cwd: string;
    readonly record: string;
  },
): Promise<void> {
  const { file = "stdin" } = opened.replay.run;
  const isNamedSo = basename(file) === basename(word);
  if (!denoGrants({ name: "read", path: resolve(cwd, word) })) return; // the record alone is enough
  const recorded = opened.replay.run.files?.[0]?.text ?? sourceOf(opened);
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

function sourceOf({ lines }: OpenedReplay): string {
  return lines.map((line) => line.type === "source" ? line.text : "").join("");
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

/** Where the prompts of a replay are, opened by the first call that asks one: they are its program, as they are now. Nobody is asked anything. */
export function replayedPrompts(
  folder: string,
  { cwd, flags }: { readonly cwd: string; readonly flags: GrantFlags },
): () => Promise<PromptsPlace> {
  return async () => {
    const project = await openSettings(folder, { cwd });
    const grants = grantsOf(flags);
    const accepted = await isProjectAccepted({
      ...project,
      flags: grants.flags,
      user: nobody,
      notice: () => undefined,
    });
    return { project, accepted, grants };
  };
}
