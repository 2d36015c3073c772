// `orrery run FILE.md --watch`: runs the document again when it or a file that it read has changed; what has been done with the same
// input is not done again.

import { typedPath } from "../catalog/shown_path.ts";
import { NOT_NARROWED } from "../check/narrowing.ts";
import { systemClock } from "../core/clock.ts";
import { resolve } from "node:path";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { hasColor } from "../host/terminal.ts";
import { hostFileWatch } from "../host/watch_files.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import { paintFor } from "../render/paint.ts";
import { printableLine } from "../render/shown_text.ts";
import { EarlierSteps } from "../run/earlier_steps.ts";
import { documentView } from "./document_view.ts";
import { UsageError } from "../service/exit_code.ts";
import { notedFiles } from "./noted_files.ts";
import type { RenewedView } from "./renewed_view.ts";
import { runDocumentOnce } from "./run_document_once.ts";
import type { DocumentCommand, DocumentStart } from "./run_document_once.ts";
import { WatchedFiles } from "./watched_files.ts";
import { watchRuns } from "./watch_runs.ts";

/** @throws {UsageError} for what goes with one run only */
export function refuseWithWatch({ record, replay }: DocumentCommand["flags"]): void {
  const flag = record !== undefined ? "--record" : replay !== undefined ? "--replay" : undefined;
  if (flag === undefined) return;
  throw new UsageError([`--watch runs the document again and again; ${flag} is for one run`], {
    command: "run",
  });
}

/** Runs a document until Ctrl-C; gives the exit code. */
export async function watchDocument(
  start: DocumentStart & { readonly view: RenewedView },
): Promise<number> {
  const { command: { terminal, flags, stop }, place, input, view } = start;
  const { root } = place.project;
  const steps = new EarlierSteps();
  const real = (path: string): string => realPath(resolve(root, path));
  const raw = hostFiles({ root });
  const files = new WatchedFiles({ real, readBytes: (path) => raw.readBytes(path) });
  const noted = { ...place, world: { ...place.world, files: notedFiles(place.world.files, files) } };
  const paint = paintFor(hasColor(terminal.stderr));
  const say = async (text: string): Promise<void> => {
    if (!flags.quiet) await terminal.stderr.write(`${paint("dim", printableLine(text))}\n`);
  };
  const shown = (path: string): string => typedPath(path, place.project);
  return await watchRuns({
    entry: real(input.path),
    files,
    watch: hostFileWatch(),
    clock: systemClock,
    signal: stop.signal,
    async runOnce() {
      place.bounds.narrow(NOT_NARROWED); // what the last run's document left
      view.renew(await documentView(terminal, flags, { isReused: (key) => steps.isReused(key) }));
      try {
        return await runDocumentOnce({
          ...start,
          place: noted,
          journal: (kept) => steps.journal(kept ?? memoryJournal().create({ kind: "document", input: null })),
          onResult: (path) => files.onWrite(path),
        });
      } finally {
        await view.end();
      }
    },
    onWait: (paths) => say(waitingText(paths.length, shown(real(input.path)))),
    onChange: (paths) => say(`${paths.map(shown).join(", ")} changed`),
  });
}

function waitingText(count: number, entry: string): string {
  const more = count <= 1 ? "" : ` and ${count - 1} more ${count === 2 ? "file" : "files"}`;
  return `waiting for a change of ${entry}${more}; Ctrl-C ends`;
}
