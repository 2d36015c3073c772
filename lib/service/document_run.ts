// A document from its check to its events: what the command line and a server do with it in the same way.
import { checkDocument } from "../check/check_document.ts";
import type { FileProblem } from "../check/check_options.ts";
import { givenBlocks } from "../check/given_blocks.ts";
import type { RunEvent } from "../core/event.ts";
import { ModelError } from "../core/model.ts";
import type { DocumentFile } from "../parse/document/document.ts";
import { DocumentBounds } from "../project/document_bounds.ts";
import { type DocumentHome, homeCheck, homeMeans } from "../project/document_home.ts";
import { type DocumentPlace, placeHome } from "../project/document_place.ts";
import { keepStdout } from "../project/grants.ts";
import { openCatalog } from "../project/project.ts";
import type { Approvals } from "../run/approvals.ts";
import { runDocumentFile } from "../run/document.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import type { Replay } from "../run/replay.ts";
import { containersOf, type PromptCallsOptions } from "./containers.ts";
import type { DocumentResults } from "./document_results.ts";
import { type DocumentRunInput, documentRunJson } from "./document_run_input.ts";
import type { Keeping, ReadyRun, StartPlace } from "./ready_run.ts";

/** Opens a project for one document; undefined when it was aborted. */
export async function openDocumentPlace(
  { project, grants, around }: StartPlace,
): Promise<DocumentPlace | undefined> {
  keepStdout(grants.flags);
  const bounds = new DocumentBounds(project.root);
  const open = around.openCatalog ?? openCatalog;
  const opened = await around.open(
    open(project, {
      ...grants,
      ...around.opening,
      late: true,
      against: (request) => bounds.against(request),
    }),
  );
  if (opened === undefined) return undefined;
  const canAsk = around.approvals !== undefined;
  return { ...opened, project, grants, canAsk, bounds, accepted: opened.projectAccepted };
}

/** A document before it runs. */
export interface CheckedRun {
  /** Errors and warnings. */
  readonly problems: readonly FileProblem[];
  /** Undefined when there is an error among the problems. */
  readonly checked: { readonly document: DocumentFile; readonly input: DocumentRunInput } | undefined;
}

/** A block of another file, which is named as documents name it. */
export interface GivenBlock {
  readonly file: string;
  readonly reference: string;
}

/** Looks a document through; its input has the texts of the blocks then. */
export async function checkedDocument(
  home: DocumentHome,
  { input, blocks }: { readonly input: DocumentRunInput; readonly blocks: readonly GivenBlock[] },
): Promise<CheckedRun> {
  const { prompt, values, model, mode } = input;
  const options = homeCheck(home);
  const { entry, files, problems } = await checkDocument(input.path, {
    ...options,
    modelProblem: async (name) => await options.modelProblem(name) ?? await unusable(name, home.models),
    input: { values, blocks, prompt },
    model,
    mode,
  });
  const isWrong = problems.some(({ severity }) => severity === "error");
  if (isWrong || entry === undefined) return { problems, checked: undefined };
  const text = givenBlocks({ blocks }, { files });
  return { problems, checked: { document: entry, input: { ...input, text } } };
}

/** Why a model cannot be asked, such as a key that is missing: known before anything has run. */
async function unusable(
  name: string | undefined,
  models: DocumentHome["models"],
): Promise<string | undefined> {
  try {
    await models.find(name);
    return undefined;
  } catch (error) {
    if (error instanceof ModelError && error.code === "config") return error.message;
    throw error;
  }
}

/** What a document runs with. */
export interface DocumentRun {
  readonly document: DocumentFile;
  readonly input: DocumentRunInput;
  readonly means: DocumentMeans;
  readonly signal: AbortSignal | undefined;
  readonly approvals: Approvals | undefined;
  /** Where the prompts are that its tools may ask. */
  readonly called: Pick<PromptCallsOptions, "place" | "catalog" | "world" | "canAsk">;
  /** Answers every effect. */
  readonly replay?: Replay;
}

/** Runs it. */
export function documentEvents(run: DocumentRun, keeping: Keeping): AsyncIterable<RunEvent> {
  const { document, input, means, signal, approvals, called, replay } = run;
  const { budget, limits, model: modelName } = input;
  return runDocumentFile({
    document,
    means,
    input: {
      text: input.text,
      values: new Map(Object.entries(input.values)),
      prompt: input.prompt,
    },
    containers: containersOf({ ...called, budget, limits, modelName }),
    signal,
    replay,
    approvals,
    ...keeping,
  });
}

/** A checked document in its place; also one that was begun, and goes on. */
export function readyDocument(
  place: DocumentPlace,
  { document, input, results, around: { approvals, opening: { signal } } }: {
    readonly document: DocumentFile;
    readonly input: DocumentRunInput;
    readonly results: DocumentResults;
    readonly around: Pick<StartPlace["around"], "approvals" | "opening">;
  },
): ReadyRun {
  const means = homeMeans(placeHome(place), { wishes: input, result: (document) => results.keep(document) });
  const { path, text } = document;
  const { project, grants, accepted, catalog, canAsk } = place;
  const called = { place: () => ({ project, grants, accepted }), catalog, canAsk };
  return {
    start: { kind: "document", file: path, input: documentRunJson(input), files: [{ path, text }] },
    events: (keeping) => documentEvents({ document, input, means, signal, approvals, called }, keeping),
  };
}
