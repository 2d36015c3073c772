// A project held open: the one inner door. Commands, the server, MCP and programs come to what is beneath through it and through what stands
// beside it in this room; they open nothing themselves.
import { dirname, resolve } from "node:path";
import {
  type Catalog,
  FileError,
  type Journal,
  type RunJournal,
  RunNotFoundError,
  type RunStart,
  type Secrets,
  type User,
} from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { pathInProject, projectRoot, realPath, workingFolder } from "../host/paths.ts";
import type { ModelList } from "../models/known_models.ts";
import {
  isAcceptedHere,
  openCatalog,
  type OpenCatalogOptions,
  type ProjectSettings,
  settingsAt,
} from "../project/project.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { addGranted, runSecrets } from "../project/run_secrets.ts";
import {
  dropGrants,
  keepGrants,
  keepStdout,
  NO_GRANTS,
  NOBODY,
  renewedGrants,
  type RunGrants,
} from "../project/trust/grants.ts";
import { createRun, type FoundSecret, type KeepFlags, type KeptRun, keptRun, openJournal } from "./keep.ts";
import type { LookedFile } from "./kinds/kind.ts";

/** Which project is opened, and for whom. */
export interface OpenAppOptions {
  /** A file of it, as it is typed. */
  readonly file?: string;
  /** A folder in it. Default: that of the file, else the working folder. */
  readonly folder?: string;
  /** Default: the working folder. */
  readonly cwd?: string;
  /** Default: nothing beyond what every run may do. */
  readonly grants?: RunGrants;
}

/** A project held open on this machine. What is opened of it is opened when it is wanted first, and a journal is closed with it. */
export interface App extends Disposable {
  /** Its root and its settings, and the working folder. */
  readonly project: ProjectSettings;
  readonly grants: RunGrants;
  /** What nobody is to see: of the settings, and of the variables that the grants let be read. */
  readonly secrets: Secrets;
  /** What is kept of its runs; undefined where nothing ever was: looking makes no journal. @throws {JournalError} */
  journal(): Promise<Journal | undefined>;
  /** The same where a run is named. @throws {RunNotFoundError} where nothing is kept */
  neededJournal(): Promise<Journal>;
  /** Begins to keep a new run. @param found what its servers are given, which nobody is to see @throws {JournalError} when the journal cannot be written, {FileError} for the record */
  createRun(start: RunStart, keep: KeepFlags, found?: readonly FoundSecret[]): Promise<KeptRun>;
  /** What a run may do when it goes on: what it was allowed, and the grants. @throws {PermissionRefused} as `renewedGrants` */
  renewedGrants(id: string, user: User): Promise<RunGrants>;
  /** Goes on with a run that this process has taken over; whoever goes on with it later may do the same. */
  continueRun(run: RunJournal, grants: RunGrants): Promise<KeptRun>;
  /** Forgets a run. @param word its id, or the beginning of it @throws as `Journal.read` and `remove` */
  removeRun(word: string): Promise<void>;
  /** Its gadgets, for whoever looks at them and asks nobody; to be closed. */
  catalog(asked: Pick<OpenCatalogOptions, "servers" | "signal" | "notice">): Promise<Catalog>;
  /** What prompts.md calls by a name. */
  prompts(): Promise<PromptIndex>;
  /** What can be asked, and what is missing for the rest; contacts nobody. @param accepted default: `isAccepted` */
  models(accepted?: boolean): Promise<ModelList>;
  /** Whether what the project says for itself counts; nobody is asked. */
  isAccepted(): Promise<boolean>;
  /** The text of one of its files, for whoever looks at it. @param word as it is typed @throws {FileError} */
  look(word: string): Promise<LookedFile>;
}

/** Opens the project of a file or a folder. @throws {ProblemsError} with everything that is wrong with its settings */
export async function openApp(options: OpenAppOptions = {}): Promise<App> {
  const { file, cwd = workingFolder(), grants = NO_GRANTS } = options;
  const { folder = file === undefined ? cwd : dirname(realPath(resolve(cwd, file))) } = options;
  const project = await settingsAt(projectRoot(folder, cwd), { cwd });
  const { root, config } = project;
  const { settings, flags } = grants;
  let secrets: Secrets | undefined;
  let opened: Journal | undefined;
  const app: App = {
    project,
    grants,
    get secrets() {
      return secrets ??= runSecrets({ config, settings });
    },
    async journal() {
      if (opened !== undefined || !await hasJournal(root)) return opened;
      return opened ??= openJournal(root, { secrets: app.secrets }); // somebody else may have asked meanwhile
    },
    async neededJournal() {
      const found = await app.journal();
      if (found !== undefined) return found;
      throw new RunNotFoundError(
        "No run is kept in this project: the working folder decides which one it is",
      );
    },
    createRun: (start, keep, found = []) => createRun(start, { ...project, grants, found }, keep),
    async renewedGrants(id, user) {
      const renewed = await renewedGrants(id, grants, { ...project, user });
      addGranted(app.secrets, renewed.settings);
      return renewed;
    },
    async continueRun(run, allowed) {
      await keepGrants(run.id, allowed, project);
      const held = { run, journal: await app.neededJournal() };
      const observer = project.observe?.(run.run.file);
      return keptRun({ secrets: app.secrets, observer, held, isGranted: true, isLasting: true });
    },
    async removeRun(word) {
      const kept = await app.neededJournal();
      const { id } = kept.read(word).summary;
      kept.remove(id);
      dropGrants(id);
    },
    async catalog(asked) {
      keepStdout(flags);
      return (await openCatalog(project, { ...grants, ...asked, user: NOBODY })).catalog;
    },
    async prompts() {
      const { promptIndex }: typeof import("../project/prompt_index.ts") = await import(
        "../project/prompt_index.ts" as string
      );
      return await promptIndex(root, { trustsCode: flags["trust-code"] === true });
    },
    async models(accepted) {
      const { openProjectModels }: typeof import("../project/models.ts") = await import(
        "../project/models.ts" as string
      );
      return openProjectModels({ ...project, isAccepted: accepted ?? await app.isAccepted() }).list();
    },
    isAccepted: () => isAcceptedHere(project),
    async look(word) {
      const { readDocumentText }: typeof import("../run/document/files.ts") = await import(
        "../run/document/files.ts" as string
      );
      const path = realPath(resolve(cwd, word));
      const text = await readDocumentText(hostFiles({ root: cwd }), word);
      return { file: pathInProject(word, project), path, text, project };
    },
    [Symbol.dispose]: () => opened?.[Symbol.dispose](),
  };
  return app;
}

async function hasJournal(root: string): Promise<boolean> {
  try {
    return (await hostFiles({ root }).stat(".orrery/orrery.db")).kind === "file";
  } catch (error) {
    if (error instanceof FileError && error.code === "denied") throw error;
    return false;
  }
}
