import { isAbsolute, join, relative, sep } from "node:path";
import {
  didYouMean,
  followAliases,
  isInside,
  type JsonObject,
  maybeModelId,
  type McpServerSettings,
  messageOf,
  type ModelSettings,
  ProblemsError,
  PROVIDER_TYPES,
  type ProviderSettings,
  SourceError,
} from "../../core/core.ts";
import { completeMarkers, type Markers } from "../../parse/calls/header.ts";
import { agentProfile, defaultsProblems } from "../agent_profile.ts";
import { serverNamed } from "../mcp/gadgets.ts";
import {
  COMMAND_NAMES,
  type Config,
  type ConversationDefaults,
  DOCUMENT_LIMITS,
  type DocumentDefaults,
  type GadgetFolder,
  type Limits,
  type McpServers,
} from "./config.ts";
import type { WrittenConfig } from "./read.ts";
import { CONFIG_TABLE, type ConfigFile } from "./table.ts";

/** The files that were read, and where they were. */
export interface ConfigLayers {
  readonly project: WrittenConfig;
  readonly user: WrittenConfig;
  readonly root: string;
  readonly userFolder: string;
  /** The absolute paths that a path of the user's own settings means. Default: from their folder. */
  readonly ownPaths?: (written: string) => readonly string[];
}

const LIMITS = CONFIG_TABLE.properties.limits.properties;
const FOLDERS = CONFIG_TABLE.properties.gadgets.properties.folders;

/** Project over user over defaults, but for what only the user may say. @throws {ProblemsError} for what does not fit together */
export function mergeConfig(layers: ConfigLayers): Config {
  const { project: { values: project }, user: { values: user } } = layers;
  const { aliases = {} } = modelsOf(layers);
  const problems = [layers.project, layers.user].flatMap((layer) => {
    const { models = {}, mcpServers } = layer.values;
    const wrong = [
      ...aliasProblems(models.aliases, aliases),
      ...providerProblems(models.providers),
      ...priceProblems(models.prices),
      ...serverProblems(mcpServers),
      ...layer === layers.project ? agentProblems(layer.values) : [],
    ];
    return wrong.map(({ path, ...say }) => problemAt(layer, path, say));
  });
  if (problems.length > 0) throw new ProblemsError(problems);
  const own = ownWords(layers);
  const toolsMode = project["tools-mode"] ?? user["tools-mode"];
  return {
    calls: { markers: markersOf(layers) },
    models: modelsOf(layers),
    toolsMode,
    mcpServers: mcpServersOf(user.mcpServers),
    gadgets: { folders: foldersOf(layers), isolation: own.isolation },
    grants: own.grants,
    limits: limitsOf({ ...user.limits, ...project.limits }),
    documents: documentsOf({ ...user.documents, ...project.documents }, {
      ...user.limits,
      ...project.limits,
    }),
    conversations: conversationsOf(layers),
    telemetry: user.telemetry ?? {},
    exclude: project.exclude,
    project: {
      grants: project.grants ?? {},
      isolation: project.gadgets?.isolation ?? {},
      providers: project.models?.providers ?? {},
      mcpServers: mcpServersOf(project.mcpServers),
      parts: ownWord(project),
    },
    notices: [...misplacedNotices(layers), ...own.notices],
  };
}

/**
 * What the user's own settings say of gadgets, as far as it is for this project. A name alone would mean whatever any project calls so: what
 * is not built in, nor a server of the user's own, is named as PROJECT/NAME or by its file.
 */
function ownWords(
  layers: ConfigLayers,
): Pick<Config, "grants" | "notices"> & Pick<Config["gadgets"], "isolation"> {
  const { user, root, userFolder, ownPaths = (written) => [folderPath(userFolder, written)] } = layers;
  const { grants = {}, gadgets: { isolation = {} } = {}, mcpServers = {} } = user.values;
  const notices: string[] = [];
  const wordOf = (name: string, path: readonly string[]): string | undefined => {
    if (/[/\\]/.test(name)) {
      const paths = ownPaths(name);
      const inside = paths.find((each) => isInside(each, root));
      return inside === undefined ? paths[0] : relative(root, inside);
    }
    const isCommon = COMMAND_NAMES.some((command) => command === name) ||
      serverNamed(name, Object.keys(mcpServers)) !== undefined;
    if (isCommon && path[0] === "grants") return name;
    const { file = "config.yaml", line = 1, column = 1 } = user.at([...path, name], "key") ?? {};
    notices.push(
      `${file}:${line}:${column}: ${path.join(".")} of ${
        JSON.stringify(name)
      } counts for nothing, since any project may have a gadget of ` +
        `that name; for the one of this project write ${
          JSON.stringify(join(root, name))
        }, or the path of its file.` +
        didYouMean(name, COMMAND_NAMES),
    );
    return undefined;
  };
  const scoped = <Value>(written: Readonly<Record<string, Value>>, ...path: readonly string[]) =>
    Object.fromEntries(
      Object.entries(written).flatMap(([name, value]): readonly (readonly [string, Value])[] => {
        const word = wordOf(name, path);
        return word === undefined ? [] : [[word, value]];
      }),
    );
  return { grants: scoped(grants, "grants"), isolation: scoped(isolation, "gadgets", "isolation"), notices };
}

function limitsOf(limits: NonNullable<ConfigFile["limits"]>): Limits {
  const { tokens, cost, "time-s": timeS } = limits;
  const limit = (key: KeptLimit) => limits[key] ?? LIMITS[key].default;
  return {
    concurrency: limit("concurrency"),
    timeoutMs: limit("timeout-s") * 1000,
    resultBytes: limit("result-bytes"),
    gadgetIdleMs: limit("gadget-idle-s") * 1000,
    gadgetMemoryBytes: limit("gadget-memory-mb") * 1024 * 1024,
    turns: limit("turns"),
    retries: limit("retries"),
    runs: limit("runs"),
    tokens,
    cost,
    timeMs: timeS && timeS * 1000,
  };
}

/** A limit that holds where nobody sets one too. */
type KeptLimit = {
  [Key in keyof typeof LIMITS]: (typeof LIMITS)[Key]["default"] extends number ? Key : never;
}[keyof typeof LIMITS];

function documentsOf(
  { "show-operations": showsOperations = false, temperature, shell }: NonNullable<ConfigFile["documents"]>,
  limits: NonNullable<ConfigFile["limits"]>,
): DocumentDefaults {
  return {
    showsOperations,
    limits: {
      goto: limits.goto ?? DOCUMENT_LIMITS.goto,
      toolTurns: limits["tool-turns"] ?? DOCUMENT_LIMITS.toolTurns,
      shellTimeoutS: limits["shell-timeout"] ?? DOCUMENT_LIMITS.shellTimeoutS,
    },
    temperature,
    shell,
  };
}

function conversationsOf({ project, user, root, userFolder }: ConfigLayers): ConversationDefaults {
  const [own, users] = [project.values.conversations ?? {}, user.values.conversations ?? {}];
  const { collection, embeddings, "timeout-s": timeoutS } = { ...users, ...own };
  const folder = own.collection === undefined ? userFolder : root;
  return {
    steps: project.values.limits?.steps ?? user.values.limits?.steps ?? LIMITS.steps.default,
    ...(collection !== undefined && { collection: folderPath(folder, collection) }),
    embeddings,
    ...(timeoutS !== undefined && { timeoutMs: timeoutS * 1000 }),
  };
}

function markersOf({ project, user }: ConfigLayers): Markers {
  try {
    return completeMarkers({ ...user.values.calls?.markers, ...project.values.calls?.markers });
  } catch (cause) {
    const layer = project.values.calls?.markers === undefined ? user : project;
    throw new ProblemsError([
      problemAt(layer, ["calls", "markers"], { message: messageOf(cause) }),
    ]);
  }
}

function foldersOf({ project, user, root, userFolder }: ConfigLayers): readonly GadgetFolder[] {
  const isProject = project.values.gadgets?.folders !== undefined;
  const layer = isProject ? project : user;
  const written = layer.values.gadgets?.folders;
  if (written === undefined) return FOLDERS.default.map((folder) => ({ path: folderPath(root, folder) }));
  const folders = written.map((folder, index) =>
    folderOf(folder, { base: isProject ? root : userFolder, layer, index })
  );
  const outside = isProject
    ? [...folders.keys()].filter((index) => !isInside(folders[index]?.path ?? root, root))
    : [];
  if (outside.length > 0) throw new ProblemsError(outside.map((index) => outsideProject(layer, index)));
  return folders;
}

function folderOf(
  folder: string,
  { base, layer, index }: { readonly base: string; readonly layer: WrittenConfig; readonly index: number },
): GadgetFolder {
  const span = layer.at(["gadgets", "folders", index]);
  const written = span === undefined ? {} : { written: { span, source: layer.source ?? "" } };
  return { path: folderPath(base, folder), ...written };
}

function folderPath(base: string, folder: string): string {
  const path = isAbsolute(folder) ? join(folder) : join(base, folder);
  return path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path;
}

/** A project may not reach beyond its own folder (cli.md). */
function outsideProject(layer: WrittenConfig, index: number): SourceError {
  return problemAt(layer, ["gadgets", "folders", index], {
    message: "Found a gadget folder outside the project, expected one inside it",
    hint: "Name a module outside the project with --gadget FILE.",
    at: "value",
  });
}

function ownWord(project: ConfigFile): JsonObject {
  const parts = {
    "grants": project.grants,
    "gadgets.isolation": project.gadgets?.isolation,
    "mcpServers": project.mcpServers,
    "models.providers": project.models?.providers,
  };
  // JSON has no NaN, which YAML has; what is undefined goes away.
  return JSON.parse(JSON.stringify(parts));
}

/** What is wrong with a file, at the value or at the key (the default) that a path leads to. */
interface Wrong {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
  readonly at?: "key" | "value";
}

/** What is wrong with the agents that `orrery.yaml` holds itself; those of other files are read where agents are wanted. */
function agentProblems({ agents = [], agentDefaults: defaults = {} }: ConfigFile): readonly Wrong[] {
  const ofEntries = agents.flatMap((entry, index) => {
    if (typeof entry === "string") return [];
    const read = agentProfile(entry, { defaults, label: `agents[${index}]` });
    const found = "problems" in read ? read.problems : [];
    return found.map(({ path, message }) => ({ path: ["agents", index, ...path], message }));
  });
  return [
    ...defaultsProblems(defaults).map(({ path, message }) => ({ path: ["agentDefaults", ...path], message })),
    ...ofEntries,
  ];
}

const OF_PROJECTS = ["prompts", "tactics", "agents", "agentDefaults", "exclude"] as const;

/** The user's own file has no prompts and no agents: they are a project's. What is told of runs, and to whom, is the user's to say. */
function misplacedNotices({ project, user }: Pick<ConfigLayers, "project" | "user">): readonly string[] {
  const of = (layer: WrittenConfig, keys: readonly (keyof ConfigFile)[], place: string) =>
    keys.filter((key) => layer.values[key] !== undefined).map((key) => {
      const { file = "config.yaml", line = 1, column = 1 } = layer.at([key], "key") ?? {};
      return `${file}:${line}:${column}: "${key}" is ignored here: it belongs in ${place}`;
    });
  return [
    ...of(project, ["telemetry"], "your own config.yaml (orrery help config)"),
    ...of(user, OF_PROJECTS, "the orrery.yaml of a project"),
  ];
}

type WrittenServers = NonNullable<ConfigFile["mcpServers"]>;

/** What is wrong with the servers of a file: each is a command or an address, never both. */
function serverProblems(servers: WrittenServers = {}): readonly Wrong[] {
  return Object.entries(servers).flatMap(([name, { command, url, args, env, headers }]) => {
    const path = ["mcpServers", name];
    if (command === undefined && url === undefined) {
      const message = "Found a server without command and url, expected one of them";
      return [{ path, message, hint: "A program on stdio has a command, a server over HTTP a url." }];
    }
    const [kind, others] = command === undefined ? ["url", { args, env }] : ["command", { url, headers }];
    const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
    return other === undefined
      ? []
      : [{ path, message: `Found a server with ${kind} and ${other}, expected one kind` }];
  });
}

/** The servers as the rest of Orrery knows them. */
function mcpServersOf(written: WrittenServers = {}): McpServers {
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, { command, args, env, url, headers }]) => {
      const server: McpServerSettings | undefined = command !== undefined
        ? { command, args, env }
        : url !== undefined
        ? { url, headers }
        : undefined;
      return server === undefined ? [] : [[name, server]];
    }),
  );
}

/** The models of both files, project over user; the providers are the user's only. */
function modelsOf({ project, user }: ConfigLayers): ModelSettings {
  const [ours, theirs] = [project.values.models, user.values.models];
  const chosen = ours?.default ?? theirs?.default;
  return {
    default: chosen,
    // What a project says by itself: never another model than the one the user named, nor another price.
    aliases: { ...ours?.aliases, ...theirs?.aliases },
    fallback: { ...ofOwnNames(ours?.fallback, theirs?.aliases), ...theirs?.fallback },
    providers: theirs?.providers ?? {},
    prices: Object.fromEntries(
      Object.entries({ ...ofOwnProviders(ours?.prices), ...theirs?.prices }).map((
        [name, { input = 0, output = 0, ...rest }],
      ) => [name, { input, output, ...rest }]),
    ),
  };
}

/** A project may say what takes over for its own aliases, and for no model that somebody names in full. */
function ofOwnNames<Value>(
  settings: Readonly<Record<string, Value>> = {},
  others: Readonly<Record<string, string>> = {},
): Readonly<Record<string, Value>> {
  const isOwn = (name: string): boolean => maybeModelId(name) === undefined && !Object.hasOwn(others, name);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isOwn(name)));
}

/** A project may price the models of servers it knows, not those of the providers that everybody knows. */
function ofOwnProviders<Value>(
  prices: Readonly<Record<string, Value>> = {},
): Readonly<Record<string, Value>> {
  const isPublic = (name: string): boolean =>
    PROVIDER_TYPES.some((type) => type !== "openai-compatible" && name.startsWith(`${type}/`));
  return Object.fromEntries(Object.entries(prices).filter(([name]) => !isPublic(name)));
}

/** @param known the aliases of both files */
function aliasProblems(
  aliases: Readonly<Record<string, string>> = {},
  known: Readonly<Record<string, string>>,
): readonly Wrong[] {
  const told = new Set<string>();
  return Object.keys(aliases).flatMap((name): readonly Wrong[] => {
    const path = ["models", "aliases", name];
    if (maybeModelId(name) !== undefined) {
      const message = `Found the alias ${JSON.stringify(name)}, expected a name without "/" and ":"`;
      return [{ path, message, hint: "It would stand for a model of that name." }];
    }
    const { way, isCycle } = followAliases(name, known);
    const end = way.at(-1) ?? name;
    if (isCycle) {
      if (end !== name || way.some((each) => told.has(each))) return [];
      way.forEach((each) => told.add(each));
      const message = `The aliases of models go round in a circle: ${way.join(" -> ")}`;
      return [{ path, message, hint: "Let one of them name a model: provider/model.", at: "value" }];
    }
    if (way.length > 2 || maybeModelId(end) !== undefined) return [];
    const message = `Found ${JSON.stringify(end)}, expected provider/model or another alias`;
    return [{ path, message, hint: didYouMean(end, Object.keys(known)).trim() || undefined, at: "value" }];
  });
}

/** Names that mean something else in an id. */
const TAKEN_NAMES: readonly string[] = ["script", "replay"];

function providerProblems(providers: Readonly<Record<string, ProviderSettings>> = {}): readonly Wrong[] {
  return Object.entries(providers).flatMap(([name, { baseURL, type: given }]) => {
    const path = ["models", "providers", name];
    const type = given ?? PROVIDER_TYPES.find((each) => each === name);
    const wrong: Wrong[] = [];
    if (TAKEN_NAMES.includes(name) || /[/:\s]/.test(name)) {
      const why = TAKEN_NAMES.includes(name) ? "which Orrery has itself" : "with a blank, a slash or a colon";
      const message = `Found a provider named ${JSON.stringify(name)}, ${why}`;
      wrong.push({ path, message, hint: "Rename it." });
    }
    if (type === undefined) {
      const message = `Found a provider without a type, expected one of ${PROVIDER_TYPES.join(", ")}`;
      wrong.push({ path, message, hint: "Most local servers are openai-compatible." });
    }
    if (type === "openai-compatible" && baseURL === undefined) {
      const message = "Found an openai-compatible provider without baseURL, expected one";
      wrong.push({ path, message, hint: "Such as baseURL: http://127.0.0.1:11434/v1" });
    }
    if (baseURL !== undefined && !/^https?:$/.test(URL.parse(baseURL)?.protocol ?? "")) {
      const message = `Found ${
        JSON.stringify(baseURL)
      } for a baseURL, expected an address with http:// or https://`;
      wrong.push({ path: [...path, "baseURL"], message, at: "value" });
    }
    return wrong;
  });
}

type WrittenPrices = NonNullable<NonNullable<ConfigFile["models"]>["prices"]>;

function priceProblems(prices: WrittenPrices = {}): readonly Wrong[] {
  return Object.entries(prices).flatMap(([name, { input, output }]) => {
    const path = ["models", "prices", name];
    if (maybeModelId(name) === undefined) {
      return [{ path, message: `Found a price for ${JSON.stringify(name)}, expected provider/model` }];
    }
    const missing = input === undefined ? "input" : output === undefined ? "output" : undefined;
    return missing === undefined
      ? []
      : [{ path, message: `Found a price without ${missing}, expected both` }];
  });
}

/** A problem of a configuration file that only shows when its parts are seen together. */
function problemAt(
  { at: place, source }: WrittenConfig,
  path: Wrong["path"],
  { message, hint, at = "key" }: Omit<Wrong, "path">,
): SourceError {
  return new SourceError(message, { code: "E-config", span: place(path, at), source, hint });
}
