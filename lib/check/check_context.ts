import { idKey } from "../document/block_index.ts";
import { didYouMean } from "../parse/document/near.ts";
import { CALLEE_TOOL } from "../parse/document/parameters.ts";
import type { DocumentNode, DocumentProblem } from "../parse/document/tree.ts";
import type { CheckDocumentOptions, ProblemList, ProblemPlace } from "./check_options.ts";
import type { DocumentSource, ReadOperation } from "./document_source.ts";
import { narrowedFile } from "./narrowing.ts";
import type { RunningDocument } from "./running_document.ts";
import type { ReadFailure, SourceFiles } from "./source_files.ts";

/** An operation that is looked at. */
export interface PlacedOperation {
  readonly operation: ReadOperation;
  /** The file that it stands in; its paths resolve against that. */
  readonly path: string;
  readonly document: RunningDocument;
}

/** What the checks of all operations share. */
export class CheckContext {
  readonly options: CheckDocumentOptions;
  readonly problems: ProblemList;
  readonly files: SourceFiles;
  readonly #models = new Map<string | undefined, Promise<string | undefined>>();
  readonly #noted = new Set<DocumentSource>();
  #tools: Promise<ReadonlySet<string>> | undefined;

  constructor(options: CheckDocumentOptions, problems: ProblemList, files: SourceFiles) {
    this.options = options;
    this.problems = problems;
    this.files = files;
  }

  /** Tells what is wrong with a file by itself: what its operations say is told whether they run or not. */
  noteSource(source: DocumentSource): void {
    if (this.#noted.has(source)) return;
    this.#noted.add(source);
    const { file, hasOperations } = source;
    this.problems.name(file.path);
    // A file without operations may be anything: its front matter and its ids are nobody's.
    const found = hasOperations ? [...file.problems, ...repeatedIds(file.tree.nodes)] : file.tree.problems;
    for (const problem of found) this.problems.add(file.path, problem);
  }

  /** Tells why a file cannot be used; one that is not there may still be made. */
  tellFailure(
    failure: ReadFailure,
    { place, written, document }: {
      readonly place: ProblemPlace;
      readonly written: string;
      readonly document: RunningDocument;
    },
  ): void {
    const message = failure.message(written);
    if (failure.isMissing) document.missing.push({ ...place, message, at: document.at });
    else this.problems.error(place, message);
  }

  /** The shown path of a file that an operation reads; undefined, and an error, where front matter does not allow it. */
  readable(written: string, { path, document, place }: PlacedPath): string | undefined {
    const shown = this.files.shown(written, path);
    const { root } = this.options;
    const against = narrowedFile(document.narrowing, { kind: "read", root, path: shown, written });
    if (against === undefined) return shown;
    this.problems.error(place, against);
    return undefined;
  }

  modelProblem(name: string | undefined): Promise<string | undefined> {
    let problem = this.#models.get(name);
    if (problem === undefined) {
      problem = Promise.resolve(this.options.modelProblem(name));
      this.#models.set(name, problem);
    }
    return problem;
  }

  async toolProblem(name: string): Promise<string | undefined> {
    this.#tools ??= Promise.resolve(this.options.toolNames())
      .then((names) => new Set([...names, CALLEE_TOOL]));
    const tools = await this.#tools;
    return tools.has(name) ? undefined : `unknown tool "${name}"${didYouMean(name, tools)}`;
  }
}

/** Where a path is written. */
export interface PlacedPath {
  readonly path: string;
  readonly document: RunningDocument;
  readonly place: ProblemPlace;
}

/** Where a parameter of an operation is told; the operation itself, where it has none of that name. */
export function placeOf({ operation, path }: PlacedOperation, key?: string): ProblemPlace {
  const { node, fields } = operation;
  return { file: path, line: (key === undefined ? undefined : fields?.lines.get(key)) ?? node.line };
}

/** Explicit ids that stand in one file twice, in any case (documents.md 5.1). */
function repeatedIds(nodes: readonly DocumentNode[]): readonly DocumentProblem[] {
  const lines = new Map<string, number>();
  return nodes.flatMap((node): readonly DocumentProblem[] => {
    if (node.kind !== "heading" || node.explicitId === undefined) return [];
    const { line, explicitId } = node;
    const key = idKey(explicitId);
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    return first === undefined ? [] : [{
      severity: "error",
      line,
      column: 1,
      message: `id "${explicitId}" is already used on line ${first}`,
    }];
  });
}
