import { resolve } from "node:path";
import { acceptedConfig, type Config } from "../catalog/config/config.ts";
import {
  type Embedder,
  FileError,
  isInside,
  maybeModelId,
  type Model,
  ModelError,
  modelIdText,
  PermissionRefused,
  type Policy,
  systemClock,
} from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { hostModelFetch } from "../host/http/model_fetch.ts";
import { lookAt, realPath } from "../host/paths.ts";
import { denoGrants, hostEnv, hostEnvProblem, wantedModel } from "../host/process.ts";
import { tcpConnect } from "../host/http/dial.ts";
import { type OpenModels, openModels, type OpenModelsOptions } from "../models/open_models.ts";
import { maybeProvider, meantModel, PROVIDER_KINDS, providerHosts } from "../models/provider.ts";
import { didYouMean } from "../parse/document/near.ts";
import { createPolicy } from "../policy/policy.ts";
import { NO_POLICY_FLAGS, type PolicySettings } from "../policy/policy_settings.ts";
import type { ConversationModels } from "../run/conversation/work.ts";
import { type ProjectSettings } from "./project.ts";

/** Where the models are wanted. */
export type OpenProjectModelsOptions = ModelMeansOptions;

/**
 * The models of a project, as {@linkcode modelMeans} reaches them. The file of `script/FILE` or `replay/FILE` is looked for in the working
 * folder, then in the project root. Whoever asks over HTTP, and a document that came with a project, may name one too: so it is in the
 * project, or where the flags let a run read, unless the user has named it himself.
 */
export function openProjectModels(options: OpenProjectModelsOptions): OpenModels {
  const { root, cwd, settings = NO_POLICY_FLAGS } = options;
  const policy = createPolicy(settings, { root, cwd, realPath });
  const own = [settings.ownModel, wantedModel()].map((name = "") => {
    const id = maybeModelId(name);
    return id && modelIdText(id);
  });
  const readText = async (file: string, kind: "script" | "replay"): Promise<string> => {
    const check = own.includes(`${kind}/${file}`) ? () => undefined : policy.check;
    return await readNear(file, { folders: [cwd, root], check });
  };
  return openModels({
    ...modelMeans(options),
    files: { readText: (file) => readText(file, "script") },
    replay: async (file) => {
      const { replayModel }: typeof import("./replay_model.ts") = await import("./replay_model.ts" as string);
      return replayModel(file, await readText(file, "replay"));
    },
  });
}

interface NearOptions {
  readonly folders: readonly string[];
  readonly check: Policy["check"];
}

/** A file of the first folder that has it and where it may be read. @throws a refusal rather than that it is not there */
async function readNear(path: string, { folders, check }: NearOptions): Promise<string> {
  let wrong: unknown;
  for (const folder of folders) {
    try {
      check({ kind: "read", value: realPath(resolve(folder, path)) });
      return await hostFiles({ root: folder }).readText(path);
    } catch (error) {
      const isRefused = error instanceof PermissionRefused;
      if (!isRefused && !(error instanceof FileError && error.code === "not-found")) throw error;
      const told = isRefused ? new FileError(error.message, { path, code: "denied", cause: error }) : error;
      if (isRefused || wrong === undefined) wrong = told;
    }
  }
  throw wrong;
}

/** The model of a dialog. @throws {ModelError} that says what to do, and which local servers there are to choose from */
export async function findModel(options: OpenProjectModelsOptions): Promise<Model> {
  const models = openProjectModels(options);
  try {
    return await models.find(options.name);
  } catch (error) {
    const isChoice = options.name === undefined && error instanceof ModelError && error.code === "config";
    if (!isChoice || hasModel(models)) throw error;
    throw new ModelError(`${error.message}${await localChoices()}`, { code: "config", cause: error });
  }
}

/** A default, or a provider whose key is set: then nobody need look for a server. */
function hasModel(models: OpenModels): boolean {
  const { default: chosen, providers } = models.list();
  return chosen !== undefined || providers.some(({ hasKey }) => hasKey);
}

/** What usually listens where, on this machine. */
const LOCAL_SERVERS = [[11434, "Ollama"], [1234, "LM Studio"], [8080, "llama.cpp"]] as const;

/** Which of the usual local model servers listen on this machine. Nothing is sent: a connection is opened and closed. */
async function localChoices(): Promise<string> {
  const texts = await Promise.all(LOCAL_SERVERS.map(async ([port, name]) => {
    const target = { hostname: "127.0.0.1", port };
    const isThere = denoGrants({ name: "net", host: `${target.hostname}:${port}` }) &&
      await tcpConnect(target).then(() => true, () => false);
    if (!isThere) return "";
    const key = name.toLowerCase().replace(/\W+/g, "");
    return `\nA server answers on 127.0.0.1:${port}, where ${name} usually is. To use it, put this into orrery.yaml or ` +
      `~/.config/orrery/config.yaml, and name one of its models: --model ${key}/MODEL\n` +
      `  models: { providers: { ${key}: { type: openai-compatible, baseURL: "http://127.0.0.1:${port}/v1" } } }`;
  }));
  return texts.join("");
}

/** Finds each model once, since a script goes on where it was. Without a name it is that of the variable or of the settings. */
export function modelsByName(
  options: Omit<OpenProjectModelsOptions, "name">,
): (name: string | undefined) => Promise<Model> {
  const models = new Map<string | undefined, Promise<Model>>();
  return (given) => {
    const name = wantedModel(given);
    const model = models.get(name) ?? findModel({ ...options, name });
    models.set(name, model);
    return model;
  };
}

/** Which models there are, and which one is asked where a step names none. */
interface ConversationModelsOptions extends Omit<OpenProjectModelsOptions, "name"> {
  /** Of the command line. Default: that of the variable, then of the settings. */
  readonly model?: string;
}

/** The models of a project for the steps of a conversation. */
export function conversationModels({ model, ...options }: ConversationModelsOptions): ConversationModels {
  const find = modelsByName(options);
  const { config, isAccepted } = options;
  const hasDefault = (isAccepted ? acceptedConfig(config) : config).models.default !== undefined;
  return {
    async find(name) {
      const wanted = wantedModel(name ?? model);
      return wanted === undefined && !hasDefault ? undefined : await find(wanted);
    },
  };
}

/** What is wrong with the name of a model, in the words of documents.md 7.6; undefined when it may be asked. A script has to be there. */
export function modelProblem(
  given: string | undefined,
  { config, accepted, root, cwd }: Pick<ProjectSettings, "config" | "root" | "cwd"> & {
    readonly accepted: boolean;
  },
): string | undefined {
  const { models } = accepted ? acceptedConfig(config) : config;
  const name = wantedModel(given) ?? models.default;
  if (name === undefined) return "no model is configured";
  const { isCycle, end, id } = meantModel(name, models);
  if (isCycle) return `the aliases of the model "${name}" lead back to themselves`;
  if (id === undefined) return `unknown model "${end}"${didYouMean(end, Object.keys(models.aliases ?? {}))}`;
  if (id.provider === "script" || id.provider === "replay") {
    // Whether one is there outside of the project is told to nobody: it is refused, or read, when it is asked.
    const isThere = id.provider === "script" && id.model === "echo" ||
      [cwd, root].map((folder) => realPath(resolve(folder, id.model)))
        .some((path) => !isInside(path, root) || lookAt(path) !== "nothing");
    return isThere ? undefined : `the model ${end} cannot be opened: there is no file "${id.model}"`;
  }
  const provider = maybeProvider(id.provider, { settings: models, env: hostEnv });
  if (provider !== undefined && provider.baseURL !== "") return undefined;
  const known = [...Object.keys(PROVIDER_KINDS), ...Object.keys(models.providers ?? {}), "script", "replay"];
  return `unknown provider "${id.provider}"${didYouMean(id.provider, known)}`;
}

/** Where models are wanted. */
export interface ModelMeansOptions {
  readonly root: string;
  readonly cwd: string;
  readonly config: Config;
  /** What `orrery.yaml` says of providers counts only then. */
  readonly isAccepted: boolean;
  readonly settings?: PolicySettings;
  /** The model that will be asked, so that the hosts of its provider may be reached. Default: the configured one. */
  readonly name?: string;
}

/**
 * What the models of a project are reached with. The hosts of the chosen one and of its fallbacks may be reached without a flag, since
 * the user chose them; `--deny-net` refuses them all the same.
 */
function modelMeans(
  { root, cwd, config, isAccepted, settings = NO_POLICY_FLAGS, name }: ModelMeansOptions,
): Omit<OpenModelsOptions, "files" | "replay"> {
  const { models } = isAccepted ? acceptedConfig(config) : config;
  const wanted = name ?? models.default;
  const hosts = wanted === undefined ? [] : providerHosts(wanted, { settings: models, env: hostEnv });
  const { allow } = settings;
  const net = { all: allow.net.all, list: [...allow.net.list, ...hosts] };
  const policy = createPolicy({ ...settings, allow: { ...allow, net } }, { root, cwd, realPath });
  return {
    settings: models,
    fetch: hostModelFetch({ check: (request) => policy.check(request) }),
    env: hostEnv,
    unreadable: hostEnvProblem,
    clock: systemClock,
  };
}

/** The model of embeddings of a project. @throws {ModelError} `config`, that says what is missing */
export async function projectEmbedder(
  options: ModelMeansOptions & { readonly name: string },
): Promise<Embedder> {
  const { openEmbedder }: typeof import("../models/open_embedder.ts") = await import(
    "../models/open_embedder.ts" as string
  );
  return openEmbedder(options.name, modelMeans(options));
}
