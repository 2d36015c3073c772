import { readMcpJson } from "../catalog/mcp_config.ts";
import { findProjectRoot } from "../catalog/config.ts";
import { mcpNameParts } from "../core/mcp_server.ts";
import { resolve } from "../core/path.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import { hostFiles } from "../host/files.ts";
import { homeFolder, lookAt, realPath } from "../host/paths.ts";
import type { RunGrants } from "../project/grants.ts";
import { DocumentBounds } from "../project/document_bounds.ts";
import { openCatalog, openSettings } from "../project/project.ts";
import type { ProjectSettings } from "../project/project.ts";
import { NOBODY } from "../project/nobody.ts";
import type { CheckReport } from "./check_report.ts";
import { tellUnaccepted } from "./unaccepted_parts.ts";
import type { DocumentPlace } from "../project/document_place.ts";

/** A project as a check sees it: no server is started, no gadget is called, and nothing of it is loaded into this process. */
export interface CheckPlace extends DocumentPlace {
  /** Whether a name may be that of a gadget that only a run knows: of a server. */
  isServerTool(name: string): boolean;
}

/** The projects that the checked files belong to, each opened once; what is wrong with their settings is told. Dispose of it at the end. */
export class CheckPlaces implements AsyncDisposable {
  readonly #cwd: string;
  readonly #grants: RunGrants;
  readonly #report: CheckReport;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #places = new Map<string, Promise<CheckPlace | undefined>>();
  readonly #roots = new Map<string, string>();

  constructor(
    { cwd, grants, report, texts = new Map() }: {
      readonly cwd: string;
      readonly grants: RunGrants;
      readonly report: CheckReport;
      /** By absolute path: what stands for the text of a file, which need not be there. */
      readonly texts?: ReadonlyMap<string, string>;
    },
  ) {
    this.#cwd = cwd;
    this.#grants = grants;
    this.#report = report;
    this.#texts = texts;
  }

  /** What stands for the text of a file; undefined where the file itself does. */
  textOf(path: string): string | undefined {
    return this.#texts.get(path);
  }

  /** The root of the project that a folder belongs to: real and absolute. */
  rootOf(folder: string): string {
    const known = this.#roots.get(folder);
    if (known !== undefined) return known;
    const root = realPath(findProjectRoot(folder, { look: lookAt, home: homeFolder() }));
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

  /** Ends what the gadgets of the projects were described in. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#places.values()) {
      await (await opening.catch(() => undefined))?.catalog.close?.();
    }
  }

  async #opened(root: string): Promise<CheckPlace | undefined> {
    try {
      const place = await openPlace(root, { cwd: this.#cwd, grants: this.#grants });
      // Who asks about a text of their own asks about nothing else.
      if (this.#texts.size === 0) await tellUnaccepted(place.project, this.#report);
      return place;
    } catch (thrown) {
      const problems = thrown instanceof ProblemsError ? thrown.problems : [thrown];
      for (const problem of problems) {
        if (!(problem instanceof SourceError)) throw thrown;
        const { span, source, message } = problem;
        const path = span?.file === undefined ? "" : resolve(this.#cwd, span.file);
        this.#report.file(path, source);
        this.#report.add({
          kind: "settings",
          path,
          line: span?.line ?? 1,
          column: span?.column ?? 1,
          severity: "error",
          message,
        });
      }
      return undefined;
    }
  }
}

async function openPlace(
  root: string,
  { cwd, grants }: { readonly cwd: string; readonly grants: RunGrants },
): Promise<CheckPlace> {
  const project = await openSettings(root, { cwd });
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
    looks: {},
  });
  return {
    project,
    grants,
    catalog,
    world,
    accepted: true, // what a run would ask about is no mistake of a file
    canAsk: false,
    bounds: new DocumentBounds(root),
    isServerTool: (name) => servers.some((prefix) => name.startsWith(prefix)),
  };
}

async function serverPrefixes({ root, cwd, config }: ProjectSettings): Promise<readonly string[]> {
  const shared = await readMcpJson(root, { disk: hostFiles({ root }), cwd });
  const names = [config.mcpServers, config.project.mcpServers, shared?.servers ?? {}].flatMap(Object.keys);
  return [...mcpNameParts(names).values()].map((part) => `${part}__`);
}
