import type { RunJournal } from "../core/journal.ts";
import { aroundRun, interruptible } from "./around_run.ts";
import { documentView } from "./document_view.ts";
import { EXIT } from "../service/exit_code.ts";
import { resumedDocument } from "../service/start/document.ts";
import type { Going } from "./going.ts";
import { performDocument } from "./perform_document.ts";

/** Goes on with the run of a document, as the document was when it began; gives the exit code. @throws {UsageError} */
export async function resumeDocument(run: RunJournal, going: Going): Promise<number> {
  const { here: { project, secrets }, grants, flags, terminal, kept, input } = going;
  const stop = interruptible(terminal);
  const view = await documentView(terminal, flags);
  await using around = await aroundRun(view, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: false,
    secrets,
  });
  const resumed = await resumedDocument({ run, input, secrets }, { project, grants, around });
  if (resumed === undefined) return EXIT.interrupted;
  const { ready, results } = resumed;
  const events = ready.events(kept.options);
  return await performDocument({
    terminal,
    flags,
    ...project,
    view,
    stop,
    results,
    kept,
    events,
  });
}
