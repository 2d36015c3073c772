import type { LoadModule } from "../catalog/module_loader.ts";
import { resolve } from "node:path";
import { logsToStderr } from "../host/terminal/logs_to_stderr.ts";
import { loadsModules } from "../host/process.ts";
import { importOwn } from "./import_own.ts";

/** The modules that a program holds, by their paths from the project's root, with `/`: what `prompts.gen.ts` exports. */
export type PromptModules = Readonly<Record<string, () => Promise<unknown>>>;

/** Which modules of prompts and tactics may be loaded, and from where (prompts.md 12): they run in this process, with all that it may do. */
export interface PromptModuleOptions {
  /** The code of the project may run: `--trust-code` was given, or a program says so. To accept a project is not enough, that names no module. */
  readonly trustsCode: boolean;
  /** Loaded by these functions instead of from the disk. */
  readonly modules?: PromptModules;
  /** What the console of this process is told goes to stderr once a module is loaded from the disk: stdout is the command's. Default false. */
  readonly keepsStdout?: boolean;
}

/** How modules are loaded, and those that are there without a file, by their absolute paths. */
export interface PromptModuleLoader {
  readonly loadModule: LoadModule;
  readonly modules: readonly string[];
}

/** Loads modules as far as they may be loaded. @param root absolute */
export function promptModuleLoader(
  root: string,
  { trustsCode, modules = {}, keepsStdout = false }: PromptModuleOptions,
): PromptModuleLoader {
  const held = new Map(Object.entries(modules).map(([path, load]) => [resolve(root, path), load]));
  return {
    modules: [...held.keys()],
    async loadModule(path) {
      const load: unknown = held.get(path);
      if (typeof load === "function") return await load();
      if (load !== undefined) throw new Error("modules has no function for it");
      if (!loadsModules()) throw new Error(NO_COMPILER);
      if (!trustsCode) throw new Error(NOT_TRUSTED);
      if (keepsStdout) logsToStderr();
      return await importOwn(path, { root });
    },
  };
}

const NOT_TRUSTED = "this module is code of the project and was not loaded: --trust-code loads it";
const NO_COMPILER =
  "a compiled program loads no TypeScript from the disk: use deno run; or bundle (deno bundle --code-splitting) and compile a program of " +
  "your own that gives discoverPrompts the modules of prompts.gen.ts";
