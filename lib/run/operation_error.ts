/** An operation of a document could not do its work: the document stops there, unless it says otherwise (documents.md 1.2, 9.7). */
export class OperationError extends Error {
  override readonly name = "OperationError";
}
