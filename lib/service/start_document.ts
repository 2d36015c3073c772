import { problemLine } from "../check/problem_line.ts";
import type { FileProblem } from "../check/check_options.ts";
import { maybeBlock } from "../check/given_blocks.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { resolve } from "node:path";
import { SourceError } from "../core/source_error.ts";
import { FileError, PermissionRefused } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { createPolicy } from "../policy/policy.ts";
import { placeHome } from "../project/document_place.ts";
import type { ProjectSettings } from "../project/project.ts";
import { DocumentResults } from "./document_results.ts";
import { checkedDocument, openDocumentPlace, readyDocument } from "./document_run.ts";
import type { GivenBlock } from "./document_run.ts";
import { settingsInput, textsOf } from "./document_run_input.ts";
import type { DocumentRunInput } from "./document_run_input.ts";
import { fileInProject } from "./file_in_project.ts";
import { stoppedError } from "./ready_run.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { wishedBudget } from "./wished_budget.ts";
import { ServiceError } from "./service.ts";
import type { StartRun } from "./service.ts";

/** A document of the project that somebody wishes to run. */
export type DocumentWish = Extract<StartRun, { readonly kind: "file" }>;

/**
 * Checks a document and makes it ready; warnings are noticed.
 *
 * @throws {ProblemsError} with every error that is known before it runs, {ServiceError} `not-found`, `outside`, `invalid`, `refused`,
 * `stopping`
 */
export async function startDocument(wish: DocumentWish, at: StartPlace): Promise<ReadyRun> {
  const { project, around } = at;
  const path = await documentOf(wish, project);
  const blocks = (wish.blocks ?? []).map((block) => blockOf(block, project));
  const out = outOf(wish.out, at);
  const place = await openDocumentPlace(at);
  if (place === undefined) throw stoppedError();
  const input: DocumentRunInput = {
    ...settingsInput(project, {}),
    ...wishedInput(wish, project),
    path,
    ...out,
  };
  const { problems, checked } = await checkedDocument(placeHome(place), { input, blocks });
  if (checked === undefined) throw problemsError(problems.map(withoutFlag));
  for (const problem of problems) around.opening.notice(problemLine(problem));
  return readyDocument(place, {
    ...checked,
    results: new DocumentResults(checked.input.out, project),
    around,
  });
}

/** Whoever asks here fills in fields, and has no command line. */
function withoutFlag<Problem extends { readonly message: string }>(problem: Problem): Problem {
  return { ...problem, message: problem.message.replace(/ \(--input .*=\.\.\.\)$/s, "") };
}

/** @throws {ServiceError} `not-found`, `outside` */
async function documentOf({ file }: DocumentWish, { root }: ProjectSettings): Promise<string> {
  const path = fileInProject(file, { root });
  const { kind } = await hostFiles({ root }).stat(path).catch((error) => {
    if (error instanceof FileError) return { kind: "nothing" };
    throw error;
  });
  if (kind === "file") return path;
  throw new ServiceError(`file: there is no document ${JSON.stringify(file)} in the project`, {
    code: "not-found",
    details: { field: "file" },
  });
}

function blockOf(block: string, { root }: ProjectSettings): GivenBlock {
  const named = maybeBlock(block);
  if (named !== undefined) return { ...named, file: fileInProject(named.file, { root, field: "blocks" }) };
  throw new ServiceError(
    `blocks: expected FILE#REF, such as notes.md#summary; found ${JSON.stringify(block)}`,
    { code: "invalid", details: { field: "blocks" } },
  );
}

/**
 * Where the result goes, for whoever resumes it from another folder too. Beside the document it needs no grant, as everywhere.
 *
 * @throws {ServiceError} `refused` for a file that the run may not write, `outside`
 */
function outOf(
  out: DocumentWish["out"] = "none",
  { project: { root, cwd }, grants: { settings } }: StartPlace,
): Pick<DocumentRunInput, "out"> {
  if (out === "beside") return {};
  if (out === "none") return { out };
  const value = resolve(root, fileInProject(out.file, { root, field: "out.file" }));
  try {
    createPolicy(settings, { root, cwd, realPath }).check({ kind: "write", value });
    return { out: value };
  } catch (error) {
    if (!(error instanceof PermissionRefused)) throw error;
    throw new ServiceError(`out.file: ${error.message}`, {
      code: "refused",
      details: { field: "out.file", flag: error.flag },
    });
  }
}

function wishedInput(
  { input = {}, prompt, model, mode, budget }: DocumentWish,
  project: ProjectSettings,
): Pick<DocumentRunInput, "values" | "budget" | "prompt" | "model" | "mode"> {
  return { values: textsOf(input), budget: wishedBudget(project, budget), prompt, model, mode };
}

function problemsError(problems: readonly FileProblem[]): ProblemsError {
  const errors = problems.filter(({ severity }) => severity === "error");
  return new ProblemsError(errors.map(({ file, line, column, message }) =>
    new SourceError(message, {
      code: "E-document",
      ...(file !== "" && { span: { file, line, column } }),
    })
  ));
}
