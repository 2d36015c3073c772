import type { Catalog } from "../../core/catalog.ts";
import type { Secrets } from "../../core/secrets.ts";
import { workingFolder } from "../../host/paths.ts";
import { NO_POLICY_FLAGS } from "../../policy/policy_settings.ts";
import { openCatalog, openSettings } from "../../project/project.ts";
import type { OpenCatalogOptions, ProjectSettings } from "../../project/project.ts";
import { runSecrets } from "../../project/run_secrets.ts";
import { nobody } from "../around_run.ts";

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
export interface TestProjectsOptions extends Pick<OpenCatalogOptions, "flags" | "notice"> {
  readonly signal: AbortSignal;
}

/** The projects that the files of tests belong to. Disposing of them ends their servers. */
export class TestProjects implements AsyncDisposable {
  readonly #options: TestProjectsOptions;
  readonly #byRoot = new Map<string, TestProject>();
  readonly #catalogs: Promise<Catalog>[] = [];

  constructor(options: TestProjectsOptions) {
    this.#options = options;
  }

  /** That of a folder. @throws {ProblemsError} for mistakes in its settings */
  async of(folder: string): Promise<TestProject> {
    const settings = await openSettings(folder, { cwd: workingFolder() });
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
    let opening: Promise<Catalog> | undefined;
    return {
      settings,
      signal,
      secrets,
      trustsCode: flags["trust-code"] === true,
      catalog: () => opening ??= this.#open(settings, secrets),
    };
  }

  #open(settings: ProjectSettings, secrets: Secrets): Promise<Catalog> {
    const flags = { ...this.#options.flags, ephemeral: true };
    const opening = openCatalog(settings, { ...this.#options, flags, user: nobody, secrets })
      .then(({ catalog }) => catalog);
    this.#catalogs.push(opening);
    return opening;
  }
}
