import { BlockReferenceError } from "../document/reference.ts";
import { FileError, PermissionRefused } from "../core/world.ts";
import { ModelError } from "../core/model.ts";
import { EffectError } from "./effect.ts";
import { OperationError } from "./operation_error.ts";

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
  if (error instanceof EffectError) return error.failure.code !== "unverified";
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
