import type { RunJournal, StoredFile } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { hostFiles } from "../host/files.ts";
import { readDocument } from "../parse/document_file.ts";
import { openCatalog } from "../project/project.ts";
import { aroundRun, interruptible } from "./around_run.ts";
import { DocumentBounds } from "../project/document_bounds.ts";
import { DocumentResults } from "./document_results.ts";
import { documentRunInput } from "./document_run_input.ts";
import { documentView } from "./document_view.ts";
import { EXIT, UsageError } from "./exit_code.ts";
import type { Going } from "./going.ts";
import { keepStdout } from "./grants.ts";
import { placeHome } from "../project/document_place.ts";
import { documentCalls, documentMeans } from "./open_document.ts";
import { performDocument } from "./perform_document.ts";
import { readDocumentText } from "../run/document_text.ts";

/** Goes on with the run of a document, as the document was when it began; gives the exit code. */
export async function resumeDocument(run: RunJournal, going: Going): Promise<number> {
  const { here: { project, secrets }, grants, flags, terminal, kept } = going;
  const [stored] = run.run.files ?? [];
  if (stored === undefined) {
    throw new UsageError([`Run ${run.id} has lost its document: begin anew`], { command: "resume" });
  }
  const text = await textAsItWas(stored, { root: project.root, secrets });
  const stop = interruptible(terminal);
  const view = await documentView(terminal, flags);
  await using around = await aroundRun(view, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: false,
    secrets,
  });
  await keepStdout(grants.flags);
  const bounds = new DocumentBounds(project.root);
  const opened = await around.open(
    openCatalog(project, { ...grants, ...around.opening, against: (request) => bounds.against(request) }),
  );
  if (opened === undefined) return EXIT.interrupted;
  const input = documentRunInput(going.input);
  const results = new DocumentResults(input.out, project);
  const canAsk = around.approvals !== undefined;
  const place = { ...opened, project, grants, canAsk, bounds, accepted: opened.projectAccepted };
  return await performDocument({
    terminal,
    flags,
    cwd: project.cwd,
    view,
    stop,
    document: await readDocument(text, { path: stored.path }),
    input,
    means: documentMeans(placeHome(place), { input, results }),
    results,
    kept,
    approvals: around.approvals,
    called: documentCalls(place),
  });
}

/** Secrets in a document are not kept with it: where it had some, the file has to be there as it was. @throws {UsageError} when it is not */
async function textAsItWas(
  { path, text }: StoredFile,
  { root, secrets }: { readonly root: string; readonly secrets: Secrets },
): Promise<string> {
  if (!text.includes("[secret ")) return text;
  const now = await readDocumentText(hostFiles({ root }), path).catch(() => undefined);
  if (now !== undefined && secrets.mask(now) === text) return now;
  throw new UsageError(
    [`${path} has changed since the run began, and what it had of secrets is not kept: begin anew`],
    { command: "resume" },
  );
}
