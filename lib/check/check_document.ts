import { idKey, slug } from "../document/block_index.ts";
import { lostHeadings, readReference } from "../document/find_block.ts";
import { type DocumentInputs, INPUT_ID } from "../document/input_block.ts";
import { nodeTexts, piecesOf } from "../document/live_node.ts";
import { type DocumentFile, parseResult } from "../parse/document/document.ts";
import { type HeadingLine, headingLine } from "../parse/document/lines.ts";
import type { DocumentNode } from "../parse/document/tree.ts";
import { CheckContext } from "./check_context.ts";
import { type CheckDocumentOptions, type CheckedDocument, NO_FILE, ProblemList } from "./check_options.ts";
import { type DocumentSource, isResult, missingBlock, resultHint } from "./document_source.ts";
import { DocumentWalk, inputProblems } from "./document_walk.ts";
import { narrowedBy, NOT_NARROWED } from "./narrowing.ts";
import { NearIds } from "./near_ids.ts";
import type { PlacedReference, RunningDocument } from "./running_document.ts";
import { SourceFiles } from "./source_files.ts";

/**
 * Finds everything that can be known to be wrong before a document runs: in its own text, in what it imports, and in what it runs
 * (documents.md 1.2). Nothing is run, and no file is written.
 *
 * @param entry the path of the document, relative to the project root or absolute
 * @throws what `read` and `mediaProblem` throw besides a `FileError` and a `PermissionRefused`
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

/** What the command line gives a document; what is wrong with it is told (documents.md 10.4). */
async function entryInput({ file }: DocumentSource, context: CheckContext): Promise<DocumentInputs> {
  const { input = {}, callers = [] } = context.options;
  const { prompt, values = {} } = input;
  const given = Object.keys(values);
  const hint = (name: string): string => ` (--input ${name}=...)`;
  for (const { message } of callers.length > 0 ? [] : inputProblems(file, { given, hint })) {
    context.problems.error(NO_FILE, message);
  }
  const text = await blockText(context);
  return {
    pieces: piecesOf(parseResult(text, { newline: file.tree.newline, operations: false }).nodes),
    values: file.settings.inputs.map(({ name, default: fallback }) => ({
      name,
      value: Object.hasOwn(values, name) ? values[name] ?? "" : fallback ?? "",
    })),
    prompt,
  };
}

async function blockText({ options, files, problems }: CheckContext): Promise<string> {
  const texts: string[] = [];
  for (const { file, reference } of options.input?.blocks ?? []) {
    const opened = await files.open(files.shown(file));
    if ("failure" in opened) {
      problems.error(NO_FILE, opened.failure.message(file));
      continue;
    }
    const source = opened.value;
    const selection = source.select([reference]);
    for (const message of selection.problems) problems.error(NO_FILE, `${message} of "${file}"`);
    if (selection.problems.length === 0) texts.push(nodeTexts(source.live.select([reference])));
  }
  return texts.join("\n\n");
}

// The static check of references (documents.md 5.9). It comes last: a jump makes everything below count as above.

/** Tells the references of a document that lead nowhere. @param files everything that was read */
function checkReferences(
  document: RunningDocument,
  { problems, files }: { readonly problems: ProblemList; readonly files: ReadonlyMap<string, DocumentFile> },
): void {
  const known = new KnownBlocks(document);
  let promised: ReadonlySet<string> | undefined;
  for (const placed of document.references) {
    const found = known.problemOf(placed);
    if (found === undefined) continue;
    if (!found.isLeft) problems.error(placed, found.message);
    else {
      promised ??= promisedIds(files);
      if (!isPromised(found.id, promised)) problems.warn(placed, found.message);
    }
  }
}

interface Found {
  readonly message: string;
  /** The first id of the reference. */
  readonly id: string;
  /** The run has to tell: what is found is only likely not meant. */
  readonly isLeft: boolean;
}

const NUMBERED = /^(.+)-[1-9][0-9]*$/s;

class KnownBlocks {
  readonly #document: RunningDocument;
  #near: NearIds | undefined;
  #lost: ReturnType<typeof lostHeadings> | undefined;

  constructor(document: RunningDocument) {
    this.#document = document;
  }

  problemOf({ reference, at }: PlacedReference): Found | undefined {
    const { live, isCallee } = this.#document;
    const [id = "", ...path] = readReference(reference).steps;
    const limit = this.#document.limit(at);
    const isOwn = live.maybeFind(id) !== undefined;
    const isDynamic = this.#document.hasDynamicAbove(at);
    if (isOwn || this.#isImported(id, limit)) {
      const isOpen = isDynamic || this.#document.hasImportAbove(at) || !isOwn || this.#mayBeAnother(id);
      const message = isOpen || path.length === 0
        ? undefined
        : missingBlock(live, { reference, suggest: () => "" });
      return message === undefined ? undefined : { message, id, isLeft: false };
    }
    if (this.#mayBeNumbered(id, at)) return undefined;
    if (!isDynamic && !isCallee) {
      this.#lost ??= lostHeadings(live.nodes());
      const hint = this.#lost.get(idKey(id)) ?? this.#known.didYouMean(id, limit);
      return { message: `no block "${id}"${hint}`, id, isLeft: false };
    }
    if (isCallee && this.#document.hasInputBlocks) return undefined;
    const near = NUMBERED.test(id) ? undefined : this.#known.nearest(id, limit);
    return near === undefined
      ? undefined
      : { message: `no block "${id}" yet (did you mean "${near}"?)`, id, isLeft: true };
  }

  #isImported(id: string, limit: number): boolean {
    return (this.#document.importedAt.get(idKey(id)) ?? Infinity) < limit;
  }

  /** An imported block whose id is taken gets a number. */
  #mayBeNumbered(id: string, at: number): boolean {
    const stem = NUMBERED.exec(id)?.[1];
    return stem !== undefined && this.#document.hasImportAbove(at) &&
      this.#isImported(stem, this.#document.limit(at));
  }

  /** Blocks that a callee is given stand first, so that they take the ids that its titles would give. */
  #mayBeAnother(id: string): boolean {
    if (!this.#document.isCallee || !this.#document.hasInputBlocks) return false;
    const content = this.#document.live.maybeFind(id)?.content;
    return content?.kind !== "heading" || content.explicitId === undefined;
  }

  get #known(): NearIds {
    if (this.#near !== undefined) return this.#near;
    const near = this.#near = new NearIds();
    for (const { id } of this.#document.live.nodes()) if (id !== undefined) near.add(id);
    for (const [id, at] of this.#document.importedAt) near.add(id, at);
    return near;
  }
}

const DEFAULT_IDS: readonly string[] = ["llm-response-block", "return-block", INPUT_ID];

/** The ids that results may have: those of headers, and of blocks that another document may return. */
function promisedIds(files: ReadonlyMap<string, DocumentFile>): ReadonlySet<string> {
  const ids = new Set(DEFAULT_IDS);
  for (const { tree, operations } of files.values()) {
    for (const node of tree.nodes) for (const id of idsOf(node)) ids.add(id);
    for (const fields of operations.values()) {
      if (fields.name === "import" || fields.name === "goto" || fields.useHeader === undefined) continue;
      const heading = headingLine(fields.useHeader);
      if (heading !== undefined) ids.add(keyOf(heading));
    }
  }
  return ids;
}

function idsOf(node: DocumentNode): readonly string[] {
  return node.kind === "heading" ? [keyOf(node)] : [];
}

function keyOf({ explicitId, title }: Pick<HeadingLine, "explicitId" | "title">): string {
  return idKey(explicitId ?? slug(title));
}

function isPromised(id: string, promised: ReadonlySet<string>): boolean {
  const key = idKey(id);
  return promised.has(key) || key.endsWith("-tool-response-block");
}
