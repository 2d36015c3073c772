import { EMPTY_CATALOG } from "../core/catalog.ts";
import type { Catalog } from "../core/catalog.ts";
import type { World } from "../core/world.ts";
import { openCatalog } from "../project/project.ts";
import type { OpenCatalogOptions, ProjectSettings } from "../project/project.ts";

/** What a dialog needs of its project. */
export interface DialogCatalog {
  readonly catalog: Catalog;
  readonly world?: World;
  /** Whether what the project says of providers counts. */
  readonly projectAccepted: boolean;
}

/** The gadgets that a model may be offered. Without tools no server is started, and a project that asks for nothing is not opened at all. */
export async function openDialogCatalog(
  project: ProjectSettings,
  { open = openCatalog, ...options }: OpenCatalogOptions & {
    readonly tools: readonly string[];
    /** Opens them. Default: for this run alone. */
    readonly open?: typeof openCatalog;
  },
): Promise<DialogCatalog> {
  const { config } = project;
  const hasTools = options.tools.length > 0;
  if (hasTools || Object.keys(config.project.parts).length > 0) {
    return await open(project, {
      ...options,
      servers: hasTools,
      late: !options.tools.some((name) => name.endsWith("__*")),
    });
  }
  config.notices.forEach(options.notice);
  return { catalog: EMPTY_CATALOG, projectAccepted: false };
}
