// A document from its check to its events: what the command line and a server do with it in the same way.
import { basename, dirname, join, resolve } from "node:path";
import { DOCUMENT_LIMITS } from "../../../catalog/config/config.ts";
import {
  type Effort,
  effortFrom,
  EMPTY_CATALOG,
  FileError,
  isInside,
  type Json,
  memoryFiles,
  ModelError,
  objectOrEmpty,
  type RunJournal,
  type Secrets,
  type StoredFile,
  toJson,
} from "../../../core/core.ts";
import { checkDocument } from "../../../check/check_document.ts";
import {
  type CheckDocumentOptions,
  type CheckedDocument,
  type FileProblem,
  givenBlocks,
} from "../../../check/check_options.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { realPath } from "../../../host/paths.ts";
import {
  type DocumentFile,
  mayHaveOperations,
  parseDocument,
  readDocument,
} from "../../../parse/document/document.ts";
import type { MergeMode } from "../../../parse/document/operation.ts";
import { MERGE_MODES } from "../../../parse/document/parameters.ts";
import { DocumentBounds } from "../../../project/document/grants.ts";
import {
  type DocumentHome,
  type DocumentPlace,
  homeCheck,
  homeMeans,
  placeHome,
} from "../../../project/document/place.ts";
import { type ProjectSettings } from "../../../project/project.ts";
import { memoryJournal } from "../../../journal/memory_journal.ts";
import type { Budget } from "../../../run/budget.ts";
import { type EarlierSteps, earlierSteps } from "../../../run/replay/earlier_steps.ts";
import type { CallLimits } from "../../../run/calls/graph.ts";
import { runDocumentFile } from "../../../run/document/document.ts";
import type { DocumentMeans } from "../../../run/document/means.ts";
import { readDocumentText } from "../../../run/document/files.ts";
import { ChangedError, UsageError } from "../../exit_code.ts";
import { budgetFrom, limitsFrom, numberFrom, textFrom } from "../../input/kept_input.ts";
import {
  type BegunRun,
  engineOptions,
  openedCatalog,
  openedRun,
  type ReadyRun,
  type StartPlace,
} from "../../start/ready_run.ts";
import { LACKS, problemsError } from "../../service.ts";
import { limitsOf } from "../../input/budget.ts";

/** Opens a project for one document. */
export async function openDocumentPlace(at: StartPlace): Promise<DocumentPlace> {
  const { project, grants, around } = at;
  const bounds = new DocumentBounds(project.root);
  const opened = await openedCatalog(at, { against: (request) => bounds.against(request) });
  const canAsk = around.approvals !== undefined;
  return { ...opened, project, grants, canAsk, bounds, accepted: opened.projectAccepted };
}

/** A document before it runs. */
export interface CheckedRun {
  /** Errors and warnings; those that only this machine has say so. */
  readonly problems: readonly (FileProblem & { readonly code?: typeof LACKS })[];
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
  place: DocumentPlace,
  { input, blocks }: { readonly input: DocumentRunInput; readonly blocks: readonly GivenBlock[] },
): Promise<CheckedRun> {
  const { values, prompt } = input;
  const { entry, files, problems } = await checkedWhole(place, input, { input: { values, blocks, prompt } });
  const isWrong = problems.some(({ severity }) => severity === "error");
  if (isWrong || entry === undefined) return { problems, checked: undefined };
  const text = givenBlocks({ blocks }, { files });
  return { problems, checked: { document: entry, input: { ...input, text } } };
}

/** Also tells of models that cannot be asked. */
async function checkedWhole(
  place: DocumentPlace,
  { path, model, mode }: DocumentRunInput,
  more: Partial<Pick<CheckDocumentOptions, "input" | "read">>,
): Promise<Omit<CheckedDocument, "problems"> & Pick<CheckedRun, "problems">> {
  const home = placeHome(place);
  const options = homeCheck(home);
  const lacks = new Set<string>();
  const checked = await checkDocument(path, {
    ...options,
    async modelProblem(name) {
      const problem = await options.modelProblem(name);
      if (problem !== undefined) return problem;
      const lack = await unusable(name, home.models);
      if (lack !== undefined) lacks.add(lack);
      return lack;
    },
    model,
    mode,
    ...more,
  });
  const problems = checked.problems.map((each) =>
    lacks.has(each.message) ? { ...each, code: LACKS } as const : each
  );
  return { ...checked, problems };
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

/** What runs of a document, one after another, have done: the next one takes from there what it would do again with the same input. */
export function watchedSteps(): {
  /** Gives what is put in front of the journal of a run, or in place of one that is not there. */
  journal(kept: RunJournal | undefined): RunJournal;
  readonly isReused: EarlierSteps["isReused"];
} {
  const steps = earlierSteps();
  return {
    ...steps,
    journal: (kept) => steps.journal(kept ?? memoryJournal().create({ kind: "document", input: null })),
  };
}

/** A checked document that can begin; also one that was begun, and goes on. @param place undefined where a record answers everything */
export function readyDocument(
  { document, input, results }: {
    readonly document: DocumentFile;
    readonly input: DocumentRunInput;
    readonly results: DocumentResults;
  },
  at: StartPlace,
  place: DocumentPlace | undefined,
): ReadyRun {
  const { accepted = false, catalog = EMPTY_CATALOG } = place ?? {};
  const means = homeMeans(place === undefined ? RECORDED_HOME : placeHome(place), {
    wishes: input,
    result: (document) => results.keep(document),
  });
  const { path, text } = document;
  const { values, prompt, budget, limits, effort, model: modelName } = input;
  const opened = openedRun(at, { catalog, projectAccepted: accepted });
  return {
    start: { kind: "document", file: path, input: toJson(input), files: [{ path, text }] },
    shows: { endsLine: true, results },
    events: (keeping) =>
      runDocumentFile({
        ...engineOptions(opened, { budget, limits, modelName, effort }),
        document,
        means,
        input: { text: input.text, values: new Map(Object.entries(values)), prompt },
        ...keeping,
      }),
  };
}

const untouched = (): never => {
  throw new Error("A replay touches nothing");
};

const NO_FOLDER = "/";

/** What a document meets where a record answers everything. */
const RECORDED_HOME: DocumentHome = {
  root: NO_FOLDER,
  files: memoryFiles({}, { root: NO_FOLDER }),
  shell: { run: untouched },
  script: { command: "sh", args: () => [], inherit: [] },
  grants: {
    mayRun: untouched,
    mayRead: untouched,
    mayWrite: () => true,
    isWriteListed: false,
    mayConnect: untouched,
  },
  tools: { find: () => undefined, names: () => Promise.resolve([]) },
  models: { problem: untouched, find: untouched },
  narrow: () => undefined,
};

/** What a run of a document is made of: kept with the run, so that a resumed one is the same. */
export interface DocumentRunInput {
  /** Relative to the project root where it lies inside. */
  readonly path: string;
  readonly prompt?: string;
  /** Blocks of other files, as text. */
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  /** As it was named. */
  readonly model?: string;
  readonly effort?: Effort;
  readonly mode?: MergeMode;
  /** A path, `-` or `none`; absent: beside the document. */
  readonly out?: string;
  readonly showsOperations: boolean;
  readonly budget: Budget;
  readonly limits: CallLimits;
  /** What the configuration said when the run began. */
  readonly defaults: DocumentMeans["defaults"];
}

/** Values of documents are text. */
export function textsOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

/** What the project says of its documents, and the flags of a run. */
export function settingsInput(
  project: Pick<ProjectSettings, "config">,
  flags: { readonly concurrency?: number; readonly timeout?: number },
): Pick<DocumentRunInput, "text" | "showsOperations" | "limits" | "defaults"> {
  const { showsOperations, limits, temperature } = project.config.documents;
  const { timeoutMs, resultBytes } = limitsOf(project, flags);
  return { text: "", showsOperations, limits: { timeoutMs, resultBytes }, defaults: { limits, temperature } };
}

/** What a run has kept. */
function documentRunInput(kept: Json): DocumentRunInput {
  const input = objectOrEmpty(kept);
  const defaults = objectOrEmpty(input.defaults);
  const limits = objectOrEmpty(defaults.limits);
  const values = Object.entries(objectOrEmpty(input.values)).map(([name, value]) => [name, String(value)]);
  return {
    path: String(input.path),
    prompt: textFrom(input.prompt),
    text: textFrom(input.text) ?? "",
    values: Object.fromEntries(values),
    model: textFrom(input.model),
    effort: effortFrom(input.effort),
    mode: MERGE_MODES.find((each) => each === input.mode),
    out: textFrom(input.out),
    showsOperations: input.showsOperations === true,
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    defaults: {
      limits: {
        goto: numberFrom(limits.goto) ?? DOCUMENT_LIMITS.goto,
        toolTurns: numberFrom(limits.toolTurns) ?? DOCUMENT_LIMITS.toolTurns,
        shellTimeoutS: numberFrom(limits.shellTimeoutS) ?? DOCUMENT_LIMITS.shellTimeoutS,
      },
      temperature: numberFrom(defaults.temperature),
    },
  };
}

/** A document as its run has left it. */
interface ResultDocument {
  /** Relative to the project root where it lies inside. */
  readonly path: string;
  readonly text: string;
  /** Files inside each other, the entry being 1. */
  readonly depth: number;
  /** How many operations it has, those that are text not among them. */
  readonly operations: number;
}

/** Where the result documents of a run go (documents.md 12): each is whole or not there. */
export class DocumentResults {
  readonly #out: string | undefined;
  readonly #root: string;
  readonly #cwd: string;
  readonly #onWritten: (path: string) => Promise<void>;
  #entry: string | undefined;
  #woken = 0;

  /** @param place `onWritten` is told the real path of each result document beside its source */
  constructor(
    out: string | undefined,
    place: {
      readonly root: string;
      readonly cwd: string;
      readonly onWritten?: (path: string) => Promise<void>;
    },
  ) {
    this.#out = out;
    this.#root = place.root;
    this.#cwd = place.cwd;
    this.#onWritten = place.onWritten ?? (() => Promise.resolve());
  }

  /** That of the entry, once it is there; where it goes to stdout. */
  get shown(): string | undefined {
    return this.#out === "-" ? this.#entry : undefined;
  }

  /** What is to be told of where it was written: text of answers and commands has operations once it is in a document. */
  get warning(): string | undefined {
    const some = this.#woken === 1
      ? "an operation that is text in this result"
      : `${this.#woken} operations that are text in this result`;
    return this.#woken === 0
      ? undefined
      : `${this.#out} is a document: ${some} would run with it; as a .ctx file it cannot run`;
  }

  /** @throws {FileError} */
  async keep({ path, text, depth, operations }: ResultDocument): Promise<void> {
    if (depth === 1) this.#entry = text;
    if (this.#out === undefined) return await this.#beside(path, text);
    if (depth > 1 || this.#out === "-" || this.#out === "none") return;
    if (mayHaveOperations(this.#out)) {
      const all = parseDocument(text).nodes.filter(({ kind }) => kind === "operation");
      this.#woken = Math.max(0, all.length - operations);
    }
    await hostFiles({ root: this.#cwd }).writeText(this.#out, text);
  }

  /** No grant is needed for these, so a link must not lead them elsewhere: not out of the project, nor to another file in it. */
  async #beside(path: string, text: string): Promise<void> {
    const wanted = resolve(this.#root, path);
    const place = join(realPath(dirname(wanted)), basename(wanted));
    const real = realPath(place);
    const why = !isInside(real, this.#root)
      ? `it would be outside the project root, at ${real}`
      : real !== place
      ? `it is a link, which leads to ${real}`
      : undefined;
    if (why !== undefined) {
      throw new FileError(
        `Cannot write the result document ${JSON.stringify(path)}: ${why}; name a place for it with --out`,
        { path, code: "other" },
      );
    }
    await hostFiles({ root: this.#root }).writeText(real, text);
    await this.#onWritten(real);
  }
}

/** The run of a document, as the document was when it began. @throws {UsageError} when the document cannot be had */
export async function again({ id, run, secrets }: BegunRun, at: StartPlace): Promise<ReadyRun> {
  const { project, isRecorded } = at;
  const [stored] = run.files ?? [];
  if (stored === undefined) {
    throw new UsageError(
      isRecorded
        ? `${JSON.stringify(id)} has no document in it`
        : `Run ${id} has lost its document: begin anew`,
      isRecorded ? "run" : "resume",
    );
  }
  const text = await textAsItWas(stored, { root: project.root, secrets });
  const place = isRecorded ? undefined : await openDocumentPlace(at);
  const input = documentRunInput(run.input);
  if (place !== undefined) await assertModels(place, { ...input, path: stored.path }, text);
  const results = new DocumentResults(input.out, project);
  const document = await readDocument(text, { path: stored.path });
  return { ...readyDocument({ document, input, results }, at, place), start: run };
}

/** A model that cannot be asked now would end the run as failed; everything else is as it was. @throws {ProblemsError} */
async function assertModels(place: DocumentPlace, input: DocumentRunInput, text: string): Promise<void> {
  const { read } = homeCheck(placeHome(place));
  const { problems } = await checkedWhole(place, input, {
    read: async (path) => path === input.path ? text : await read(path),
  });
  const lacks = problems.filter(({ code }) => code === LACKS);
  if (lacks.length > 0) throw problemsError(lacks, LACKS);
}

/** A document's value is text, which a line end makes whole. */
export function shown(): Pick<ReadyRun["shows"], "endsLine"> {
  return { endsLine: true };
}

/** Secrets in a document are not kept with it: where it had some, the file has to be there as it was. @throws {UsageError} when it is not */
async function textAsItWas(
  { path, text }: StoredFile,
  { root, secrets }: { readonly root: string; readonly secrets: Secrets | undefined },
): Promise<string> {
  if (secrets === undefined || !text.includes("[secret ")) return text;
  const now = await readDocumentText(hostFiles({ root }), path).catch(() => undefined);
  if (now !== undefined && secrets.mask(now) === text) return now;
  throw new ChangedError(
    `${path} has changed since the run began, and what it had of secrets is not kept: begin anew`,
    "resume",
  );
}
