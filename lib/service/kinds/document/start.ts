import { resolve } from "node:path";
import { maybeBlock, problemLine } from "../../../check/check_options.ts";
import { realPath } from "../../../host/paths.ts";
import { createPolicy } from "../../../policy/policy.ts";
import { maybeRefusal } from "../../../policy/refusal.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import { wishedBudget } from "../../input/budget.ts";
import { fileInProject, foundInProject } from "../../project_files.ts";
import { fieldError, problemsError, ServiceError } from "../../service.ts";
import type { ReadyRun, StartPlace } from "../../start/ready_run.ts";
import type { FileWish } from "../kind.ts";
import {
  checkedDocument,
  DocumentResults,
  type DocumentRunInput,
  type GivenBlock,
  openDocumentPlace,
  readyDocument,
  settingsInput,
  textsOf,
} from "./ready.ts";

export { again, shown } from "./ready.ts";

/**
 * Checks a document and makes it ready; warnings are noticed.
 *
 * @throws {ProblemsError} with every error that is known before it runs, {ServiceError} `not-found`, `outside`, `invalid`, `refused`
 */
export async function start(wish: FileWish, at: StartPlace): Promise<ReadyRun> {
  const { project, around } = at;
  const path = await foundInProject(wish.file, { ...project, word: "document" });
  const blocks = (wish.blocks ?? []).map((block) => blockOf(block, project));
  const out = outOf(wish.out, at);
  const place = await openDocumentPlace(at);
  const { prompt, model, effort, mode } = wish;
  const values = textsOf(wish.input ?? {});
  const budget = wishedBudget(project, wish.budget);
  const input = { ...settingsInput(project, {}), values, budget, prompt, model, effort, mode, path, ...out };
  const { problems, checked } = await checkedDocument(place, { input, blocks });
  if (checked === undefined) throw problemsError(problems.map(withoutFlag), "E-document");
  for (const problem of problems) around.opening.notice(problemLine(problem));
  return readyDocument({ ...checked, results: new DocumentResults(checked.input.out, project) }, at, place);
}

/** Whoever asks here fills in fields, and has no command line. */
function withoutFlag<Problem extends { readonly message: string }>(problem: Problem): Problem {
  return { ...problem, message: problem.message.replace(/ \(--input .*=\.\.\.\)$/s, "") };
}

function blockOf(block: string, { root }: ProjectSettings): GivenBlock {
  const named = maybeBlock(block);
  if (named !== undefined) return { ...named, file: fileInProject(named.file, { root, field: "blocks" }) };
  throw fieldError(
    "blocks",
    `blocks: expected FILE#REF, such as notes.md#summary; found ${JSON.stringify(block)}`,
  );
}

/**
 * Where the result goes, for whoever resumes it from another folder too. Beside the document it needs no grant, as everywhere.
 *
 * @throws {ServiceError} `refused` for a file that the run may not write, `outside`
 */
function outOf(
  out: FileWish["out"] = "none",
  { project: { root, cwd }, grants: { settings } }: StartPlace,
): Pick<DocumentRunInput, "out"> {
  if (out === "beside") return {};
  if (out === "none") return { out };
  const value = resolve(root, fileInProject(out.file, { root, field: "out.file" }));
  const refused = maybeRefusal(createPolicy(settings, { root, cwd, realPath }), { kind: "write", value });
  if (refused === undefined) return { out: value };
  throw new ServiceError(`out.file: ${refused.message}`, {
    code: "refused",
    details: { field: "out.file", flag: refused.flag },
  });
}
