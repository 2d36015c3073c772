// A document in a project of this machine, with what the flags of a command grant it.
import { checkDocument } from "../../check/check_document.ts";
import type { CheckDocumentOptions, DocumentGrants, Soon } from "../../check/check_options.ts";
import {
  type Catalog,
  type Files,
  MAX_MEDIA_BYTES,
  type Model,
  type Shell,
  shownFile,
  TOO_LARGE_MEDIA,
  type World,
} from "../../core/core.ts";
import { type DocumentBounds, documentGrants } from "./grants.ts";
import { modelProblem, modelsByName } from "../models.ts";
import type { ProjectSettings } from "../project.ts";
import type { RunGrants } from "../trust/grants.ts";
import { commandSettings, scriptShell } from "../world.ts";
import { readDocumentText } from "../../run/document/files.ts";
import type { DocumentMeans } from "../../run/document/means.ts";
import { catalogTools, type ToolSource, wholeCatalog } from "../../run/turn/offered.ts";

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

// What a document meets where it is checked and run: made of the flags of a command, or of the options of a program.

/** Where a document runs. */
export interface DocumentHome {
  /** The project root: real and absolute. */
  readonly root: string;
  /** Bounded by what was granted; so is the shell. */
  readonly files: Files;
  readonly shell: Shell;
  /** Reads the scripts of `@shell`. */
  readonly script: DocumentMeans["script"];
  readonly grants: DocumentGrants;
  readonly tools: ToolSource;
  readonly models: {
    /** What is wrong with a name; undefined when nothing is known to be. */
    problem(name: string | undefined): Soon<string | undefined>;
    find(name: string | undefined): Model | Promise<Model>;
  };
  /** What is done from now on may use no more than that. */
  readonly narrow: NonNullable<DocumentMeans["narrow"]>;
}

/** What a run of a document says besides. */
export interface DocumentWishes
  extends
    Pick<DocumentMeans["flags"], "model" | "mode">,
    Pick<DocumentMeans, "defaults" | "showsOperations" | "budget"> {
  readonly limits: DocumentMeans["calls"];
}

/** What a check of a document in this place needs, without the document's own input. */
export function homeCheck(home: DocumentHome): Omit<CheckDocumentOptions, "input" | "model" | "mode"> {
  const { root, files, grants, tools, models } = home;
  return {
    root,
    read: (path) => readDocumentText(files, path),
    async mediaProblem(path) {
      if ((await files.stat(path)).size > MAX_MEDIA_BYTES) return TOO_LARGE_MEDIA;
      const shown = shownFile(await files.readBytes(path), { name: path });
      return "problem" in shown ? shown.problem : undefined;
    },
    grants,
    toolNames: async () => [...await tools.names()],
    modelProblem: (name) => models.problem(name),
  };
}

/** The same for the engine. */
export function homeMeans(
  home: DocumentHome,
  { wishes, result }: {
    readonly wishes: DocumentWishes;
    readonly result?: NonNullable<DocumentMeans["result"]>;
  },
): DocumentMeans {
  const { root, files, shell, script, tools, models } = home;
  const { model, mode, limits: { timeoutMs, resultBytes }, defaults, showsOperations, budget } = wishes;
  const checked = homeCheck(home);
  return {
    root,
    files,
    maySave: (path) => home.grants.mayWrite(path),
    shell,
    script,
    models: { find: (name) => models.find(name) },
    tools,
    flags: { model, mode },
    defaults,
    showsOperations,
    budget,
    calls: {
      timeoutMs,
      resultBytes,
    },
    random: Math.random,
    check: async ({ path, text }, callers) => {
      const { problems } = await checkDocument(path, {
        ...checked,
        callers,
        read: async (wanted) => wanted === path ? text : await checked.read(wanted),
      });
      return problems.filter(({ file }) => file === path);
    },
    narrow: (narrowing) => home.narrow(narrowing),
    result,
  };
}
