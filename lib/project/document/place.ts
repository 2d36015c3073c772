// A document in a project of this machine, with what the flags of a command grant it.
import { type Catalog, pathFromFolder, type World } from "../../core/core.ts";
import { resolve } from "node:path";
import type { DocumentGrants } from "../../check/check_options.ts";
import { realPath } from "../../host/paths.ts";
import { catalogTools, type ToolSource, wholeCatalog } from "../../run/turn/offered.ts";
import { modelProblem, modelsByName } from "../models.ts";
import type { ProjectSettings } from "../project.ts";
import type { RunGrants } from "../trust/grants.ts";
import { commandSettings, scriptShell } from "../world.ts";
import { type DocumentBounds, documentGrants } from "./grants.ts";
import type { DocumentHome } from "./home.ts";

/** A project that a document runs in. */
export interface DocumentPlace {
  readonly project: ProjectSettings;
  readonly grants: RunGrants;
  readonly catalog: Catalog;
  readonly world: Pick<World, "files" | "shell">;
  /** Whether what the project says for itself counts. */
  readonly accepted: boolean;
  /** Somebody can be asked about what no flag forbids. */
  readonly canAsk: boolean;
  /** Around its world. */
  readonly bounds: DocumentBounds;
}

/** What was granted there, as far as it is known before a document runs. */
export function placeGrants(
  { project, grants: { settings }, accepted, canAsk }: Pick<
    DocumentPlace,
    "project" | "grants" | "accepted" | "canAsk"
  >,
): DocumentGrants {
  const { root, cwd, config } = project;
  return documentGrants({
    root,
    cwd,
    settings,
    scripts: commandSettings("@shell", settings, { root, config, accepted }),
    shell: scriptShell(project).command,
    canAsk,
  });
}

/** What a document meets there. */
export function placeHome(place: DocumentPlace): DocumentHome {
  const { project, grants: { settings }, catalog, world, accepted, bounds } = place;
  const { root } = project;
  const script = scriptShell(project);
  return {
    root,
    files: world.files,
    shell: world.shell,
    script,
    grants: placeGrants(place),
    tools: readyTools(() => Promise.resolve(catalog)),
    models: {
      problem: (name) => modelProblem(name, { ...project, accepted }),
      find: modelsByName({ ...project, isAccepted: accepted, settings }),
    },
    narrow: (narrowing) => bounds.narrow(narrowing),
  };
}

/** The gadgets of a catalogue that can be called. */
export function readyTools(catalog: () => Promise<Catalog>): ToolSource {
  return {
    ...catalogTools(catalog),
    names: async () =>
      (await wholeCatalog(await catalog())).filter(({ state }) => state === "ready").map(({ name }) => name),
  };
}

/** The path of a file as documents name it. @param word as it was typed */
export function documentPath(word: string, { root, cwd }: Pick<ProjectSettings, "root" | "cwd">): string {
  return pathFromFolder(realPath(resolve(cwd, word)), root);
}
