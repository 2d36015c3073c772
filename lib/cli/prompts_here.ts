import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import type { ProjectFlags, ProjectSettings } from "../project/project.ts";
import { promptIndex } from "../project/prompt_index.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { printable } from "../render/shown_text.ts";

/** The project of the working folder, with its prompts. */
export interface PromptsHere {
  readonly project: ProjectSettings;
  readonly index: PromptIndex;
}

/** How they are looked at. */
export interface PromptsHereOptions {
  readonly flags: ProjectFlags;
  readonly terminal: Terminal;
  /** Whether what was ignored of the settings is told. Default true. */
  readonly tellsNotices?: boolean;
}

/** Looks at the prompts of the project that the working folder belongs to, for commands that ask nobody. */
export async function promptsHere(
  { flags, terminal, tellsNotices = true }: PromptsHereOptions,
): Promise<PromptsHere> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  const notice = (text: string) =>
    void (tellsNotices && terminal.stderr.write(`warning: ${printable(text)}\n`));
  project.config.notices.forEach(notice);
  const index = await promptIndex(project.root, { trustsCode: flags["trust-code"] === true });
  return { project, index };
}
