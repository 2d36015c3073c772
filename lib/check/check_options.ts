import { byPlace } from "../core/core.ts";
import { LiveDocument } from "../document/live_document.ts";
import { nodeTexts } from "../document/live_node.ts";
import type { DocumentFile } from "../parse/document/document.ts";
import type { MergeMode } from "../parse/document/operation.ts";
import type { DocumentProblem } from "../parse/document/tree.ts";

/** A problem with the file it is in, as messages name it; the empty text for what is in no file, such as a bad option. */
export interface FileProblem extends DocumentProblem {
  readonly file: string;
}

/** What is known of a document before it runs. */
export interface CheckedDocument {
  /** Absent when it could not be read. */
  readonly entry: DocumentFile | undefined;
  /** Every document that was read, by its shown path, in the order in which they are named. */
  readonly files: ReadonlyMap<string, DocumentFile>;
  /** Errors and warnings, each once: what is in no file, then by file (the entry first) and line. */
  readonly problems: readonly FileProblem[];
}

/** A value that is there at once, or soon. */
export type Soon<T> = T | Promise<T>;

/**
 * What the user granted. Paths are relative to the project root, or absolute where they lie outside; links are to be followed, and a
 * path need not exist. Each may be asked often, so an answer of a person is to be kept.
 */
export interface DocumentGrants {
  mayRun(): Soon<boolean>;
  /** The command that reads the scripts of `@shell`, where only some commands may be run; absent: any or none. */
  readonly shell?: string;
  /** What is said of a program that is not allowed, where no flag allows one. */
  readonly runHint?: string;
  /** Every path inside the project may be. */
  mayRead(path: string): Soon<boolean>;
  /** Without a path: whether anything at all may be written. */
  mayWrite(path?: string): Soon<boolean>;
  /** Whether what may be written is a list of paths, and not the whole project. */
  readonly isWriteListed: boolean;
  /** A path as the flags take it, who count from the working folder. Default: as the document writes it. */
  flagPath?(path: string): string;
  /** `host` or `host:port`; without: whether there is any that may be called. */
  mayConnect(host?: string): Soon<boolean>;
}

/** What the command line gives the entry document. */
export interface DocumentCommandInput {
  readonly prompt?: string;
  /** By the names of inputs. */
  readonly values?: Readonly<Record<string, string>>;
  /** `--block FILE#REF`; the files are relative to the project root or absolute. */
  readonly blocks?: readonly { readonly file: string; readonly reference: string }[];
}

/** What a check needs of the world. */
export interface CheckDocumentOptions {
  /** The project root: absolute. */
  readonly root: string;
  /**
   * The text of a file, a byte order mark kept. The path is relative to the root, with `/`, or absolute where it lies outside.
   * It throws a `FileError`, or a `PermissionRefused` where links lead to what may not be read (its `flag` is empty where a
   * `--deny` flag forbids it). Each path is read once.
   */
  read(path: string): Promise<string>;
  /** Why a file cannot be shown to a model, to be said behind its name; throws as `read` does. Absent: media are only checked by their names. */
  mediaProblem?(path: string): Promise<string | undefined>;
  readonly grants: DocumentGrants;
  /** The configured tools. Asked only when an operation names tools. */
  toolNames(): Soon<readonly string[]>;
  /**
   * What is wrong with the name of a model, as in `unknown model "zzz" (did you mean "fast"?)` or `unknown provider "x"`; undefined
   * when it is fine. No name means the default of the configuration: `no model is configured`.
   */
  modelProblem(name: string | undefined): Soon<string | undefined>;
  /** Default: nothing. */
  readonly input?: DocumentCommandInput;
  /** `--model`. */
  readonly model?: string;
  /** `--mode`. */
  readonly mode?: MergeMode;
  /**
   * The documents that run this one, the first of them the entry: it is a callee then. What it is given is not known here, so that
   * nothing is told to be missing of it and unknown blocks are left to the run; and it may use what all of them may. Default: none.
   */
  readonly callers?: readonly Pick<DocumentFile, "path" | "settings">[];
}

/** A problem as a line of text, in the form of documents.md 1.3. */
export function problemLine({ file, line, column, severity, message }: FileProblem): string {
  const text = `${severity}: ${message.replaceAll(/\s*\n\s*/g, " ")}`;
  return file === "" ? text : `${file}:${line}:${column}: ${text}`;
}

/** Where a problem is told; a column that is left out is the first. */
export interface ProblemPlace {
  /** Empty for what is in no file. */
  readonly file: string;
  readonly line: number;
}

/** What is in no file: options of the command line. */
export const NO_FILE: ProblemPlace = { file: "", line: 0 };

/** Collects problems in any order, each once. */
export class ProblemList {
  readonly #byFile = new Map<string, Map<string, FileProblem>>([["", new Map()]]);

  /** Gives a file its place among the others. */
  name(file: string): void {
    if (!this.#byFile.has(file)) this.#byFile.set(file, new Map());
  }

  add(file: string, { severity, line, column, message }: DocumentProblem): void {
    this.name(file);
    const key = `${line}:${column}:${severity}:${message}`;
    const problems = this.#byFile.get(file);
    if (!problems?.has(key)) problems?.set(key, { file, severity, line, column, message });
  }

  error({ file, line }: ProblemPlace, message: string): void {
    this.add(file, { severity: "error", line, column: 1, message });
  }

  warn({ file, line }: ProblemPlace, message: string): void {
    this.add(file, { severity: "warning", line, column: 1, message });
  }

  /** By file in the order in which they were named, and by line and column. */
  sorted(): readonly FileProblem[] {
    return [...this.#byFile.values()].flatMap((problems) => [...problems.values()].sort(byPlace));
  }
}

/** The texts of the blocks that a document is given, of files that its check has read; a file that it has not gives none. */
export function givenBlocks(
  { blocks = [] }: Pick<DocumentCommandInput, "blocks">,
  { files }: Pick<CheckedDocument, "files">,
): string {
  return blocks.map(({ file, reference }) => {
    const source = files.get(file);
    return source === undefined ? "" : nodeTexts(new LiveDocument(source.tree).select([reference]));
  }).join("\n\n");
}

/** The file and the block that `FILE#REF` names; undefined for what names none. */
export function maybeBlock(text: string): { readonly file: string; readonly reference: string } | undefined {
  const at = text.lastIndexOf("#");
  return at < 1 || at === text.length - 1
    ? undefined
    : { file: text.slice(0, at), reference: text.slice(at + 1) };
}
