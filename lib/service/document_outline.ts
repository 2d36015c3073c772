import { dirname, resolve } from "node:path";
import { type Json, toJson } from "../core/json.ts";
import { LiveDocument } from "../document/live_document.ts";
import { hostFiles } from "../host/files.ts";
import { realPath, workingFolder } from "../host/paths.ts";
import { type DocumentFile, readDocument } from "../parse/document/document.ts";
import { readDocumentMapping } from "../parse/document/mapping.ts";
import type { OperationNode } from "../parse/document/tree.ts";
import type { OperationFields } from "../parse/document/operation.ts";
import { documentPath } from "../project/document_place.ts";
import { openSettings, type ProjectSettings } from "../project/project.ts";
import { readDocumentText } from "../run/document_text.ts";
import { UsageError } from "./exit_code.ts";

/** A document that is looked at, not run. */
export interface SeenDocument {
  readonly project: ProjectSettings;
  /** Absolute and real. */
  readonly path: string;
  readonly file: DocumentFile;
}

/** Reads the document that a word names. @throws {UsageError} for another kind of file, {FileError} */
export async function seeDocument(word: string, command: "show" | "graph"): Promise<SeenDocument> {
  const cwd = workingFolder();
  if (/\.ctx$/i.test(word)) {
    const document = word.replace(/\.ctx$/i, ".md");
    throw new UsageError([
      `${JSON.stringify(word)} is the result of a document: name the document itself, ${document}`,
    ], { command });
  }
  if (!/\.md$/i.test(word)) {
    throw new UsageError([
      `Cannot ${command} ${JSON.stringify(word)} as a document: expected a file that ends with ".md"`,
    ], { command });
  }
  const path = realPath(resolve(cwd, word));
  const text = await readDocumentText(hostFiles({ root: cwd }), word);
  const project = await openSettings(dirname(path), { cwd });
  return { project, path, file: await readDocument(text, { path: documentPath(word, project) }) };
}

/** An operation, in short. */
export interface OutlinedOperation {
  readonly node: OperationNode;
  /** The id of the block whose section it stands in. */
  readonly section: string | undefined;
  /** As they are written. */
  readonly parameters: Readonly<Record<string, Json>>;
  /** Absent where there is an error in it. */
  readonly fields: OperationFields | undefined;
}

/** A block that references can name. */
export interface OutlinedBlock {
  readonly id: string;
  /** The line without its `#`s. */
  readonly title: string;
  readonly level: number;
  /** From 1. */
  readonly line: number;
  /** How many blocks it stands below. */
  readonly depth: number;
}

/** A document in short, before anything runs. */
export interface DocumentOutline {
  readonly live: LiveDocument;
  readonly operations: readonly OutlinedOperation[];
  readonly blocks: readonly OutlinedBlock[];
}

/** What a document consists of. */
export async function outlineOf({ tree, operations }: DocumentFile): Promise<DocumentOutline> {
  const live = new LiveDocument(tree);
  const outlined: OutlinedOperation[] = [];
  const blocks: OutlinedBlock[] = [];
  const levels: number[] = [];
  let section: string | undefined;
  for (const { content, id } of live.nodes()) {
    if (content.kind === "heading" && id !== undefined) {
      const { title, level, line } = content;
      while ((levels.at(-1) ?? 0) >= level) levels.pop();
      blocks.push({ id, title, level, line, depth: levels.length });
      levels.push(level);
      section = id;
    } else if (content.kind === "operation") {
      const parameters = await parametersOf(content);
      outlined.push({ node: content, section, parameters, fields: operations.get(content) });
    }
  }
  return { live, operations: outlined, blocks };
}

async function parametersOf({ body, line }: OperationNode): Promise<Readonly<Record<string, Json>>> {
  const { values } = await readDocumentMapping(body === "" ? "" : `${body}\n`, {
    linesAbove: line,
    notMapping: "",
    keyName: "parameter",
  });
  return Object.fromEntries([...values].map(([key, value]) => [key, toJson(value)]));
}
