// The project as it is: its settings and its gadgets are opened once for all runs, and anew when a file of theirs has changed. What is not
// used any more is closed when its last run has ended.
import { join } from "node:path";
import { canonicalJson, type Catalog, LOCK_FILE, messageOf, type Model, type Secrets } from "../core/core.ts";
import { configFolder, projectRoot } from "../host/paths.ts";
import { textStamp, treeStamp } from "../host/files/watch.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import { catalogInWorld } from "../project/bounded_world.ts";
import { modelsByName } from "../project/models.ts";
import { openCatalog, type OpenedCatalog, projectParts } from "../project/project.ts";
import { NOBODY, type RunGrants } from "../project/trust/grants.ts";
import { createWorld, withCommandGrants } from "../project/world.ts";
import { type App, openApp } from "./app.ts";

/** How a project is held. */
export interface ProjectHoldOptions {
  /** A folder in it. */
  readonly folder: string;
  readonly grants: RunGrants;
  /** Whether nothing is to be kept of what gadgets used. */
  readonly ephemeral: boolean;
  readonly notice: (text: string) => void;
}

/** A project as some runs have it. */
export interface OpenProject {
  readonly app: App;
  /** Whether what it says for itself counts. */
  readonly accepted: boolean;
  /** What that is, as text. */
  readonly parts: string;
  /** Its gadgets; the built-in ones touch nothing before they are in the world of a run. */
  readonly catalog: Catalog;
  /** Opens the gadgets for one run, in a world of its own. */
  readonly openCatalog: typeof openCatalog;
  model(name: string): Promise<Model>;
  /** One run more uses it; what it gives says, once, that it has ended. */
  readonly use: () => () => void;
}

const LOOK_EVERY_MS = 1_000;

/** A project that is held open. */
export class ProjectHold implements AsyncDisposable {
  /** Real and absolute. */
  readonly root: string;
  /** What nobody is to see, also of what servers are given. */
  readonly secrets: Secrets;
  readonly #options: ProjectHoldOptions;
  #current: Held;
  #stamp: string;
  #lookedAt = performance.now();
  #renewing: Promise<OpenProject> | undefined;
  readonly #closing = new Set<Promise<void>>();

  private constructor(options: ProjectHoldOptions, { held, stamp }: Opened) {
    this.#options = options;
    ({ project: { root: this.root }, secrets: this.secrets } = held.app);
    this.#current = held;
    this.#stamp = stamp;
  }

  /** @throws {ProblemsError} for settings that cannot be read */
  static async open(options: ProjectHoldOptions): Promise<ProjectHold> {
    return new ProjectHold(options, await opened(options));
  }

  /** As it was when it was opened last. */
  get latest(): OpenProject {
    return this.#current;
  }

  /** As it is now, looked at once a second. What cannot be read keeps what there was, and is noticed. */
  async current(): Promise<OpenProject> {
    if (this.#renewing !== undefined || performance.now() - this.#lookedAt < LOOK_EVERY_MS) {
      return await (this.#renewing ?? this.#current);
    }
    this.#lookedAt = performance.now();
    const stamp = stampOf(this.#current.app);
    if (stamp === this.#stamp) return this.#current;
    this.#renewing = this.#renew(stamp).finally(() => this.#renewing = undefined);
    return await this.#renewing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewing;
    this.#retire(this.#current);
    await Promise.all(this.#closing);
  }

  /** @param seen the stamp from before it is read: of what cannot be read, that is said once */
  async #renew(seen: string): Promise<OpenProject> {
    const old = this.#current;
    try {
      const { held, stamp } = await opened(this.#options, { ...old, secrets: this.secrets });
      this.#current = held;
      this.#stamp = stamp;
      this.#retire(old);
    } catch (error) {
      this.#stamp = seen;
      this.#options.notice(
        `the project has changed and cannot be read; it stays as it was: ${messageOf(error)}`,
      );
    }
    return this.#current;
  }

  #retire(held: Held): void {
    const closing: Promise<void> = held.retire().catch((error) => this.#options.notice(messageOf(error)))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

interface Opened {
  readonly held: Held;
  readonly stamp: string;
}

/**
 * `--trust-project` accepts what there is when it is said: what a run writes into the settings later would grant itself anything.
 *
 * @param before what it was until now
 */
async function opened(
  { folder, grants, ephemeral, notice }: ProjectHoldOptions,
  before?: OpenProject & Pick<ProjectHold, "secrets">,
): Promise<Opened> {
  const root = before?.app.project.root ?? projectRoot(folder, folder);
  const settingsNow = settingsStamp(root); // before they are read, and the folders before their gadgets are: what changes meanwhile is seen
  const app = await openApp({ folder: root, cwd: root, grants });
  const stamp = `${settingsNow}\n${foldersStamp(app)}`;
  const parts = await projectParts(app.project);
  const isAsBefore = before !== undefined && canonicalJson(parts) === before.parts;
  const { settings, flags } = grants;
  const found = await openCatalog(app.project, {
    settings,
    flags: { ...flags, ephemeral, "trust-project": flags["trust-project"] && before === undefined },
    ...(isAsBefore && before.accepted && { accepted: true }), // where nothing can be kept of it, too
    user: NOBODY,
    notice,
    secrets: before?.secrets ?? app.secrets,
    log: (server, line) => notice(`${server}: ${line}`),
  });
  return { held: held(app, { ...found, parts: canonicalJson(parts) }), stamp };
}

/** Everything that the settings and the gadgets are made of. */
function stampOf(app: App): string {
  return `${settingsStamp(app.project.root)}\n${foldersStamp(app)}`;
}

function settingsStamp(root: string): string {
  const own = configFolder();
  const files = ["orrery.yaml", ".mcp.json", LOCK_FILE].map((name) => join(root, name));
  return [...files, ...(own === undefined ? [] : [join(own, "config.yaml")])].map(textStamp).join("\n");
}

function foldersStamp({ project: { config } }: App): string {
  return config.gadgets.folders.map(({ path }) => treeStamp(path)).join("\n");
}

/** An opened project, which is closed when nobody uses it any more. */
interface Held extends OpenProject {
  retire(): Promise<void>;
}

function held(
  app: App,
  { catalog, projectAccepted: accepted, parts }: OpenedCatalog & { readonly parts: string },
): Held {
  const { project, grants } = app;
  let uses = 0;
  let onUnused = (): void => {};
  return {
    app,
    accepted,
    parts,
    catalog,
    model: modelsByName({ ...project, isAccepted: accepted, settings: grants.settings }),
    openCatalog({ root, cwd }, { settings = NO_POLICY_FLAGS, user, approve, against }) {
      const touching = { root, cwd, settings, user, approve, against };
      const world = withCommandGrants(createWorld(touching), touching, {
        root,
        config: project.config,
        accepted,
      });
      return Promise.resolve({ catalog: catalogInWorld(catalog, world), world, projectAccepted: accepted });
    },
    use() {
      uses++;
      let isUsed = true;
      return () => {
        if (isUsed && --uses === 0) onUnused();
        isUsed = false;
      };
    },
    async retire() {
      if (uses > 0) await new Promise<void>((resolve) => onUnused = resolve);
      await catalog.close?.();
    },
  };
}
