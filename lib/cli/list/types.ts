import { promptTypesFile, TYPES_FILE_MARK } from "../../catalog/prompts/types_file.ts";
import { referencedModules } from "../../catalog/prompts/type_text.ts";
import { isInside, maybeText, pathFromFolder, projectPath } from "../../core/core.ts";
import { join, resolve } from "node:path";
import { hostFiles } from "../../host/files/files.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";
import { printableLine } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { notLoadedLine, problemLines } from "./list.ts";
import type { PromptsHere } from "../here.ts";
import { jsonPage } from "../page.ts";

/** What is wanted: `true` for the usual place. */
export interface WriteTypesFlags {
  readonly "write-types": readonly (string | true)[];
  readonly json: boolean;
}

/** The name of the file that nobody has named. */
const USUAL_NAME = "prompts.gen.ts";

/** `orrery list prompts --write-types`: writes the types of the project's prompts, when they are not written yet. */
export async function writeTypes(
  { project: { root, cwd }, index }: PromptsHere,
  flags: WriteTypesFlags,
  terminal: Terminal,
): Promise<number> {
  const file = fileOf(flags["write-types"], { root, cwd });
  const shown = pathFromFolder(file, cwd);
  refuseIncomplete(index, shown);
  const files = hostFiles({ root: cwd });
  if (isInside(file, root)) refuseOutside(await files.resolve(file), { root, shown });
  const before = await maybeText(files, file);
  if (before !== undefined && !before.startsWith(TYPES_FILE_MARK)) {
    throw new UsageError(
      `${shown} is there, and was not made by this command: name another file, or remove it`,
      "list",
    );
  }
  const text = typesText(index, { file, root });
  const written = text !== before;
  if (written) await files.writeText(file, text);
  const prompts = index.located.size;
  await terminal.stdout.write(
    flags.json
      ? jsonPage({ file: shown, written, prompts })
      : `${printableLine(shown)}: ${written ? "written" : "nothing has changed"}, ${countWords(prompts)}\n`,
  );
  return EXIT.ok;
}

function fileOf(
  given: WriteTypesFlags["write-types"],
  { root, cwd }: { readonly root: string; readonly cwd: string },
): string {
  const [value = true] = given;
  if (given.length > 1) throw new UsageError("--write-types is given twice", "list");
  if (value === true) return join(root, USUAL_NAME);
  if (value.endsWith(".ts")) return resolve(cwd, value);
  throw new UsageError(`--write-types=${value}: expected the path of a .ts file`, "list");
}

/** What is written into the project stays there, whatever links it holds. */
function refuseOutside(
  real: string,
  { root, shown }: { readonly root: string; readonly shown: string },
): void {
  if (isInside(real, root)) return;
  throw new UsageError(
    `${shown} is not written: a link leads out of the project, to ${real}; remove the link, or name that file`,
    "list",
  );
}

/** Types that are missing are worse than old ones. */
function refuseIncomplete({ root, problemsOf, modules, notLoaded }: PromptIndex, shown: string): void {
  const files = new Set(modules.prompts.map(({ file }) => file));
  const left = notLoaded.filter(({ file }) => files.has(file));
  const missing = problemLines(problemsOf.prompts, { root }) + notLoadedLine({ notLoaded: left });
  if (missing === "") return;
  throw new UsageError(
    [`${shown} is not written, since prompts would be missing in it:`, missing.trimEnd()],
    "list",
  );
}

function typesText(
  { located, modules }: PromptIndex,
  { file, root }: { readonly file: string; readonly root: string },
): string {
  const prompts = [...located.values()];
  const paths = [
    ...[...modules.prompts, ...modules.tactics].map(({ path }) => path),
    ...prompts.flatMap(referencedModules),
  ].filter((path) => path !== file);
  return promptTypesFile({
    prompts,
    modules: new Map(paths.map((path) => [projectPath(path, root), path])),
    file,
  });
}

function countWords(count: number): string {
  return count === 1 ? "1 prompt" : `${count} prompts`;
}
