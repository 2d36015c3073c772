import type { DocumentFile } from "../parse/document/document.ts";
import { didYouMean } from "../parse/document/near.ts";

/** What is wrong with the inputs that a document is given (documents.md 10.3, 10.4). */
export interface InputProblem {
  /** Whether it is given something that it does not take; else something is missing. */
  readonly isUnknown: boolean;
  readonly message: string;
}

/** @param hint what is said behind a name that has no value */
export function inputProblems(
  { path, settings }: DocumentFile,
  { given, hint = () => "" }: {
    readonly given: Iterable<string>;
    readonly hint?: (name: string) => string;
  },
): readonly InputProblem[] {
  const names = new Set(given);
  const declared = new Set(settings.inputs.map(({ name }) => name));
  const unknown = [...names].filter((name) => !declared.has(name)).map((name) => ({
    isUnknown: true,
    message: `${path} has no input "${name}"${didYouMean(name, declared)}`,
  }));
  const missing = settings.inputs
    .filter((input) => input.default === undefined && !names.has(input.name))
    .map(({ name }) => ({ isUnknown: false, message: `input "${name}" needs a value${hint(name)}` }));
  return [...unknown, ...missing];
}
