import { idKey } from "../document/block_index.ts";
import type { LiveDocument } from "../document/live_document.ts";
import type { DocumentFile } from "../parse/document/document.ts";
import type { Selection } from "./document_source.ts";
import type { Narrowing } from "./narrowing.ts";
import type { ProblemPlace } from "./check_options.ts";

/** A reference, with the number of its operation. */
export interface PlacedReference extends ProblemPlace {
  readonly reference: string;
  readonly at: number;
}

/** A file that is not there. */
export interface MissingFile extends ProblemPlace {
  readonly message: string;
  readonly at: number;
}

/** What is known of one document that runs. Its operations, imported ones among them, are counted from 1 in the order in which they run. */
export class RunningDocument {
  readonly file: DocumentFile;
  /** With its input, before anything runs. */
  readonly live: LiveDocument;
  readonly narrowing: Narrowing;
  /** Who runs it, at which operation, and whether that surely comes to it. Absent: the entry. */
  readonly caller:
    | { readonly document: RunningDocument; readonly at: number; readonly isSure: boolean }
    | undefined;
  /** What it is given is not known in full: unknown blocks are left to the run. */
  readonly isCallee: boolean;
  /** Somebody gives it blocks, which may have any id. */
  hasInputBlocks: boolean;
  readonly references: PlacedReference[] = [];
  readonly missing: MissingFile[] = [];
  /** The number of the first `@import` that inserts a block, by its id as it is compared. */
  readonly importedAt = new Map<string, number>();
  readonly #imported = new Set<Selection>();
  readonly #walked = new Map<Selection, boolean>();
  #count = 0;
  #hasGoto = false;
  #canLeave = false;
  #firstImport = Infinity;
  /** The first operation that can insert headings nobody knows yet. */
  #firstDynamic = Infinity;
  /** The first operation that can make files. */
  #firstMaker = Infinity;

  constructor(options: {
    readonly file: DocumentFile;
    readonly live: LiveDocument;
    readonly narrowing: Narrowing;
    readonly caller?: RunningDocument["caller"];
    readonly isCallee: boolean;
    readonly hasInputBlocks: boolean;
  }) {
    this.file = options.file;
    this.live = options.live;
    this.narrowing = options.narrowing;
    this.caller = options.caller;
    this.isCallee = options.isCallee;
    this.hasInputBlocks = options.hasInputBlocks;
  }

  /** The number of the operation that is looked at. */
  get at(): number {
    return this.#count;
  }

  /** Goes on to the next operation. */
  count(): void {
    this.#count++;
  }

  noteGoto(): void {
    this.#hasGoto = true;
    this.#canLeave = true;
  }

  noteLeaving(): void {
    this.#canLeave = true;
  }

  /** Whether an operation above may keep those behind it from being run. */
  get canLeave(): boolean {
    return this.#canLeave;
  }

  /** The files from a document down to this one and back to it, where each surely runs the next. @param isSure whether this one does */
  roundTo(path: string, isSure: boolean): readonly string[] | undefined {
    if (!isSure) return undefined;
    if (this.file.path === path) return [path, path];
    const above = this.caller?.document.roundTo(path, this.caller.isSure);
    return above === undefined ? undefined : [...above.slice(0, -1), this.file.path, path];
  }

  /** @param selection absent when nothing is known of what it inserts */
  noteImport(selection?: Selection): void {
    this.#firstImport = Math.min(this.#firstImport, this.#count);
    if (selection === undefined || this.#imported.has(selection)) return;
    this.#imported.add(selection);
    for (const id of selection.ids) {
      const key = idKey(id);
      if (!this.importedAt.has(key)) this.importedAt.set(key, this.#count);
    }
  }

  /** Whether operations that are imported have to be looked at: what is imported again finds more blocks than before, not fewer. */
  noteWalk(selection: Selection, isInPlace: boolean): boolean {
    const wasInPlace = this.#walked.get(selection);
    if (wasInPlace === true || wasInPlace === isInPlace) return false;
    this.#walked.set(selection, isInPlace);
    return true;
  }

  noteDynamic(): void {
    this.#firstDynamic = Math.min(this.#firstDynamic, this.#count);
  }

  noteMaker(): void {
    this.#firstMaker = Math.min(this.#firstMaker, this.#count);
  }

  /** What counts as above an operation: with a jump anywhere, everything. */
  limit(at: number): number {
    return this.#hasGoto ? Infinity : at;
  }

  hasImportAbove(at: number): boolean {
    return this.#firstImport < this.limit(at);
  }

  hasDynamicAbove(at: number): boolean {
    return this.#firstDynamic < this.limit(at);
  }

  /** Whether a file that is not there may be made before an operation runs, by this document or by those that run it. */
  canHaveFiles(at: number): boolean {
    if (this.#firstMaker < this.limit(at)) return true;
    return this.caller?.document.canHaveFiles(this.caller.at) === true;
  }
}
