import { isInside } from "./project_path.ts";
import { didYouMean } from "../core/nearest.ts";
import { isAbsolute, join, relative, sep } from "node:path";
import type { JsonObject } from "../core/json.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { messageOf, type SourceError } from "../core/source_error.ts";
import { completeMarkers, type Markers } from "../parse/call_header.ts";
import { agentProblems, projectOnlyNotices } from "./config_agents.ts";
import { mcpProblems, mcpServersOf } from "./config_mcp.ts";
import { modelProblems, modelsOf } from "./config_models.ts";
import { problemAt } from "./config_problem.ts";
import { COMMAND_NAMES, DOCUMENT_LIMITS } from "./config.ts";
import type { Config, ConversationDefaults, DocumentDefaults, GadgetFolder, Limits } from "./config.ts";
import { CONFIG_TABLE, type ConfigFile } from "./config_table.ts";
import type { WrittenConfig } from "./read_config.ts";
import { serverNamed } from "./server_gadgets.ts";

/** The files that were read, and where they were. */
export interface ConfigLayers {
  readonly project: WrittenConfig;
  readonly user: WrittenConfig;
  readonly root: string;
  readonly userFolder: string;
  /** The absolute paths that a path of the user's own settings means. Default: from their folder. */
  readonly ownPaths?: (written: string) => readonly string[];
}

const LIMITS = CONFIG_TABLE.keys.limits.keys;
const FOLDERS = CONFIG_TABLE.keys.gadgets.keys.folders;

/** Project over user over defaults, but for what only the user may say. @throws {ProblemsError} for what does not fit together */
export function mergeConfig(layers: ConfigLayers): Config {
  const { project: { values: project }, user: { values: user } } = layers;
  const problems = [...modelProblems(layers), ...mcpProblems(layers), ...agentProblems(layers)];
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
    exclude: project.exclude,
    project: {
      grants: project.grants ?? {},
      isolation: project.gadgets?.isolation ?? {},
      providers: project.models?.providers ?? {},
      mcpServers: mcpServersOf(project.mcpServers),
      parts: ownWord(project),
    },
    notices: [
      ...layers.project.notices,
      ...layers.user.notices,
      ...projectOnlyNotices(layers),
      ...own.notices,
    ],
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
  return {
    concurrency: limits.concurrency ?? LIMITS.concurrency.default,
    timeoutMs: (limits["timeout-s"] ?? LIMITS["timeout-s"].default) * 1000,
    resultBytes: limits["result-bytes"] ?? LIMITS["result-bytes"].default,
    gadgetIdleMs: (limits["gadget-idle-s"] ?? LIMITS["gadget-idle-s"].default) * 1000,
    gadgetMemoryBytes: (limits["gadget-memory-mb"] ?? LIMITS["gadget-memory-mb"].default) * 1024 * 1024,
    turns: limits.turns ?? LIMITS.turns.default,
    retries: limits.retries ?? LIMITS.retries.default,
    runs: limits.runs ?? LIMITS.runs.default,
    tokens,
    cost,
    timeMs: timeS && timeS * 1000,
  };
}

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
      problemAt(layer, ["calls", "markers"], { message: messageOf(cause), what: "key" }),
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
