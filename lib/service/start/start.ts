import { resolve } from "node:path";
import { type FileProblem, maybeBlock, problemLine } from "../../check/check_options.ts";
import { type Catalog, didYouMean, FileError, ProblemsError, SourceError } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { realPath } from "../../host/paths.ts";
import { writeCalls } from "../../parse/calls/write.ts";
import { createPolicy } from "../../policy/policy.ts";
import { maybeRefusal } from "../../policy/refusal.ts";
import { placeHome } from "../../project/document/place.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { wishedBudget } from "../input/budget.ts";
import { fileInProject } from "../project_files.ts";
import { fieldError, ServiceError, type StartRun } from "../service.ts";
import { startCallFile, startCalls } from "../kinds/calls/start.ts";
import {
  checkedDocument,
  DocumentResults,
  type DocumentRunInput,
  type GivenBlock,
  openDocumentPlace,
  readyDocument,
  settingsInput,
  textsOf,
} from "../kinds/document/ready.ts";
import { startPrompt } from "../kinds/prompt/start.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";

/** What is started where. */
export interface StartRunPlace extends StartPlace {
  readonly catalog: Catalog;
}

/** Makes ready what somebody wishes to run. Nothing of it has run by then. @throws as `Service.start` */
export async function startRun(request: StartRun, at: StartRunPlace): Promise<ReadyRun> {
  switch (request.kind) {
    case "file":
      return await startFile(request, at);
    case "calls":
      return await startCalls(request, at);
    case "gadget":
      return await startGadget(request, at);
    case "prompt":
      return await startPrompt(request, at);
    case "ask":
      return await startAsk(request, at);
    default:
      return request satisfies never;
  }
}

const OF_DOCUMENTS = ["input", "prompt", "blocks", "mode", "out"] as const;

/** @throws {ServiceError} `invalid` */
async function startFile(
  wish: Extract<StartRun, { readonly kind: "file" }>,
  at: StartRunPlace,
): Promise<ReadyRun> {
  const { file } = wish;
  if (/\.calls$/i.test(file)) {
    const field = OF_DOCUMENTS.find((name) =>
      wish[name] !== undefined && (name !== "out" || wish.out !== "none")
    );
    if (field === undefined) return await startCallFile(wish, at);
    throw fieldError(field, `${field} is for documents; a call file takes none`);
  }
  if (/\.md$/i.test(file)) {
    return await startDocument(wish, at);
  }
  const hint = /\.agent\.ya?ml$/i.test(file)
    ? "an agent is talked to: begin a conversation with it"
    : "name one";
  throw fieldError(
    "file",
    `file: expected a call file (.calls) or a document (.md), found ${JSON.stringify(file)}; ${hint}`,
  );
}

/** One call of a gadget that somebody wishes. */
type GadgetWish = Extract<StartRun, { readonly kind: "gadget" }>;

/** The call is a text of calls as well, so that it is resumed as one. @throws {ServiceError} `not-found`, `invalid` */
async function startGadget(
  { name, input, ...wishes }: GadgetWish,
  at: StartPlace & { readonly catalog: Catalog },
): Promise<ReadyRun> {
  if (at.catalog.maybeFind(name) === undefined) {
    const known = at.catalog.entries.map((entry) => entry.name);
    throw new ServiceError(`There is no gadget ${JSON.stringify(name)}.${didYouMean(name, known)}`, {
      code: "not-found",
    });
  }
  return await startCalls({ ...wishes, name, text: callText({ name, input }, at) }, at);
}

/** @throws {ServiceError} `invalid` for what no call can say */
function callText({ name, input }: Pick<GadgetWish, "name" | "input">, { project }: StartPlace): string {
  try {
    const { markers } = project.config.calls;
    const call = { gadgetName: name, invocationId: "call", parameters: input };
    return writeCalls([call], { markers, asJson: true }); // as arguments of their own, texts could become numbers
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw fieldError("input", `input: ${error.message}`);
  }
}

/** A profile of `orrery.yaml`, with what was said so far. */
type AskWish = Extract<StartRun, { readonly kind: "ask" }>;

/**
 * The profile answers the last of the messages, with the tools of its system prompt. It is kept as a run of a prompt.
 *
 * @throws {ServiceError} `not-found`, `invalid` where the last message is not the user's; {UsageError}, {PromptError}, {ModelError}
 */
async function startAsk(wish: AskWish, at: StartPlace): Promise<ReadyRun> {
  assertAsked(wish);
  const { messages: history, profile, model, budget } = wish;
  return await startPrompt({ path: "", history, profile, model, budget }, at);
}

/** @throws {ServiceError} `invalid` */
function assertAsked({ messages }: AskWish): void {
  const last = messages.at(-1);
  if (last?.role === "user") return;
  const found = last === undefined ? "no message" : `one of the role "${last.role}"`;
  throw fieldError("messages", `messages: the last one has to be the user's, found ${found}`);
}

/** A document of the project that somebody wishes to run. */
export type DocumentWish = Extract<StartRun, { readonly kind: "file" }>;

/**
 * Checks a document and makes it ready; warnings are noticed.
 *
 * @throws {ProblemsError} with every error that is known before it runs, {ServiceError} `not-found`, `outside`, `invalid`, `refused`
 */
async function startDocument(wish: DocumentWish, at: StartPlace): Promise<ReadyRun> {
  const { project, around } = at;
  const path = await documentOf(wish, project);
  const blocks = (wish.blocks ?? []).map((block) => blockOf(block, project));
  const out = outOf(wish.out, at);
  const place = await openDocumentPlace(at);
  const input: DocumentRunInput = {
    ...settingsInput(project, {}),
    ...wishedInput(wish, project),
    path,
    ...out,
  };
  const { problems, checked } = await checkedDocument(placeHome(place), { input, blocks });
  if (checked === undefined) throw problemsError(problems.map(withoutFlag));
  for (const problem of problems) around.opening.notice(problemLine(problem));
  return readyDocument({ ...checked, results: new DocumentResults(checked.input.out, project) }, at, place);
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
  throw fieldError("file", `file: there is no document ${JSON.stringify(file)} in the project`, "not-found");
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
  out: DocumentWish["out"] = "none",
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
