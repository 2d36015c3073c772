import { FileError, ModelError, PermissionRefused } from "../../core/core.ts";
import { BlockReferenceError } from "../../document/find_block.ts";
import { EffectError } from "../effect.ts";

/** A document stopped at an operation that failed. The message is its line: `FILE:LINE:1: error: @name: TEXT` (documents.md 11.3). */
export class DocumentFailure extends Error {
  override readonly name = "DocumentFailure";
  /** That of the operation that failed first, in whichever file. */
  readonly innermost: string;

  constructor(line: string, options: { readonly innermost: string; readonly cause: unknown }) {
    super(line, { cause: options.cause });
    this.innermost = options.innermost;
  }
}

/** Whether an operation failed, and not the run that it is a part of. */
export function isOperationFailure(error: unknown): error is Error {
  if (error instanceof EffectError) return error.isKept;
  return error instanceof OperationError || error instanceof BlockReferenceError ||
    error instanceof FileError ||
    error instanceof PermissionRefused || error instanceof CalleeFailure ||
    (error instanceof ModelError && error.code !== "aborted");
}

/** A document that an operation ran has failed. */
export class CalleeFailure extends Error {
  override readonly name = "CalleeFailure";
  readonly innermost: string;

  constructor(file: string, failure: DocumentFailure) {
    super(`${file} failed: ${failure.innermost}`, { cause: failure });
    this.innermost = failure.innermost;
  }
}

/** An operation of a document could not do its work: the document stops there, unless it says otherwise (documents.md 1.2, 9.7). */
export class OperationError extends Error {
  override readonly name = "OperationError";
}
