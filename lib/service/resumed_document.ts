import type { RunJournal, StoredFile } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import type { Secrets } from "../core/secrets.ts";
import { hostFiles } from "../host/files.ts";
import { readDocument } from "../parse/document/document.ts";
import { readDocumentText } from "../run/document_text.ts";
import { ChangedError } from "./changed_error.ts";
import { DocumentResults } from "./document_results.ts";
import { documentRunInput } from "./document_run_input.ts";
import { openDocumentPlace, readyDocument } from "./document_run.ts";
import { UsageError } from "./exit_code.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";

/** A run that goes on. */
export interface ResumedRun {
  readonly run: RunJournal;
  /** What it began with, and what is said of it now. */
  readonly input: Json;
  /** Of the journal: what was masked is known again by them. */
  readonly secrets: Secrets;
}

/** A document that goes on. */
export interface ResumedDocument {
  readonly ready: ReadyRun;
  readonly results: DocumentResults;
}

/** The run of a document, as the document was when it began; undefined when it was aborted. @throws {UsageError} when the document cannot be had */
export async function resumedDocument(
  { run, input: kept, secrets }: ResumedRun,
  at: StartPlace,
): Promise<ResumedDocument | undefined> {
  const { project, around } = at;
  const [stored] = run.run.files ?? [];
  if (stored === undefined) {
    throw new UsageError([`Run ${run.id} has lost its document: begin anew`], { command: "resume" });
  }
  const text = await textAsItWas(stored, { root: project.root, secrets });
  const place = await openDocumentPlace(at);
  if (place === undefined) return undefined;
  const input = documentRunInput(kept);
  const results = new DocumentResults(input.out, project);
  const document = await readDocument(text, { path: stored.path });
  return { ready: readyDocument(place, { document, input, results, around }), results };
}

/** Secrets in a document are not kept with it: where it had some, the file has to be there as it was. @throws {UsageError} when it is not */
async function textAsItWas(
  { path, text }: StoredFile,
  { root, secrets }: { readonly root: string; readonly secrets: Secrets },
): Promise<string> {
  if (!text.includes("[secret ")) return text;
  const now = await readDocumentText(hostFiles({ root }), path).catch(() => undefined);
  if (now !== undefined && secrets.mask(now) === text) return now;
  throw new ChangedError(
    [`${path} has changed since the run began, and what it had of secrets is not kept: begin anew`],
    { command: "resume" },
  );
}
