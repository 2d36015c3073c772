import { PromptError, type PromptErrorCode } from "../core/prompt_error.ts";

/**
 * The path of a prompt in its one form: without leading, trailing and doubled `/` (prompts.md 1).
 *
 * @param code of the error; default `define`
 * @throws {PromptError} when a segment is `.` or `..`.
 */
export function promptPath(path: string, code: PromptErrorCode = "define"): string {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.some((segment) => segment === "." || segment === "..")) {
    throw new PromptError(`bad prompt path ${JSON.stringify(path)}: "." and ".." are not allowed`, { code });
  }
  return segments.join("/");
}
