import { PromptError } from "../core/prompt_error.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { type OpenedPrompts, openPrompts } from "../project/open_prompts.ts";
import { promptNotFound } from "../prompt/registry.ts";
import { promptTrouble } from "../prompt/prompt_trouble.ts";

/** Why a document or a prompt is not there; where it `isOpen`, a module whose code was not loaded may have it. */
export interface RunProblem {
  readonly message: string;
  readonly isOpen?: boolean;
}

/** Gives what is wrong with the name of a document or a prompt of a project; undefined when it is there. */
export function runStepProblem(
  { root, trustsCode }: { readonly root: string; readonly trustsCode: boolean },
): (file: string) => Promise<RunProblem | undefined> {
  let prompts: Promise<OpenedPrompts> | undefined;
  return async (file) => {
    if (/\.md$/i.test(file)) return problemOf(await documentProblem(file, root));
    const opened = await (prompts ??= openPrompts(root, { trustsCode }));
    const isOpen = !trustsCode && opened.problems.some((problem) => MODULE.test(problem.file));
    return problemOf(promptProblem(file, opened), isOpen);
  };
}

const MODULE = /\.[cm]?[jt]s$/;

function problemOf(message: string | undefined, isOpen = false): RunProblem | undefined {
  return message === undefined ? undefined : { message, isOpen };
}

async function documentProblem(file: string, root: string): Promise<string | undefined> {
  try {
    const { kind } = await hostFiles({ root }).stat(file);
    return kind === "folder" ? `"${file}" is a folder, not a document` : undefined;
  } catch (error) {
    if (error instanceof FileError) return error.message;
    throw error;
  }
}

function promptProblem(path: string, { registry, problems }: OpenedPrompts): string | undefined {
  try {
    if (registry.has(path)) return undefined;
  } catch (error) {
    if (error instanceof PromptError) return error.message;
    throw error;
  }
  const { isThere, lines, broken } = promptTrouble(path, problems);
  const what = isThere ? `prompt "${path}" cannot be used:` : promptNotFound(path, registry.keys(), broken);
  return [what, ...lines].join(" ");
}
