// A document in the world of a test: its tools are those of the project, what they and the document do happens in that world, and a script
// answers for every model.
import { type DocumentCommandInput } from "../../check/check_options.ts";
import type { Catalog, Model, RunEvent, Secrets } from "../../core/core.ts";
import { NO_POLICY_FLAGS } from "../../policy/policy_settings.ts";
import { boundedWorld, catalogInWorld, type DocumentWorld } from "../../project/bounded_world.ts";
import { DocumentBounds, worldGrants } from "../../project/document/grants.ts";
import { keepStdout, NOBODY } from "../../project/trust/grants.ts";
import { type DocumentHome, readyTools } from "../../project/document/place.ts";
import {
  openCatalog,
  type OpenCatalogOptions,
  openSettings,
  type ProjectSettings,
} from "../../project/project.ts";
import { checkedEvents } from "../program/document.ts";
import { runSecrets } from "../../project/run_secrets.ts";
import { scriptShell } from "../../project/world.ts";
import type { Containers } from "../../run/calls/container.ts";
import type { DocumentMeans } from "../../run/document/means.ts";
import { fileCalls } from "../../run/document/file_calls.ts";
import { promptCalls } from "../../run/agent/prompt_calls.ts";
import { calledMeans, projectPrompts } from "../start/open_calls.ts";
import { limitsOf } from "../input/budget.ts";

/** What documents meet in a test. */
export interface TestedPlace {
  readonly world: DocumentWorld;
  readonly project: TestProject;
  readonly model: Model;
}

/** A tested document, and what it meets. */
export interface TestedDocument extends TestedPlace {
  /** As messages name it. */
  readonly path: string;
  readonly input: DocumentCommandInput;
}

/** Checks it and runs it. @throws {DocumentCheckError} with everything that is wrong, before anything runs */
export function runTestedDocument(tested: TestedDocument): AsyncGenerator<RunEvent> {
  const { path, input, project: { signal, secrets } } = tested;
  const home = homeOf(tested);
  return checkedEvents({ path, home, input }, {
    means: meansOf(home, tested),
    containers: () => Promise.resolve(containersOf(home, tested)),
    signal,
    secrets,
  });
}

/** What runs prompts and documents in a test. */
export type TestedContainers = Required<Omit<Containers, "callee">>;

/** Prompts and documents that something else than a document runs. */
export function testedContainers(tested: TestedPlace): TestedContainers {
  return containersOf(homeOf(tested), tested);
}

/** A home of its own for each document that runs by itself: each has its own bounds. */
function homeOf({ world: given, project, model }: TestedPlace): DocumentHome {
  const { root } = given;
  const bounds = new DocumentBounds(root);
  const world = boundedWorld(given, (request) => bounds.against(request));
  const { files, shell, policy } = world;
  const script = scriptShell(project.settings);
  return {
    root,
    files,
    shell,
    script,
    grants: worldGrants({ root, files: given.files, policy }, script.command),
    tools: readyTools(async () => catalogInWorld(await project.catalog(), world)),
    models: { problem: () => undefined, find: () => model },
    narrow: (narrowing) => bounds.narrow(narrowing),
  };
}

function meansOf(home: DocumentHome, { project: { settings } }: TestedPlace): DocumentMeans {
  return calledMeans(home, settings, { limits: limitsOf(settings, {}) });
}

/** Prompts and documents that tools run: in the same world, and the script answers there too. */
function containersOf(home: DocumentHome, tested: TestedPlace): TestedContainers {
  const { project: { settings, trustsCode }, model } = tested;
  const { budget, calls } = meansOf(home, tested);
  const prompts = promptCalls(async () => ({
    ...await projectPrompts(settings.root, trustsCode),
    tools: home.tools,
    budget,
    calls,
    modelOf: () => model,
  }));
  return { ...prompts, ...fileCalls(() => Promise.resolve(meansOf(homeOf(tested), tested))) };
}

/** A project with what its tests may call. */
export interface TestProject {
  readonly settings: ProjectSettings;
  /** Modules of prompts may be loaded. */
  readonly trustsCode: boolean;
  /** Ends its tests. */
  readonly signal: AbortSignal;
  /** What is not to be seen in what its tests do. */
  readonly secrets: Secrets;
  /** Its gadgets, opened when a test first needs them, and once for all tests; the built-in ones touch the project itself. */
  catalog(): Promise<Catalog>;
}

/** What the command line says of the projects. */
interface TestProjectsOptions extends Pick<OpenCatalogOptions, "flags" | "notice"> {
  readonly signal: AbortSignal;
}

/** The projects that the files of tests belong to. Disposing of them ends their servers. */
export class TestProjects implements AsyncDisposable {
  readonly #options: TestProjectsOptions;
  readonly #byRoot = new Map<string, TestProject>();
  readonly #catalogs: Promise<Catalog>[] = [];

  constructor(options: TestProjectsOptions) {
    this.#options = options;
    keepStdout(options.flags);
  }

  /** That of a folder. @throws {ProblemsError} for mistakes in its settings */
  async of(folder: string): Promise<TestProject> {
    const settings = await openSettings(folder);
    const project = this.#byRoot.get(settings.root) ?? this.#project(settings);
    this.#byRoot.set(settings.root, project);
    return project;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#catalogs) await (await opening.catch(() => undefined))?.close?.();
  }

  #project(settings: ProjectSettings): TestProject {
    const { flags, signal } = this.#options;
    const secrets = runSecrets({ config: settings.config, settings: NO_POLICY_FLAGS });
    const opening = { ...this.#options, flags: { ...flags, ephemeral: true }, user: NOBODY, secrets };
    let catalog: Promise<Catalog> | undefined;
    return {
      settings,
      signal,
      secrets,
      trustsCode: flags["trust-code"] === true,
      catalog: () => {
        if (catalog === undefined) {
          this.#catalogs.push(catalog = openCatalog(settings, opening).then(({ catalog }) => catalog));
        }
        return catalog;
      },
    };
  }
}
