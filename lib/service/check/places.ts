import type { FoundProblem } from "./report.ts";
import { dirname, join } from "node:path";
import { compileGlob } from "../../../gadgets/_glob.ts";
import {
  type AnyGadget,
  FileError,
  LOCK_FILE,
  messageOf,
  projectPath,
  type Span,
  type World,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { parseYaml } from "../../parse/yaml/yaml.ts";
import { configuredServers } from "../../project/configured_servers.ts";
import { conversationMeans } from "../../project/conversation_means.ts";
import { DocumentBounds } from "../../project/document/grants.ts";
import type { DocumentPlace } from "../../project/document/place.ts";
import { grantsNothing, NO_GRANTS, NOBODY, type RunGrants } from "../../project/trust/grants.ts";
import {
  isAcceptedHere,
  openCatalog,
  projectParts,
  type ProjectSettings,
  settingsAt,
} from "../../project/project.ts";
import { silentModel } from "../../run/turn/noted_model.ts";
import { agentMeets } from "../talks/agent.ts";
import type { AgentMeets, AgentNeedsOptions } from "../talks/needs.ts";
import type { CheckReport } from "./report.ts";
import { limitsOf } from "../input/budget.ts";
import { projectRoot } from "../../host/paths.ts";

/** A project as a check sees it: no server is started, no gadget is called, and nothing of it is loaded into this process. */
export interface CheckPlace extends DocumentPlace {
  readonly world: World;
  /** For its agents. */
  readonly meets: AgentNeedsOptions;
  /** Some flag says what may be done: then what is not granted is an error, as for a run. Else a warning. */
  readonly isGranting: boolean;
  /** Whether a name may be that of a gadget that only a run knows: of a server. */
  isServerTool(name: string): boolean;
}

/** How projects are opened to be checked. */
export interface CheckPlacesOptions {
  readonly cwd: string;
  readonly grants: RunGrants;
  readonly report: CheckReport;
  /** `--model` */
  readonly model?: string;
  /** `--exclude` */
  readonly exclude?: readonly string[];
  /** By absolute path: what stands for the text of a file, which need not be there. */
  readonly texts?: ReadonlyMap<string, string>;
}

/** The projects that the checked files belong to, each opened once; what is wrong with their settings is told. Dispose of it at the end. */
export class CheckPlaces implements AsyncDisposable {
  readonly #options: CheckPlacesOptions;
  readonly #places = new Map<string, Promise<CheckPlace | undefined>>();
  readonly #roots = new Map<string, string>();

  constructor(options: CheckPlacesOptions) {
    this.#options = options;
  }

  /** What stands for the text of a file; undefined where the file itself does. */
  textOf(path: string): string | undefined {
    return this.#options.texts?.get(path);
  }

  /** The text of a file that is checked; undefined where it cannot be read, which is told. */
  async read(path: string, kind: FoundProblem["kind"]): Promise<string | undefined> {
    const { report } = this.#options;
    report.file(path);
    try {
      const text = this.textOf(path) ?? await hostFiles({ root: dirname(path) }).readText(path);
      report.file(path, text);
      return text;
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      report.add({ kind, path, message: thrown.message });
      return undefined;
    }
  }

  /** The root of the project that a folder belongs to: real and absolute. */
  rootOf(folder: string): string {
    const known = this.#roots.get(folder);
    if (known !== undefined) return known;
    const root = projectRoot(folder, this.#options.cwd);
    this.#roots.set(folder, root);
    return root;
  }

  /** The project that a folder belongs to; undefined when its settings cannot be read. */
  of(folder: string): Promise<CheckPlace | undefined> {
    const root = this.rootOf(folder);
    let place = this.#places.get(root);
    if (place === undefined) this.#places.set(root, place = this.#opened(root));
    return place;
  }

  /** What the project of a folder, or the command line, leaves out: files, and folders with all below them. */
  async exclusion(folder: string): Promise<(path: string) => boolean> {
    const root = this.rootOf(folder);
    // What is wrong with settings is told with what they are for.
    const { cwd, exclude = [] } = this.#options;
    const project = await settingsAt(root, { cwd }).catch(() => undefined);
    const tests = [[root, project?.config.exclude ?? []], [cwd, exclude]] as const;
    const globs = tests.flatMap(([from, list]) =>
      list.map((glob) => ({ from, fits: this.#glob(glob, from) }))
    );
    return (path) =>
      globs.some(({ from, fits }) => {
        const parts = projectPath(path, from).split("/");
        return parts.some((_, index) => fits(parts.slice(0, index + 1).join("/")));
      });
  }

  #glob(glob: string, root: string): (path: string) => boolean {
    try {
      return compileGlob(glob.replace(/\/+$/, ""));
    } catch (thrown) {
      const path = join(root, "orrery.yaml");
      const message = `exclude: ${JSON.stringify(glob)}: ${messageOf(thrown)}`;
      this.#options.report.add({ kind: "settings", path, message });
      return () => false;
    }
  }

  /** Ends what the gadgets of the projects were described in. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#places.values()) {
      await (await opening.catch(() => undefined))?.catalog.close?.();
    }
  }

  async #opened(root: string): Promise<CheckPlace | undefined> {
    const { report, cwd, texts } = this.#options;
    const place = await report.unlessProblems(this.#open(root), [cwd]);
    // Who asks about a text of their own asks about nothing else.
    if (place !== undefined && !texts?.size) await tellUnaccepted(place.project, report);
    return place;
  }

  async #open(root: string): Promise<CheckPlace> {
    const { cwd, grants } = this.#options;
    const project = await settingsAt(root, { cwd });
    const servers = await serverPrefixes(project);
    // Grants of gadgets would load their modules: a check knows them by their files.
    const quiet = { ...project, config: { ...project.config, grants: {} } };
    const { catalog, world } = await openCatalog(quiet, {
      flags: grants.flags,
      settings: grants.settings,
      accepted: false,
      user: NOBODY,
      notice: () => undefined,
      servers: false,
    });
    const place = {
      project,
      grants,
      catalog,
      world,
      accepted: true, // what a run would ask about is no mistake of a file
      canAsk: false,
      bounds: new DocumentBounds(root),
      isGranting: !grantsNothing({ ...grants, flags: NO_GRANTS.flags }),
      isServerTool: (name: string) => servers.some((prefix) => name.startsWith(prefix)),
    };
    return { ...place, meets: this.#meets(place) };
  }

  /** The same as for a run, but that servers are not asked, and that a script which cannot be read is told with its place. */
  #meets(place: Omit<CheckPlace, "meets">): AgentNeedsOptions {
    const { project } = place;
    const { models, tools } = conversationMeans(place, {
      model: this.#options.model,
      budget: {},
      limits: limitsOf(project, {}),
    });
    const means: AgentMeets["means"] = {
      models: {
        find: async (...asked) => {
          const finding = Promise.resolve(models.find(...asked)).then((model) => ({ model }));
          const found = await this.#options.report.unlessProblems(finding, [this.#options.cwd, project.root]);
          return found?.model ?? SILENT; // which one is asked where nothing says so is for whoever runs it
        },
      },
      tools: {
        ...tools,
        find: async (name) => place.isServerTool(name) ? SERVER_TOOL : await tools.find(name),
      },
    };
    return {
      ...agentMeets(place, { means, canAsk: false }),
      hasCollection: project.config.conversations.collection !== undefined,
      context: undefined,
    };
  }
}

const SILENT = silentModel({ id: "" });

/** What a server takes only a run knows. */
const SERVER_TOOL: AnyGadget = { name: "", description: "", run: () => undefined };

async function serverPrefixes(project: ProjectSettings): Promise<readonly string[]> {
  return (await configuredServers(project)).map(({ part }) => `${part}__`);
}

/** What is no part of `orrery.yaml`. */
const FILES: readonly string[] = [".mcp.json", LOCK_FILE];

/**
 * A check takes what a project says for itself as accepted, since it looks for mistakes in files; a run does not. So that nobody takes the one
 * for the other, what a run would leave out is told, once for each file that says it.
 */
async function tellUnaccepted(project: ProjectSettings, report: CheckReport): Promise<void> {
  const parts = Object.keys(await projectParts(project));
  if (parts.length === 0 || await isAcceptedHere(project)) return;
  const ofYaml = parts.filter((part) => !FILES.includes(part));
  if (ofYaml.length > 0) {
    const path = join(project.root, "orrery.yaml");
    tell(path, { parts: ofYaml, report, place: await placeIn(path, ofYaml) });
  }
  for (const part of parts.filter((each) => FILES.includes(each))) {
    tell(join(project.root, part), { parts: [part], report });
  }
}

function tell(path: string, { parts, report, place: { line, column } = START }: {
  readonly parts: readonly string[];
  readonly report: CheckReport;
  readonly place?: Pick<Span, "line" | "column">;
}): void {
  const message =
    `you have not accepted what this project says here, or not as it is now (${parts.join(", ")}): ` +
    "a run takes it as absent, this check as accepted";
  report.add({ kind: "settings", path, line, column, severity: "warning", message });
}

const START = { line: 1, column: 1 };

/** The first of the parts. */
async function placeIn(path: string, parts: readonly string[]): Promise<Pick<Span, "line" | "column">> {
  const document = await parseYaml(await hostFiles({ root: "/" }).readText(path), { file: path });
  const places = parts.flatMap((part) => document.at(part.split("."), "key") ?? []);
  return places.sort((a, b) => a.line - b.line)[0] ?? START;
}
