import { fileURLToPath } from "node:url";
import { isAbsolute, join } from "node:path";
import type { Files, Sight, World } from "../core/world.ts";
import type { LoadModule } from "./module_loader.ts";
import type { BuiltIns } from "./catalog.ts";
import type { CatalogEntry, EntryGrant } from "../core/catalog.ts";
import type { Config } from "./config/config.ts";
import { loadConfig } from "./config/load.ts";
import type { GadgetFile } from "./gadget_file.ts";
import { takenWords, type TrustCandidate } from "./trust.ts";

/** What a catalogue is made from. */
export interface LoadCatalogOptions {
  /** The project root: absolute, or a `file:` URL. */
  readonly root: string | URL;
  /** What the built-in gadgets may touch; guarded by the policy already. */
  readonly world: World;
  /** The built-in gadgets by name. */
  readonly builtIns: BuiltIns;
  /** What settings grant built-in gadgets, by name. Default: nothing. */
  readonly builtInGrants?: Readonly<Record<string, EntryGrant>>;
  /** Loads a module by its `file:` URL. */
  readonly importModule: LoadModule;
  /** Default: read from the root. */
  readonly config?: Config;
  /** Gadget modules of their own (`--gadget FILE`), relative to `cwd` or absolute. */
  readonly files?: readonly string[];
  /** The gadgets whose modules may be loaded (`--trust NAME`), by name or file; and MCP servers, by name. */
  readonly trust?: readonly string[];
  /** Whether MCP servers are started when they are first needed. Default: at once. */
  readonly late?: boolean;
  /** Every MCP server that is configured, whether it counts or not: its name means no gadget. Default: none. */
  readonly serverNames?: readonly string[];
  /** The gadgets that something is granted by name (`--allow-gadget NAME=KIND`): each has to be a file's. */
  readonly allowed?: readonly string[];
  /** Whether the user accepted what the project says for itself (gadgets.md 3). Default false. */
  readonly projectAccepted?: boolean;
  /** What the gadget folders are listed with; default: the files of the world. */
  readonly disk?: Files;
  /** Looks at a path, so that a project without gadgets of its own costs next to nothing. Default: the folders are listed. */
  readonly look?: (path: string) => Sight;
  /** The folder that `files` are relative to, and files in messages; default: the root. */
  readonly cwd?: string;
  /** Where the gadgets of modules run, apart from this process. Default: those that are trusted run in it, the others not at all. */
  readonly sandbox?: GadgetSandbox;
  /** Told what was ignored, a line each. */
  readonly onNotice?: (text: string) => void;
}

/** Where gadgets of modules run. */
export interface GadgetSandbox {
  /**
   * The gadget of a file; what is wrong with it becomes a `broken` entry.
   *
   * @param candidates every gadget file of the catalogue: what a name stands for
   */
  open(file: GadgetFile, candidates: readonly TrustCandidate[]): Promise<CatalogEntry>;
  /** Ends what they run in. */
  close(): Promise<void>;
}

/** The options with their defaults. */
export interface CatalogSite {
  readonly options: LoadCatalogOptions;
  readonly root: string;
  readonly cwd: string;
  readonly disk: Files;
  readonly config: Config;
  readonly notice: (text: string) => void;
  readonly isTaken: (word: string) => boolean;
}

/** Fills in the defaults. @throws {ProblemsError} when the configuration has any */
export async function catalogSite(options: LoadCatalogOptions): Promise<CatalogSite> {
  const { disk = options.world.files, onNotice: notice = () => {} } = options;
  const root = rootOf(options);
  const cwd = options.cwd ?? root;
  const config = options.config ?? await loadConfig(root, disk, { cwd });
  if (options.config === undefined) config.notices.forEach(notice);
  const isTaken = takenWords(Object.keys(options.builtIns), options.serverNames ?? []);
  return { options, root, cwd, disk, config, notice, isTaken };
}

function rootOf({ root, world }: LoadCatalogOptions): string {
  if (typeof root === "string") return isAbsolute(root) ? join(root) : join(world.root, root);
  return fileURLToPath(root);
}
