import { join, resolve } from "node:path";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import { COMMAND_NAMES, type CommandName, type Config, type Grant } from "../catalog/config/config.ts";
import { loadConfig } from "../catalog/config/load.ts";
import type { McpJson } from "../catalog/mcp/config.ts";
import { type AbsentServer, type ServerGadgets, withAbsentServers } from "../catalog/mcp/gadgets.ts";
import { type GadgetSandbox, loadCatalog } from "../catalog/project_catalog.ts";
import type { TrustCandidate } from "../catalog/trust.ts";
import {
  type Catalog,
  type JsonObject,
  LOCK_FILE,
  ProblemsError,
  type Secrets,
  type User,
  type World,
} from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { configFolder, homeFolder, lookAt, projectRoot, realPath, workingFolder } from "../host/paths.ts";
import { hostEnv } from "../host/process.ts";
import type { Approve } from "../policy/policy.ts";
import { NO_POLICY_FLAGS, type PolicySettings } from "../policy/policy_settings.ts";
import { shellWord } from "../policy/refusal.ts";
import type { McpGadgetsOptions } from "./mcp_gadgets.ts";
import type { SandboxDecisions } from "./open_sandbox.ts";
import { addGadgetVariables } from "./run_secrets.ts";
import type { SandboxedGadgets } from "./sandboxed_gadgets.ts";
import type { ObserveRun } from "./telemetry/telemetry.ts";
import { NO_GRANTS, NOBODY } from "./trust/grants.ts";
import type { LockKeeper, ProjectLock } from "./trust/lock.ts";
import {
  commandEntryGrants,
  createWorld,
  type GrantingProject,
  withCommandGrants,
  type WorldOptions,
} from "./world.ts";

/** A project root with its settings. */
export interface ProjectSettings {
  /** Real and absolute. */
  readonly root: string;
  readonly cwd: string;
  readonly config: Config;
  /** Follows its runs, where the user wants that. */
  readonly observe?: ObserveRun;
  /** Its `orrery.lock`; what it allows is among the parts of the project in `config`. */
  readonly lock?: ProjectLock;
}

/** What the flags of a command say of the project. */
export interface ProjectFlags {
  readonly gadget: readonly string[];
  readonly trust: readonly string[];
  /** What single gadgets may do: `NAME=net:example.com`. Default: nothing. */
  readonly "allow-gadget"?: readonly string[];
  /** Whether a gadget that is not as `orrery.lock` has it is an error. Default false. */
  readonly frozen?: boolean;
  /** Whether nothing of the run is kept, nor what its gadgets used. Default false. */
  readonly ephemeral?: boolean;
  readonly "trust-project": boolean;
  /** Modules of prompts and tactics may be loaded into this process. Default false. */
  readonly "trust-code"?: boolean;
  /** Seconds that a call may take, when the user said so. */
  readonly timeout?: number;
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
  /** What bounds every effect further. Default: nothing. */
  readonly against?: WorldOptions["against"];
  /** Told what was ignored, a line each. */
  readonly notice: (text: string) => void;
  /** Whether MCP servers are started. Default true; without them their gadgets are not in the catalogue. */
  readonly servers?: boolean;
  /** They are started when they are first needed. Default: at once, for who lists all gadgets. */
  readonly late?: boolean;
  /** Told what a server says besides the protocol. */
  readonly log?: (server: string, line: string) => void;
  /** The names of gadgets that are likely to be called at once: what they need is on its way meanwhile. Default: none. */
  readonly calls?: ReadonlySet<string>;
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

/** Finds the project root of a folder and reads its settings (config.md). Default: those of the working folder. */
export async function openSettings(
  folder: string = workingFolder(),
  { cwd = workingFolder() }: { readonly cwd?: string } = {},
): Promise<ProjectSettings> {
  return await settingsAt(projectRoot(folder, cwd), { cwd });
}

/** The settings of the project in a root, which is real and absolute. */
export async function settingsAt(root: string, { cwd }: { readonly cwd: string }): Promise<ProjectSettings> {
  const userFolder = configFolder();
  const config = await loadConfig(root, hostFiles({ root: cwd }), {
    cwd,
    look: lookAt,
    ...(userFolder !== undefined && {
      userFolder,
      ownPaths: (written: string) => {
        const path = resolve(userFolder, written.replace(/^~(?=[/\\])/, () => homeFolder() ?? "~"));
        return [path, realPath(path)];
      },
    }),
  });
  return await withLock({
    root,
    cwd,
    config: await checkedGrants(config, { root, cwd }),
    observe: await maybeObserving(config),
  });
}

/** OpenTelemetry is loaded where both the user's own settings and the environment want it. */
async function maybeObserving({ telemetry }: Config): Promise<ObserveRun | undefined> {
  const isWanted = telemetry.otlp === true &&
    (hostEnv("OTEL_EXPORTER_OTLP_ENDPOINT") || hostEnv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"));
  if (!isWanted) return undefined;
  const { observing }: typeof import("./telemetry/telemetry.ts") = await import(
    "./telemetry/telemetry.ts" as string
  );
  return observing(telemetry);
}

/** What the permissions of grants are, and which files they are for, is looked at where there are some. */
async function checkedGrants(
  config: Config,
  place: { readonly root: string; readonly cwd: string },
): Promise<Config> {
  const { grants, project } = config;
  const isCommand = (word: string) => COMMAND_NAMES.some((name) => name === word);
  const ofFiles = Object.keys({ ...project.grants, ...project.isolation }).some((word) => !isCommand(word));
  const isPlain = [...Object.values(grants), ...Object.values(project.grants)].every((grant) =>
    grant === "trusted"
  );
  if (!ofFiles && isPlain) return config;
  const { checkGrants, withGrantedFiles }: typeof import("./trust/check_grants.ts") = await import(
    "./trust/check_grants.ts" as string
  );
  await checkGrants(config, place);
  return ofFiles ? await withGrantedFiles(config, place) : config;
}

/** What a lock allows is one of the parts that have to be accepted; the code that reads it is loaded when there is one. */
async function withLock(project: ProjectSettings): Promise<ProjectSettings> {
  const sight = lookAt(join(project.root, LOCK_FILE));
  if (sight === "nothing" || sight === "closed") return project;
  const { readProjectLock, withLockPart } = await lockCode();
  const lock = await readProjectLock(project);
  if (lock === undefined) return project;
  const { config } = project;
  const parts = withLockPart(config.project.parts, lock);
  return { ...project, lock, config: { ...config, project: { ...config.project, parts } } };
}

async function lockCode(): Promise<typeof import("./trust/lock.ts")> {
  return await import("./trust/lock.ts" as string);
}

/** The gadgets of a project and the world they touch. The catalogue has to be closed when it has a `close`. */
export async function openCatalog(
  project: ProjectSettings,
  options: OpenCatalogOptions,
): Promise<OpenedCatalog> {
  const { root, cwd } = project;
  const { flags, settings = NO_POLICY_FLAGS, user, notice, calls = new Set<string>() } = options;
  const isBuiltIn = (name: string): boolean => Object.hasOwn(builtInGadgets, name);
  for (const name of calls) if (isBuiltIn(name)) builtInGadgets[name]?.().catch(() => undefined);
  project.config.notices.forEach(notice);
  if (flags.frozen) await checkFrozen(project.lock, { root });
  const touching = { ...options, root, cwd, settings };
  const bare = createWorld(touching);
  const mcpJson = await maybeMcpJson(project);
  const config = withMcpJson(project.config, mcpJson);
  const projectAccepted = options.accepted ??
    await isAccepted({ root, cwd, config }, { flags, user, notice });
  const granting = { root, config, accepted: projectAccepted };
  const world = withCommandGrants(bare, touching, granting);
  const isNoticed = Object.keys(project.config.project.parts).length > 0; // with the other parts, by the catalogue
  if (mcpJson !== undefined && !projectAccepted && !isNoticed) {
    notice(
      `${mcpJson.file} counts as absent, since you have not accepted this project; --trust-project accepts it`,
    );
  }
  const { secrets } = options;
  const keeping = { ...project, parts: config.project.parts, projectAccepted, notice };
  let kept: Promise<LockKeeper> | undefined;
  const keeper = (): Promise<LockKeeper> =>
    kept ??= lockCode().then(({ LockKeeper }) => new LockKeeper(keeping));
  const { mcpServers: own, project: { mcpServers: theirs } } = config;
  const serverNames = Object.keys({ ...own, ...theirs, ...mcpJson?.servers });
  const isStarting = options.servers ?? true;
  const servers = !isStarting ? undefined : await maybeServers({ ...project, config }, {
    ...options,
    settings,
    mcpJson,
    projectAccepted,
    keeper,
    frozen: flags.frozen ?? false,
  });
  const absent = projectAccepted ? [] : absentServers(project, mcpJson);
  const catalog = await loadCatalog({
    root,
    cwd,
    world,
    config: isNoticed ? config : project.config,
    projectAccepted,
    importModule: async (path) => {
      const { importOwn }: typeof import("./import_own.ts") = await import("./import_own.ts" as string);
      return await importOwn(path, { root, cwd });
    },
    builtIns: builtInGadgets,
    builtInGrants: commandEntryGrants(granting),
    disk: hostFiles({ root }),
    files: flags.gadget,
    trust: flags.trust,
    serverNames,
    allowed: (flags["allow-gadget"] ?? []).map((value) => value.slice(0, value.indexOf("="))),
    sandbox: lateSandbox(project, {
      ...options,
      projectAccepted,
      serverNames,
      keeper,
    }),
    notice,
    servers,
    late: options.late,
  });
  const commands = COMMAND_NAMES.flatMap((name) => maybeGrant(name, granting) ?? []);
  const hasModules = catalog.entries.some(({ source }) =>
    source.kind === "project" || source.kind === "file"
  );
  if (secrets !== undefined && (hasModules || commands.length > 0)) {
    await addGadgetVariables(secrets, {
      catalog,
      user,
      commands: commands.filter((grant) => grant !== "trusted"),
    });
  }
  return {
    catalog: isStarting && absent.length > 0 ? withAbsentServers(catalog, absent) : catalog,
    world,
    projectAccepted,
  };
}

/** The user's own word counts before that of the project. */
export function maybeGrant(name: CommandName, { config, accepted }: GrantingProject): Grant | undefined {
  const grants = { ...(accepted ? config.project.grants : {}), ...config.grants };
  return Object.hasOwn(grants, name) ? grants[name] : undefined;
}

/** Where the gadgets of modules run; what works there is loaded with the first of them. */
function lateSandbox(
  project: ProjectSettings,
  { keeper, ...options }: LateKeeper<SandboxDecisions>,
): GadgetSandbox {
  let opened: Promise<SandboxedGadgets> | undefined;
  const open = async (candidates: readonly TrustCandidate[]): Promise<SandboxedGadgets> => {
    const { loadSandbox }: typeof import("./open_sandbox.ts") = await import("./open_sandbox.ts" as string);
    return await loadSandbox(project, { ...options, keeper: await keeper(), candidates });
  };
  return {
    open: async (file, candidates) => await (await (opened ??= open(candidates))).open(file),
    close: async () => await (await opened)?.close(),
  };
}

/** The keeper of the lock is made when it is needed. */
type LateKeeper<Options extends { readonly keeper: LockKeeper }> = Omit<Options, "keeper"> & {
  readonly keeper: () => Promise<LockKeeper>;
};

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
  const { acceptProject }: typeof import("./trust/accept.ts") = await import("./trust/accept.ts" as string);
  return await acceptProject(parts, { root, isWanted: flags["trust-project"], user, notice });
}

// MCP servers as a project has them. On the path of every run: what works with them is loaded only where there are some.

/** The project's `.mcp.json`; the code that reads it is loaded when there is one. */
async function maybeMcpJson({ root, cwd }: ProjectSettings): Promise<McpJson | undefined> {
  const sight = lookAt(join(root, ".mcp.json"));
  if (sight === "nothing" || sight === "closed") return undefined;
  const { readMcpJson }: typeof import("../catalog/mcp/config.ts") = await import(
    "../catalog/mcp/config.ts" as string
  );
  return await readMcpJson(root, { disk: hostFiles({ root }), cwd });
}

/** Everything of a project that has to be accepted, by its part. */
export async function projectParts(project: ProjectSettings): Promise<JsonObject> {
  return (await projectWord(project)).parts;
}

/** The same, with every MCP server that is configured, whether it counts or not. */
export async function projectWord(
  project: ProjectSettings,
): Promise<{ readonly parts: JsonObject; readonly servers: Readonly<Record<string, unknown>> }> {
  const mcpJson = await maybeMcpJson(project);
  const { mcpServers: own, project: { mcpServers: theirs, parts } } = withMcpJson(project.config, mcpJson);
  return { parts, servers: { ...mcpJson?.servers, ...theirs, ...own } };
}

/** What `.mcp.json` says is one of the parts that have to be accepted. */
function withMcpJson(config: Config, mcpJson: McpJson | undefined): Config {
  if (mcpJson === undefined) return config;
  const parts: JsonObject = { ...config.project.parts, ".mcp.json": mcpJson.words };
  return { ...config, project: { ...config.project, parts } };
}

/** The servers of a project that was accepted, none of them started; undefined where there is none. */
export async function projectServers(
  project: ProjectSettings,
  { keeper, ...options }: Pick<SandboxDecisions, "keeper"> & Pick<ServersOptions, "user" | "notice">,
): Promise<ServerGadgets | undefined> {
  return await maybeServers(project, {
    ...options,
    keeper: () => Promise.resolve(keeper),
    settings: NO_POLICY_FLAGS,
    mcpJson: await maybeMcpJson(project),
    projectAccepted: true,
    frozen: false,
  });
}

/** The servers of a project that was not accepted: they count as absent. */
function absentServers(
  { config: { mcpServers: own, project: { mcpServers: theirs } } }: ProjectSettings,
  mcpJson: McpJson | undefined,
): readonly AbsentServer[] {
  return Object.keys({ ...theirs, ...mcpJson?.servers })
    .filter((name) => !Object.hasOwn(own, name))
    .map((name) => ({ name, file: Object.hasOwn(theirs, name) ? "orrery.yaml" : mcpJson?.file ?? "" }));
}

/** Which servers there are, and what they are opened with. */
export interface ServersOptions extends LateKeeper<Omit<McpGadgetsOptions, "root" | "cwd" | "own">> {
  readonly mcpJson: McpJson | undefined;
  readonly projectAccepted: boolean;
}

/** The MCP servers that count, the user's own before those of the project; undefined without any, and then nothing is loaded for them. */
async function maybeServers(
  project: ProjectSettings,
  { mcpJson, projectAccepted, keeper, ...options }: ServersOptions,
): Promise<ServerGadgets | undefined> {
  const { root, cwd, config: { mcpServers: own, project: { mcpServers: theirs } } } = project;
  const hasYaml = Object.keys({ ...own, ...(projectAccepted ? theirs : {}) }).length > 0;
  if (!hasYaml && (mcpJson === undefined || !projectAccepted)) return undefined;
  const { mcpGadgets }: typeof import("./mcp_gadgets.ts") = await import("./mcp_gadgets.ts" as string);
  const { serverFiles }: typeof import("./configured_servers.ts") = await import(
    "./configured_servers.ts" as string
  );
  const files = serverFiles(project, { mcpJson, projectAccepted });
  return await mcpGadgets(files, { root, cwd, own: Object.keys(own), ...options, keeper: await keeper() });
}

/** `--frozen`: every module of the lock is as it was, before anything runs. @throws {ProblemsError} that names each gadget and module */
export async function checkFrozen(
  lock: ProjectLock | undefined,
  { root }: { readonly root: string },
): Promise<void> {
  const disk = hostFiles({ root });
  const [{ changedModules }, { frozenError }]: [
    typeof import("./trust/module_hashes.ts"),
    typeof import("./trust/grant_gadget.ts"),
  ] = await Promise.all([
    import("./trust/module_hashes.ts" as string),
    import("./trust/grant_gadget.ts" as string),
  ]);
  const problems = await Promise.all((lock?.lock.gadgets ?? []).map(async (gadget) => {
    const changes = await changedModules(gadget, { root, disk });
    const word = shellWord(gadget.name);
    const hint = lookAt(resolve(root, gadget.file)) === "nothing"
      ? `orrery trust deny ${word} takes it out of the lock.`
      : `orrery trust allow ${word} allows it as it is now.`;
    return changes.length === 0 ? [] : [frozenError(gadget.name, { changes, lock, hint })];
  }));
  if (problems.some((each) => each.length > 0)) throw new ProblemsError(problems.flat());
}

/** Whether the user has accepted what the project says for itself; nobody is asked. */
export async function isAcceptedHere(project: ProjectSettings): Promise<boolean> {
  return await isProjectAccepted({ ...project, ...NO_GRANTS, user: NOBODY, notice: () => undefined });
}
