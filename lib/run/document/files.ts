import { dirname, isAbsolute, join, sep } from "node:path";
import { fileMissing, fileOutside } from "../../check/source_files.ts";
import {
  BYTE_ORDER_MARK,
  FileError,
  type Files,
  fileText,
  hasByteOrderMark,
  PermissionRefused,
} from "../../core/core.ts";
import { MAX_DOCUMENT_BYTES } from "../../parse/document/document.ts";
import { OperationError } from "./failure.ts";

/** The text of a document's file, with its byte order mark. @throws {FileError}, {PermissionRefused} */
export async function readDocumentText(
  files: Files,
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<string> {
  const bytes = await files.readBytes(path, options);
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new FileError(`${JSON.stringify(path)} is larger than 16 MiB`, { path, code: "other" });
  }
  return (hasByteOrderMark(bytes) ? BYTE_ORDER_MARK : "") + fileText(path, bytes);
}

/** What keeps a file from being used, in the words of documents (documents.md 10.1, 13.1). @param named as the document names it */
export function fileFailure(error: unknown, named: string): unknown {
  if (error instanceof PermissionRefused && error.request.kind === "read" && error.flag !== "") {
    return new OperationError(fileOutside(named, { kind: "read", flag: error.flag }), { cause: error });
  }
  if (error instanceof FileError && error.code === "not-found") {
    return new OperationError(fileMissing(named), { cause: error });
  }
  return error;
}

/** A path that a document names, from the folder of that document: relative to the root where it lies inside, with `/` (documents.md 10.1). */
export function pathFrom(file: string, named: string): string {
  const path = isAbsolute(named) ? named : join(dirname(file), named);
  return path.replaceAll(sep, "/");
}

/** The result document of a file: beside it, with another ending (documents.md 12.1). */
export function resultPath(file: string): string {
  return file.replace(/\.[^./\\]*$/, "") + ".ctx";
}
