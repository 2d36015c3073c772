import { isInside } from "../catalog/project_path.ts";
import { dirname, resolve } from "../core/path.ts";
import type { Problem } from "../core/prompt_error.ts";
import { promptIndex } from "../project/prompt_index.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import type { CheckPlaces } from "./check_places.ts";
import type { CheckReport } from "./check_report.ts";
import type { CheckTargets } from "./check_targets.ts";

/**
 * Tells what is wrong with the prompts, tactics and profiles of the projects that were named. Gives how many modules of theirs were not looked
 * at: that would run their code.
 */
export async function checkPrompts(
  { prompts, folders }: Pick<CheckTargets, "prompts" | "folders">,
  { places, report }: { readonly places: CheckPlaces; readonly report: CheckReport },
): Promise<number> {
  const indexes = new Map<string, Promise<PromptIndex>>();
  const indexOf = (root: string): Promise<PromptIndex> => {
    let index = indexes.get(root);
    if (index === undefined) indexes.set(root, index = promptIndex(root, { trustsCode: false }));
    return index;
  };
  const notLoaded = new Set<string>();
  const look = async (folder: string, isWanted: (path: string) => boolean): Promise<void> => {
    const root = places.rootOf(folder);
    if (await places.of(folder) === undefined) return;
    const index = await indexOf(root);
    const pathOf = ({ file }: Problem): string => resolve(root, file);
    for (const { claim: { source: { path } } } of index.located.values()) {
      if (isWanted(path)) report.file(path);
    }
    for (const problem of index.problems) {
      const path = pathOf(problem);
      if (isWanted(path)) addProblem(path, { problem, report });
    }
    for (const problem of index.notLoaded) if (isWanted(pathOf(problem))) notLoaded.add(pathOf(problem));
  };
  for (const folder of folders) await look(folder, (path) => isInside(path, folder));
  for (const prompt of prompts) {
    await look(dirname(prompt), (path) => path === prompt);
    if (!report.has(prompt)) addUnfound(prompt, report);
  }
  return notLoaded.size;
}

function addProblem(
  path: string,
  { problem: { line, column = 1, message }, report }: {
    readonly problem: Problem;
    readonly report: CheckReport;
  },
): void {
  for (const text of message.split("\n").filter((each) => each.trim() !== "")) {
    report.add({ kind: "prompt", path, line, column, severity: "error", message: text.trim() });
  }
}

/** Settings are looked at when their project is opened. */
function addUnfound(path: string, report: CheckReport): void {
  report.file(path);
  if (path.endsWith(".yaml")) return;
  const message = "nothing finds this prompt: it is in no folder that prompts.folders of orrery.yaml names";
  report.add({ kind: "prompt", path, line: 1, column: 1, severity: "warning", message });
}
