import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { promptProblem } from "./prompt_problem.ts";

/**
 * Every key of the value has to be one of those known.
 *
 * @throws {PromptError} `define`, for the first that is not
 */
export function refuseUnknownKeys(
  value: object,
  { known, path, where = "" }: {
    readonly known: readonly string[];
    /** Of the prompt. */
    readonly path: string;
    /** Which value it is, as the message begins. */
    readonly where?: string;
  },
): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw promptProblem(
    path,
    `${where}unknown key ${JSON.stringify(unknown)}${didYouMeanNames(unknown, known)}`,
  );
}
