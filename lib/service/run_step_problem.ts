import { PromptError } from "../core/prompt_error.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { openPrompts } from "../project/open_prompts.ts";
import type { OpenedPrompts } from "../project/open_prompts.ts";
import { promptNotFound } from "../prompt/prompt_not_found.ts";
import { promptTrouble } from "../prompt/prompt_trouble.ts";

/** Gives what is wrong with the name of a document or a prompt of a project; undefined when it is there. */
export function runStepProblem(
  { root, trustsCode }: { readonly root: string; readonly trustsCode: boolean },
): (file: string) => Promise<string | undefined> {
  let prompts: Promise<OpenedPrompts> | undefined;
  return async (file) =>
    /\.md$/i.test(file)
      ? await documentProblem(file, root)
      : promptProblem(file, await (prompts ??= openPrompts(root, { trustsCode })));
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
