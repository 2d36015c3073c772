import { loadCatalog } from "../catalog/load_catalog.ts";
import { loadConfig } from "../catalog/config.ts";
import type { Config } from "../catalog/config.ts";
import { findProjectRoot } from "../catalog/project_root.ts";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import type { Catalog } from "../core/catalog.ts";
import type { User, World } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { configFolder, homeFolder, realPath } from "../host/paths.ts";
import { importModule, isCompiled } from "../host/process.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_flags.ts";
import type { PolicySettings } from "../policy/policy_flags.ts";
import { createWorld } from "./world.ts";

/** A project root with its settings. */
export interface ProjectSettings {
  /** Real and absolute. */
  readonly root: string;
  readonly cwd: string;
  readonly config: Config;
}

/** What the flags of a command say of the project. */
export interface ProjectFlags {
  readonly gadget: readonly string[];
  readonly trust: readonly string[];
  readonly "trust-project": boolean;
}

/** How to make the catalogue. */
export interface OpenCatalogOptions {
  readonly flags: ProjectFlags;
  /** Default: no permissions but those of every run. */
  readonly settings?: PolicySettings;
  readonly user: User;
  /** Told what was ignored, a line each. */
  readonly notice: (text: string) => void;
}

/** Finds the project root from a folder upwards and reads its settings (config.md). */
export async function openSettings(
  folder: string,
  options: { readonly cwd: string },
): Promise<ProjectSettings> {
  const { cwd } = options;
  const disk = hostFiles({ root: cwd });
  const root = realPath(await findProjectRoot(folder, { stat: disk.stat, home: homeFolder() }));
  const userFolder = configFolder();
  const config = await loadConfig(root, disk, { cwd, ...(userFolder !== undefined && { userFolder }) });
  return { root, cwd, config };
}

/** The gadgets of a project and the world they touch. */
export async function openCatalog(
  { root, cwd, config }: ProjectSettings,
  { flags, settings = NO_POLICY_FLAGS, user, notice }: OpenCatalogOptions,
): Promise<{ readonly catalog: Catalog; readonly world: World }> {
  config.notices.forEach(notice);
  const world = createWorld({ root, cwd, settings, user });
  const projectAccepted = await isProjectAccepted({ root, config, flags, user, notice });
  const catalog = await loadCatalog({
    root,
    cwd,
    world,
    config,
    projectAccepted,
    importModule,
    builtIns: builtInGadgets,
    compiled: isCompiled(),
    disk: hostFiles({ root }),
    files: flags.gadget,
    trust: flags.trust,
    onNotice: notice,
  });
  return { catalog, world };
}

async function isProjectAccepted(
  { root, config, flags, user, notice }:
    & { readonly root: string; readonly config: Config }
    & Pick<OpenCatalogOptions, "flags" | "user" | "notice">,
): Promise<boolean> {
  const { parts } = config.project;
  if (Object.keys(parts).length === 0) return false;
  const { acceptProject }: typeof import("./accept_project.ts") = await import(
    "./accept_project.ts" as string
  );
  return await acceptProject(parts, { root, isWanted: flags["trust-project"], user, notice });
}
