import { CheckContext } from "./check_context.ts";
import type { CheckDocumentOptions, CheckedDocument } from "./check_options.ts";
import { checkReferences } from "./check_references.ts";
import type { DocumentSource } from "./document_source.ts";
import { DocumentWalk } from "./document_walk.ts";
import { entryInput } from "./entry_input.ts";
import { narrowedBy, NOT_NARROWED } from "./narrowing.ts";
import { NO_FILE, ProblemList } from "./problem_list.ts";
import { isResult, resultHint } from "./result_path.ts";
import { SourceFiles } from "./source_files.ts";

/**
 * Finds everything that can be known to be wrong before a document runs: in its own text, in what it imports, and in what it runs
 * (documents.md 1.2). Nothing is run, and no file is written.
 *
 * @param entry the path of the document, relative to the project root or absolute
 * @throws what `read` and `mediaSize` throw besides a `FileError` and a `PermissionRefused`
 */
export async function checkDocument(entry: string, options: CheckDocumentOptions): Promise<CheckedDocument> {
  const problems = new ProblemList();
  const files = new SourceFiles(options);
  const context = new CheckContext(options, problems, files);
  if (options.model !== undefined) {
    const problem = await context.modelProblem(options.model);
    if (problem !== undefined) problems.error(NO_FILE, problem);
  }
  const source = await openEntry(entry, context);
  if (source !== undefined) await checkFrom(source, context);
  return { entry: source?.file, files: files.documents, problems: problems.sorted() };
}

async function openEntry(
  entry: string,
  { files, problems }: CheckContext,
): Promise<DocumentSource | undefined> {
  const path = files.shown(entry);
  if (isResult(path)) {
    problems.error(NO_FILE, resultHint(path));
    return undefined;
  }
  const opened = await files.open(path);
  if ("value" in opened) return opened.value;
  problems.error(NO_FILE, opened.failure.message(entry));
  return undefined;
}

async function checkFrom(source: DocumentSource, context: CheckContext): Promise<void> {
  const { callers = [], input } = context.options;
  const isCallee = callers.length > 0;
  const { problems, files } = context;
  problems.name(source.file.path);
  const walk = new DocumentWalk(context);
  await walk.enter(source, {
    narrowing: callers.reduce(narrowedBy, NOT_NARROWED),
    input: await entryInput(source, context),
    isCallee,
    hasInputBlocks: isCallee || (input?.blocks ?? []).length > 0,
  });
  for (const document of walk.documents) {
    checkReferences(document, { problems, files: files.documents });
    for (const { message, at, ...place } of document.missing) {
      if (!document.canHaveFiles(at)) problems.error(place, message);
    }
  }
}
