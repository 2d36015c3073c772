import { isPromptTypes, promptTypes } from "../../service/look/prompt_types.ts";
import { isInside, maybeText, pathFromFolder } from "../../core/core.ts";
import { join, resolve } from "node:path";
import { hostFiles } from "../../host/files/files.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";
import { counted } from "../../render/run_tally.ts";
import { printableLine } from "../../render/shown_text.ts";
import { UsageError } from "../../service/exit_code.ts";
import { notLoadedLine, problemLines } from "./list.ts";
import type { PromptsHere } from "../here.ts";
import { tell } from "../page.ts";

/** What is wanted: `true` for the usual place. */
export interface WriteTypesFlags {
  readonly "write-types": readonly (string | true)[];
  readonly json: boolean;
}

/** The name of the file that nobody has named. */
const USUAL_NAME = "prompts.gen.ts";

/** `orrery list prompts --write-types`: writes the types of the project's prompts, when they are not written yet. */
export async function writeTypes(
  { app: { project: { root, cwd } }, index }: PromptsHere,
  { "write-types": [value = true, another], json }: WriteTypesFlags,
  terminal: Terminal,
): Promise<number> {
  const usage = (...problems: readonly string[]) => new UsageError(problems, "list");
  if (another !== undefined) throw usage("--write-types is given twice");
  if (value !== true && !value.endsWith(".ts")) {
    throw usage(`--write-types=${value}: expected the path of a .ts file`);
  }
  const file = value === true ? join(root, USUAL_NAME) : resolve(cwd, value);
  const shown = pathFromFolder(file, cwd);
  const missing = missingPrompts(index);
  if (missing !== "") {
    throw usage(`${shown} is not written, since prompts would be missing in it:`, missing.trimEnd());
  }
  const files = hostFiles({ root: cwd });
  const real = isInside(file, root) ? await files.resolve(file) : root;
  if (!isInside(real, root)) { // what is written into the project stays there, whatever links it holds
    throw usage(
      `${shown} is not written: a link leads out of the project, to ${real}; remove the link, or name that file`,
    );
  }
  const before = await maybeText(files, file);
  if (before !== undefined && !isPromptTypes(before)) {
    throw usage(`${shown} is there, and was not made by this command: name another file, or remove it`);
  }
  const text = promptTypes(index, file);
  const written = text !== before;
  if (written) await files.writeText(file, text);
  const prompts = index.located.size;
  const done = written ? "written" : "nothing has changed";
  return await tell(
    {
      json: { file: shown, written, prompts },
      text: `${printableLine(shown)}: ${done}, ${counted(prompts, "prompt")}\n`,
    },
    { json },
    terminal,
  );
}

/** Types that are missing are worse than old ones. */
function missingPrompts({ root, problemsOf, modules, notLoaded }: PromptIndex): string {
  const left = notLoaded.filter(({ file }) => modules.prompts.some((module) => module.file === file));
  return problemLines(problemsOf.prompts, { root }) + notLoadedLine({ notLoaded: left });
}
