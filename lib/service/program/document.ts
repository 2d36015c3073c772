// A document that a program checks or runs: the options of the program as what the document meets.
import {
  type AnyGadget,
  type Catalog,
  type Effort,
  type Model,
  pathFromFolder,
  type RunEvent,
  type World,
} from "../../core/core.ts";
import { dirname, resolve } from "node:path";
import { createCatalog } from "../../catalog/catalog.ts";
import { type Config, DOCUMENT_LIMITS } from "../../catalog/config/config.ts";
import { checkDocument as checkedDocument } from "../../check/check_document.ts";
import {
  type CheckedDocument,
  type DocumentCommandInput,
  type FileProblem,
  givenBlocks,
  maybeBlock,
  problemLine,
} from "../../check/check_options.ts";
import { defaultShell } from "../../host/commands/child.ts";
import { hostFiles } from "../../host/files/files.ts";
import { realPath } from "../../host/paths.ts";
import { NO_POLICY_FLAGS } from "../../policy/policy_settings.ts";
import type { Budget } from "../../run/budget.ts";
import { runDocumentFile } from "../../run/document/document.ts";
import type { DocumentMeans } from "../../run/document/means.ts";
import { boundedWorld, builtInCatalog, type DocumentWorld } from "../../project/bounded_world.ts";
import { modelProblem, modelsByName } from "../../project/models.ts";
import { isAcceptedHere, openCatalog, openSettings, type ProjectSettings } from "../../project/project.ts";
import { rootFolder } from "./root_folder.ts";
import { NO_GRANTS, NOBODY } from "../../project/trust/grants.ts";
import { createWorld, scriptShell } from "../../project/world.ts";
import { DocumentBounds, documentGrants, worldGrants } from "../../project/document/grants.ts";
import { type DocumentHome, homeCheck, homeMeans, readyTools } from "../../project/document/place.ts";

/** What a program says of a document: to check it, and to run it. */
export interface DocumentOptions {
  /**
   * Where its files are and what it may do. Default: this machine, and the project that the file is in, without any grants: it may read
   * the project root and nothing else.
   */
  readonly world?: DocumentWorld;
  /** What it is given. Default: nothing. */
  readonly input?: DocumentInput;
  /**
   * Who is asked: a model, whatever the document names; a name, for what names none itself (as `--model`); or a function that gives the
   * model of each name, and that of `undefined`. Default: as the project says.
   */
  readonly model?: string | Model | ((name: string | undefined) => Model | Promise<Model>);
  /** What the names of tools stand for. Default: the built-in gadgets and those of the project; in a world, the built-in ones. */
  readonly gadgets?: readonly AnyGadget[];
}

/** What a document is given. */
export interface DocumentInput {
  /** Put before its first block, under a heading of its own. */
  readonly prompt?: string;
  /** Of the inputs that its front matter declares, by name. */
  readonly values?: Readonly<Record<string, string>>;
  /** Blocks of other files that are put before its first block: `notes.md#summary`, from the project root or absolute. */
  readonly blocks?: readonly string[];
}

/** A document with what its check needs. */
export interface CheckableDocument {
  /** As messages name it. */
  readonly path: string;
  readonly home: DocumentHome;
  /** As the check takes it. */
  readonly input: DocumentCommandInput;
  /** As named. */
  readonly model?: string;
}

/** A document with what it meets. */
export interface ProgramDocument extends CheckableDocument, AsyncDisposable {
  /** Follows its run, where the user wants that. */
  readonly observe?: ProjectSettings["observe"];
  /** What the configuration says of all documents. */
  readonly settings: Config["documents"];
  /** Writes a result document, which needs no grant. */
  write(path: string, text: string): Promise<void>;
}

/** @throws {TypeError} for a block that is none, {ProblemsError} for mistakes in `orrery.yaml` */
export async function openProgramDocument(
  file: string | URL,
  options: DocumentOptions,
): Promise<ProgramDocument> {
  const { model } = options;
  const opened = options.world === undefined
    ? await onThisMachine(file, options)
    : inWorld(file, { ...options, world: options.world });
  return {
    ...opened,
    input: commandInput(options.input, opened.home.root),
    model: typeof model === "string" ? model : undefined,
  };
}

/** Everything that is wrong with it. */
export async function checkProgramDocument(
  { path, home, input, model }: CheckableDocument,
): Promise<CheckedDocument> {
  return await checkedDocument(path, { ...homeCheck(home), input, model });
}

type Opened = Omit<ProgramDocument, "input" | "model">;

async function onThisMachine(file: string | URL, options: DocumentOptions): Promise<Opened> {
  const path = realPath(rootFolder(file));
  const project = await openSettings(dirname(path));
  const { root, cwd, config, observe } = project;
  const bounds = new DocumentBounds(root);
  const against: DocumentBounds["against"] = (request) => bounds.against(request);
  const script = scriptShell(project);
  return opened(path, options, {
    bounds,
    world: createWorld({ root, cwd, against }),
    script,
    grants: documentGrants({ root, cwd, settings: NO_POLICY_FLAGS, shell: script.command, canAsk: false }),
    gadgets: async () =>
      (await openCatalog(project, { ...NO_GRANTS, user: NOBODY, notice: () => undefined, against })).catalog,
    project: () => Promise.resolve(project),
    observe,
    settings: config.documents,
    write: (out, text) => hostFiles({ root: cwd }).writeText(out, text),
  });
}

function inWorld(file: string | URL, options: DocumentOptions & { readonly world: DocumentWorld }): Opened {
  const { root, files } = options.world;
  const bounds = new DocumentBounds(root);
  const world = boundedWorld(options.world, (request) => bounds.against(request));
  const script = defaultShell();
  const path = typeof file === "string" ? resolve(root, file) : rootFolder(file);
  return opened(path, options, {
    bounds,
    world,
    script,
    grants: worldGrants({ root, files, policy: world.policy }, script.command),
    gadgets: () => Promise.resolve(builtInCatalog(world)),
    project: openSettings,
    settings: { showsOperations: false, limits: DOCUMENT_LIMITS },
    write: (out, text) => files.writeText(out, text),
  });
}

/** A document with what is there for it on a machine, or in a world. @param path absolute */
function opened(
  path: string,
  { gadgets, model }: DocumentOptions,
  place: Pick<DocumentHome, "script" | "grants"> & Pick<ProgramDocument, "settings" | "write" | "observe"> & {
    readonly bounds: DocumentBounds;
    readonly world: World;
    /** What tools are without `gadgets` of the program. */
    readonly gadgets: () => Promise<Catalog>;
    /** Whose configuration the names of models are looked up in. */
    readonly project: () => Promise<ProjectSettings>;
  },
): Opened {
  const { bounds, world: { root, files, shell }, script, grants, settings, write, observe } = place;
  const tools = lateCatalog(async () =>
    gadgets === undefined ? await place.gadgets() : createCatalog(gadgets)
  );
  return {
    path: pathFromFolder(path, root),
    home: {
      root,
      files,
      shell,
      script,
      grants,
      tools: readyTools(tools.open),
      models: programModels(model, place.project),
      narrow: (narrowing) => bounds.narrow(narrowing),
    },
    settings,
    write,
    observe,
    [Symbol.asyncDispose]: tools.close,
  };
}

/** Opened when the first tool is named. */
function lateCatalog(open: () => Promise<Catalog>): {
  readonly open: () => Promise<Catalog>;
  readonly close: () => Promise<void>;
} {
  let opened: Promise<Catalog> | undefined;
  return {
    open: () => opened ??= open(),
    close: async () => await (await opened?.catch(() => undefined))?.close?.(),
  };
}

/** @param project whose configuration names are looked up in */
function programModels(
  model: DocumentOptions["model"],
  project: () => Promise<ProjectSettings>,
): DocumentHome["models"] {
  if (typeof model === "object") return { problem: () => undefined, find: () => model };
  if (typeof model === "function") return { problem: () => undefined, find: model };
  let named: Promise<DocumentHome["models"]> | undefined;
  const models = () => named ??= namedModels(project, model);
  return {
    problem: async (name) => await (await models()).problem(name),
    find: async (name) => await (await models()).find(name),
  };
}

async function namedModels(
  project: () => Promise<ProjectSettings>,
  model: string | undefined,
): Promise<DocumentHome["models"]> {
  const opened = await project();
  const accepted = await isAcceptedHere(opened);
  const settings = { ...NO_POLICY_FLAGS, ...(model !== undefined && { ownModel: model }) };
  return {
    problem: (name) => modelProblem(name, { ...opened, accepted }),
    find: modelsByName({ ...opened, isAccepted: accepted, settings }),
  };
}

function commandInput(
  { prompt, values, blocks = [] }: DocumentInput = {},
  root: string,
): DocumentCommandInput {
  return {
    blocks: blocks.map((block) => blockOf(block, root)),
    prompt,
    values,
  };
}

/** A file and a block of it. @throws {TypeError} */
function blockOf(block: string, root: string): { readonly file: string; readonly reference: string } {
  const named = maybeBlock(block);
  if (named !== undefined) return { ...named, file: pathFromFolder(resolve(root, named.file), root) };
  throw new TypeError(`${JSON.stringify(block)} is no block: expected FILE#REF, such as "notes.md#summary"`);
}

/** What holds for a document of a program besides its own words. */
export function programDefaults({ temperature, limits }: Config["documents"]): DocumentMeans["defaults"] {
  return { limits, temperature };
}

/** How a document is run. */
export interface RunDocumentOptions extends DocumentOptions {
  /** Where the result document is written: relative to the root of the `world`; without one, to the working folder. Default `none`. */
  readonly out?: string;
  /** How hard models think, whatever the document says. Default: as it says. */
  readonly effort?: Effort;
  /** What it may use up. Default: no bound. */
  readonly budget?: Budget;
  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/**
 * Checks a document, then runs it and tells what happens (documents.md, events.md). The file is not changed and, unless `out` names one,
 * none is written: the last event is `run-end` with the `document` as the run left it, and as `value` what it returns, else the last
 * answer of a model. Where an operation failed, its `status` is `failed`, and `error` says which and why. Leaving the loop early aborts
 * the run.
 *
 * @param file relative to the root of the `world`; without one, to the working folder
 * @throws {DocumentCheckError} before anything runs, with everything that is wrong; {TypeError} for a block of the input that is none;
 * {ProblemsError} for mistakes in `orrery.yaml`
 *
 * ```ts
 * import { fakeModel, memoryFiles, runDocument } from "orrery";
 *
 * const text = "# Question\n\nWhich colour has the sky?\n\n@llm\nprompt: Answer in one word.\nuse-header: \"# Answer\"\n";
 * const world = { root: "/project", files: memoryFiles({ "sky.md": text }) };
 * for await (const event of runDocument("sky.md", { world, model: fakeModel(["Blue."]) })) {
 *   if (event.type !== "run-end") continue;
 *   console.log(event.status, event.value); // => done Blue.
 *   console.log(event.document?.endsWith("# Answer\nBlue.\n")); // => true
 * }
 * ```
 */
export function runDocument(
  file: string | URL,
  options: RunDocumentOptions = {},
): AsyncIterable<RunEvent> {
  return { [Symbol.asyncIterator]: () => eventsOf(file, options) };
}

async function* eventsOf(file: string | URL, options: RunDocumentOptions): AsyncGenerator<RunEvent> {
  options.signal?.throwIfAborted();
  await using opened = await openProgramDocument(file, options);
  const { path, home, settings, write, model, observe } = opened;
  const { out = "none", budget = {}, effort, signal, world } = options;
  const means = homeMeans(home, {
    wishes: {
      defaults: programDefaults(settings),
      showsOperations: settings.showsOperations,
      budget,
      limits: {},
      model,
    },
    ...(out === "none" ? {} : {
      result: async ({ text, depth }) => {
        if (depth === 1) await write(out, text);
      },
    }),
  });
  const observer = observe?.(path);
  yield* checkedEvents(opened, { means, effort, signal, observer, clock: world?.clock });
}

/** Checks a document and runs it. @throws {DocumentCheckError} with everything that is wrong, before anything runs */
export async function* checkedEvents(
  document: CheckableDocument,
  run: Omit<Parameters<typeof runDocumentFile>[0], "document" | "input">,
): AsyncGenerator<RunEvent> {
  const { input, input: { prompt, values = {} } } = document;
  const checked = await checkProgramDocument(document);
  const { entry, problems } = checked;
  if (entry === undefined || problems.some(({ severity }) => severity === "error")) {
    throw new DocumentCheckError(problems);
  }
  const given = { text: givenBlocks(input, checked), values: new Map(Object.entries(values)), prompt };
  yield* runDocumentFile({ ...run, document: entry, input: given });
}

/** How a document is checked. */
export type CheckDocumentOptions = DocumentOptions;

/**
 * Finds everything that can be known to be wrong with a document before it runs, in its own text and in what it imports and runs
 * (documents.md 1.2): errors, which keep it from running, and warnings. Nothing is run and no file is written.
 *
 * @param file relative to the root of the `world`; without one, to the working folder
 * @throws {TypeError} for a block of the input that is none, {ProblemsError} for mistakes in `orrery.yaml`
 *
 * ```ts
 * import { checkDocument, memoryFiles } from "orrery";
 *
 * const text = "# Plan\n\n@llm\npromt: Go on.\n";
 * const world = { root: "/project", files: memoryFiles({ "plan.md": text }) };
 * for (const { file, line, column, severity, message } of await checkDocument("plan.md", { world })) {
 *   console.log(`${file}:${line}:${column}: ${severity}: ${message}`);
 * }
 * // => plan.md:4:1: error: @llm has no parameter "promt" (did you mean "prompt"?)
 * ```
 */
export async function checkDocument(
  file: string | URL,
  options: CheckDocumentOptions = {},
): Promise<readonly FileProblem[]> {
  await using document = await openProgramDocument(file, options);
  return (await checkProgramDocument(document)).problems;
}

/**
 * A document cannot be run: what is wrong was found before anything ran. The message has a line for each error.
 *
 * ```ts
 * import { DocumentCheckError, memoryFiles, runDocument } from "orrery";
 *
 * const world = { root: "/project", files: memoryFiles({ "plan.md": "@shell\nprompt: date\n" }) };
 * try {
 *   for await (const event of runDocument("plan.md", { world })) console.log(event.type);
 * } catch (error) {
 *   if (error instanceof DocumentCheckError) console.log(error.problems[0]?.message);
 * } // => @shell needs run permission (--allow-run)
 * ```
 */
export class DocumentCheckError extends Error {
  override readonly name = "DocumentCheckError";
  /** Errors and warnings: by file, the document itself first, and by line. */
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    super(problems.filter(({ severity }) => severity === "error").map(problemLine).join("\n"));
    this.problems = problems;
  }
}
