/** The parameters do not fit the gadget; one issue a line, each behind its path. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** The result cannot be kept: it is no JSON. */
export class ResultError extends Error {
  override readonly name = "ResultError";
}
