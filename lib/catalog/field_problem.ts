import type { FieldPath } from "../parse/front_matter.ts";

/** Something wrong with a part of a definition. */
export interface FieldProblem {
  /** The way to it from the top of the front matter; empty for what is wrong with the whole. */
  readonly path: FieldPath;
  readonly message: string;
}

/** Why no prompt can be defined by some fields; undefined when one can. */
export type Refusal = (fields: Readonly<Record<string, unknown>>) => string | undefined;

/** A problem, unless there is none. */
export function problemAt(path: FieldPath, message: string | undefined): readonly FieldProblem[] {
  return message === undefined ? [] : [{ path, message }];
}
