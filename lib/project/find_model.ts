import { type Model, ModelError } from "../core/model.ts";
import { denoGrants } from "../host/process.ts";
import { tcpConnect } from "../host/tcp_connect.ts";
import type { OpenModels } from "../models/open_models.ts";
import { findLocalServers } from "../models/provider/provider.ts";
import { openProjectModels, type OpenProjectModelsOptions } from "./open_models.ts";

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

async function localChoices(): Promise<string> {
  const servers = await findLocalServers({
    connect(target) {
      const isGranted = denoGrants({ name: "net", host: `${target.hostname}:${target.port}` });
      return isGranted ? tcpConnect(target) : Promise.reject(new Error("Deno may not connect"));
    },
  });
  return servers.map(({ port, name, baseURL }) => {
    const key = name.toLowerCase().replace(/\W+/g, "");
    return `\nA server answers on 127.0.0.1:${port}, where ${name} usually is. To use it, put this into orrery.yaml or ` +
      `~/.config/orrery/config.yaml, and name one of its models: --model ${key}/MODEL\n` +
      `  models: { providers: { ${key}: { type: openai-compatible, baseURL: "${baseURL}" } } }`;
  }).join("");
}
