import { loadCatalog } from "../catalog/load_catalog.ts";
import { loadConfig } from "../catalog/config.ts";
import type { Config } from "../catalog/config.ts";
import type { ServerGadgets } from "../catalog/server_gadgets.ts";
import { findProjectRoot } from "../catalog/project_root.ts";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import type { Catalog } from "../core/catalog.ts";
import type { Policy } from "../core/world.ts";
import type { Secrets } from "../core/secrets.ts";
import type { User, World } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { configFolder, homeFolder, realPath } from "../host/paths.ts";
import { importModule, isCompiled } from "../host/process.ts";
import type { Approve } from "../policy/approving_policy.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_flags.ts";
import type { PolicySettings } from "../policy/policy_flags.ts";
import { maybeMcpJson, maybeServers, withMcpJson } from "./project_servers.ts";
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
  /** Modules of prompts and tactics may be loaded into this process. Default false. */
  readonly "trust-code"?: boolean;
}

/** How to make the catalogue. */
export interface OpenCatalogOptions {
  readonly flags: ProjectFlags;
  /** Default: no permissions but those of every run. */
  readonly settings?: PolicySettings;
  /** Whether what the project says for itself counts, when that is known already. Default: the user is asked. */
  readonly accepted?: boolean;
  readonly user: User;
  /** Asked about what no flag allows (turn.md 2.6). Default: it is refused. */
  readonly approve?: Approve;
  /** Told what was ignored, a line each. */
  readonly notice: (text: string) => void;
  /** Whether MCP servers are started. Default true; without them their gadgets are not in the catalogue. */
  readonly servers?: boolean;
  /** Told what a server says besides the protocol. */
  readonly log?: (server: string, line: string) => void;
  /** Ends the servers. */
  readonly signal?: AbortSignal;
  /** Told the variables that servers are given. */
  readonly secrets?: Pick<Secrets, "add">;
}

/** The gadgets of a project, the world they touch, and whether what it says for itself counts. */
export interface OpenedCatalog {
  readonly catalog: Catalog;
  readonly world: World;
  readonly projectAccepted: boolean;
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

/** The gadgets of a project and the world they touch. The catalogue has to be closed when it has a `close`. */
export async function openCatalog(
  project: ProjectSettings,
  options: OpenCatalogOptions,
): Promise<OpenedCatalog> {
  const { root, cwd } = project;
  const { flags, settings = NO_POLICY_FLAGS, user, notice } = options;
  project.config.notices.forEach(notice);
  const inFront = options.approve === undefined ? undefined : await askingPolicy(options.approve);
  const world = createWorld({ root, cwd, settings, user, ...(inFront && { inFront }) });
  const mcpJson = await maybeMcpJson(project);
  const config = withMcpJson(project.config, mcpJson);
  const projectAccepted = options.accepted ??
    await isAccepted({ root, cwd, config }, { flags, user, notice });
  const isNoticed = Object.keys(project.config.project.parts).length > 0; // with the other parts, by the catalogue
  if (mcpJson !== undefined && !projectAccepted && !isNoticed) {
    notice(
      `${mcpJson.file} counts as absent, since you have not accepted this project; --trust-project accepts it`,
    );
  }
  const { log, signal, secrets } = options;
  const isStarting = options.servers ?? true;
  // Also for servers that are not started, `--trust` may name them.
  const isNaming = isStarting || flags.trust.length > 0;
  const servers = !isNaming ? undefined : await maybeServers({ ...project, config }, {
    settings,
    user,
    notice,
    mcpJson,
    projectAccepted,
    ...(log && { log }),
    ...(signal && { signal }),
    ...(secrets && { secrets }),
  });
  const catalog = await loadCatalog({
    root,
    cwd,
    world,
    config: isNoticed ? config : project.config,
    projectAccepted,
    importModule,
    builtIns: builtInGadgets,
    compiled: isCompiled(),
    disk: hostFiles({ root }),
    files: flags.gadget,
    trust: flags.trust,
    onNotice: notice,
    ...(servers && { servers: isStarting ? servers : onlyNamed(servers) }),
  });
  return { catalog, world, projectAccepted };
}

function onlyNamed({ names }: ServerGadgets): ServerGadgets {
  return { names, open: () => Promise.resolve({ entries: [], close: () => Promise.resolve() }) };
}

async function askingPolicy(approve: Approve): Promise<(policy: Policy) => Policy> {
  const { approvingPolicy }: typeof import("../policy/approving_policy.ts") = await import(
    "../policy/approving_policy.ts" as string
  );
  return (policy) => approvingPolicy(policy, approve);
}

type AcceptOptions = Pick<OpenCatalogOptions, "flags" | "user" | "notice">;

/** Whether the user accepts what a project says for itself, its `.mcp.json` included; asked once where somebody can be asked. */
export async function isProjectAccepted(
  { flags, user, notice, ...project }: ProjectSettings & AcceptOptions,
): Promise<boolean> {
  const config = withMcpJson(project.config, await maybeMcpJson(project));
  return await isAccepted({ ...project, config }, { flags, user, notice });
}

/** The same, of settings that `.mcp.json` is part of. */
async function isAccepted(
  { root, config: { project: { parts } } }: ProjectSettings,
  { flags, user, notice }: AcceptOptions,
): Promise<boolean> {
  if (Object.keys(parts).length === 0) return false;
  const { acceptProject }: typeof import("./accept_project.ts") = await import(
    "./accept_project.ts" as string
  );
  return await acceptProject(parts, { root, isWanted: flags["trust-project"], user, notice });
}
