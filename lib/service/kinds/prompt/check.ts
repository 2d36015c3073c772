import type { CheckedFiles, CheckOptions } from "../../check/targets.ts";
import { basename, dirname, resolve } from "node:path";
import { isInside, maybeText, type Problem, spanAt } from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { readPromptFile } from "../../../parse/files/prompt.ts";
import { type LineProblem, splitFrontMatter } from "../../../parse/yaml/front_matter.ts";
import { modelProblem } from "../../../project/models.ts";
import { type PromptIndex, promptIndex } from "../../../project/prompt_index.ts";
import { templateProblems } from "../../../prompt/prompt_text.ts";
import type { AnyPrompt } from "../../../prompt/prompt.ts";
import { offerProblems } from "../../../run/turn/offered.ts";
import type { CheckPlace } from "../../check/places.ts";
import type { CheckReport } from "../../check/report.ts";

/**
 * Tells what is wrong with the prompts, tactics and profiles of the projects that were named. Modules of theirs are not looked at, since that
 * would run their code: the report counts them.
 */
export async function check(
  { named, found, targets: { settings, folders } }: CheckedFiles,
  { places, report }: CheckOptions,
): Promise<void> {
  const indexes = new Map<string, Promise<PromptIndex>>();
  const indexOf = (root: string, { project, accepted }: CheckPlace): Promise<PromptIndex> => {
    const known = indexes.get(root);
    const index = known ?? promptIndex(root, {
      trustsCode: false,
      modelProblem: (name) => modelProblem(name, { ...project, accepted }),
    });
    indexes.set(root, index);
    return index;
  };
  const look = async (folder: string, isWanted: (path: string) => boolean): Promise<void> => {
    const root = places.rootOf(folder);
    const place = await places.of(folder);
    if (place === undefined) return;
    const index = await indexOf(root, place);
    const pathOf = ({ file }: Problem): string => resolve(root, file);
    for (const { prompt, claim: { source: { path, kind } } } of index.located.values()) {
      if (!isWanted(path)) continue;
      report.file(path);
      if (kind !== "module") await checkPrompt(prompt, { path, place, report });
    }
    for (const problem of index.problems) {
      const path = pathOf(problem);
      if (isWanted(path)) addProblem(path, problem, report);
    }
    for (const problem of index.notLoaded) {
      if (isWanted(pathOf(problem))) report.notLoaded.add(pathOf(problem));
    }
  };
  for (const folder of folders) {
    const isExcluded = await places.exclusion(folder);
    await look(folder, (path) => isInside(path, folder) && !isExcluded(path));
  }
  for (const file of settings) await look(dirname(file), (path) => path === file); // profiles
  for (const prompt of [...named, ...found]) {
    const posted = places.textOf(prompt);
    if (posted !== undefined) {
      await checkPromptText(prompt, { text: posted, report });
      continue;
    }
    if (!report.has(prompt)) await look(dirname(prompt), (path) => path === prompt);
    if (report.has(prompt)) continue;
    if (await places.of(dirname(prompt)) !== undefined) {
      const message =
        "nothing finds this prompt: it is in no folder that prompts.folders of orrery.yaml names";
      report.add({ kind: "prompt", path: prompt, severity: "warning", message });
    }
    const text = await places.read(prompt, "prompt");
    if (text !== undefined) await checkPromptText(prompt, { text, report });
  }
}

/** What a run would refuse it for, and what looks like a place for a value and is none. */
async function checkPrompt(
  prompt: AnyPrompt,
  { path, place, report }: {
    readonly path: string;
    readonly place: CheckPlace;
    readonly report: CheckReport;
  },
): Promise<void> {
  const text = await maybeText(hostFiles({ root: dirname(path) }), path) ?? "";
  const { tools } = place.meets.means;
  // A tool that cannot be loaded is for the run, which says how to allow it.
  for await (const { problem, cause } of offerProblems(prompt, { tools })) {
    const name = / "([^"]+)"(?: is unknown|\.|$)/.exec(problem)?.[1] ?? "";
    const at = text.indexOf(name);
    if (cause !== undefined || at < 0) continue; // the prompt that it extends has it
    report.add({ kind: "prompt", path, ...spanAt(text, at), message: problem });
  }
  const front = splitFrontMatter(text);
  if ("yaml" in front) await report.cutValues(front.yaml ?? "", { path, kind: "prompt", linesAbove: 1 });
  promptWarnings(text, { path, report, names: prompt.vars });
}

/** A place for a value as prompts of the other form have it: it is sent as text. @param names variables of the prompt, besides those in the text */
function promptWarnings(
  text: string,
  { path, report, names }: {
    readonly path: string;
    readonly report: CheckReport;
    readonly names: readonly string[];
  },
): void {
  const isHandlebars = !path.endsWith(".md");
  const known = new Set([...names, ...[...text.matchAll(DOUBLE)].map(([, name]) => name)]);
  for (const found of text.matchAll(isHandlebars ? SINGLE : DOUBLE)) {
    const [written, name = ""] = found;
    if (isHandlebars && !known.has(name)) continue;
    const meant = isHandlebars ? `{{${name}}}` : `{${name}}`;
    const sent = isHandlebars ? written : meant;
    const message = `${written} is no place for a value here: the model is sent ${sent}; write ${meant}`;
    report.add({
      kind: "prompt",
      path,
      ...spanAt(text, found.index),
      severity: "warning",
      message,
    });
  }
}

const SINGLE = /(?<![{\\$])\{([A-Za-z_]\w*)\}(?!\})/g;
const DOUBLE = /(?<!\{)\{\{([A-Za-z_]\w*)\}\}(?!\})/g;

function addProblem(
  path: string,
  { line, column, message }: Pick<Problem, "line" | "column" | "message">,
  report: CheckReport,
): void {
  for (const text of message.split("\n").filter((each) => each.trim() !== "")) {
    report.add({ kind: "prompt", path, line, column, message: text.trim() });
  }
}

/** Tells what can be told of a prompt without the project around it. */
async function checkPromptText(
  path: string,
  { text, report }: { readonly text: string; readonly report: CheckReport },
): Promise<void> {
  report.file(path, text);
  promptWarnings(text, { path, report, names: [] });
  for (const problem of await textProblems(path, text)) addProblem(path, problem, report);
}

async function textProblems(path: string, text: string): Promise<readonly LineProblem[]> {
  if (!path.endsWith(".md")) {
    const { loadHandlebars }: typeof import("../../../prompt/dotprompt/handlebars.ts") = await import(
      "../../../prompt/dotprompt/handlebars.ts" as string
    );
    const { readDotpromptFile }: typeof import("../../../prompt/dotprompt/dotprompt.ts") = await import(
      "../../../prompt/dotprompt/dotprompt.ts" as string
    );
    return (await readDotpromptFile(text, await loadHandlebars())).problems;
  }
  const { body, bodyLine, problems } = await readPromptFile(text);
  const name = basename(path, ".prompt.md");
  return [...problems, ...templateProblems(body, { path: name, bodyLine })];
}
