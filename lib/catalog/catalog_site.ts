import type { Files, Sight, World } from "../core/world.ts";
import type { LoadModule } from "./module_loader.ts";
import type { BuiltIns } from "./catalog.ts";
import type { CatalogEntry, EntryGrant } from "../core/catalog.ts";
import type { Config } from "./config/config.ts";
import type { GadgetFile } from "./gadget_file.ts";
import { takenWords, type TrustCandidate } from "./trust.ts";

/** What a catalogue is made from. */
export interface LoadCatalogOptions {
  /** The project root, absolute. */
  readonly root: string;
  /** What the built-in gadgets may touch; guarded by the policy already. */
  readonly world: World;
  /** The built-in gadgets by name. */
  readonly builtIns: BuiltIns;
  /** What settings grant built-in gadgets, by name. Default: nothing. */
  readonly builtInGrants?: Readonly<Record<string, EntryGrant>>;
  /** Loads a module by its `file:` URL. */
  readonly importModule: LoadModule;
  readonly config: Config;
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
  /** What the gadget folders are listed with. */
  readonly disk: Files;
  /** Looks at a path, so that a project without gadgets of its own costs next to nothing. Default: the folders are listed. */
  readonly look?: (path: string) => Sight;
  /** The folder that `files` are relative to, and files in messages. */
  readonly cwd: string;
  /** Where the gadgets of modules run, apart from this process. */
  readonly sandbox: GadgetSandbox;
  /** Told what was ignored, a line each. */
  readonly onNotice: (text: string) => void;
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

/** The options, and what a name cannot mean. */
export interface CatalogSite {
  readonly options: LoadCatalogOptions;
  readonly root: string;
  readonly cwd: string;
  readonly disk: Files;
  readonly config: Config;
  readonly notice: (text: string) => void;
  readonly isTaken: (word: string) => boolean;
}

export function catalogSite(options: LoadCatalogOptions): CatalogSite {
  const { root, cwd, disk, config, onNotice: notice } = options;
  const isTaken = takenWords(Object.keys(options.builtIns), options.serverNames ?? []);
  return { options, root, cwd, disk, config, notice, isTaken };
}
