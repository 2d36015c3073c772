import { PromptError, type PromptErrorCode } from "../core/prompt_error.ts";

/** What is wrong with the prompt of a path; one without a path is not named. */
export function promptProblem(
  path: string,
  message: string,
  options: { readonly code?: PromptErrorCode; readonly cause?: unknown } = {},
): PromptError {
  return new PromptError(path === "" ? message : `prompt "${path}": ${message}`, {
    code: "define",
    ...options,
  });
}
