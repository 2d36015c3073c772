import { join, relative } from "node:path";
import { type ConfigRule, readConfig, type WrittenConfig } from "../../catalog/config/read.ts";
import { CONFIG_TABLE } from "../../catalog/config/table.ts";
import { FileError, isRecord, type Json, type JsonSchema, toJson } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { configFolder } from "../../host/paths.ts";
import { hostEnv, wantedModel } from "../../host/process.ts";
import { type ProjectSettings } from "../../project/project.ts";
import { hiddenSecrets, isSecretName } from "./profiles.ts";
import type { ModelList } from "../../models/known_models.ts";
import type { App } from "../app.ts";

/** A setting that holds, and why. */
export interface Setting {
  readonly key: string;
  readonly value: Json;
  readonly from: string;
}

/** What the flags of the command say of settings. */
export interface SettingFlags {
  readonly model: string | undefined;
  readonly concurrency: number | undefined;
  readonly timeout: number | undefined;
}

/** Every setting of a project with where it comes from, without what nobody is to see. */
export async function settingsOf(app: App, flags: SettingFlags): Promise<readonly Setting[]> {
  const { project } = app;
  const isAccepted = await app.isAccepted();
  const layers = await layersOf(project, isAccepted);
  const over = overrides(flags);
  const from = "the nearest folder with orrery.yaml, or the working folder";
  return app.secrets.maskJson([
    { key: "(project root)", value: project.root, from },
    ...settingsAt(CONFIG_TABLE, { path: [], layers, over }),
    ...keySettings(await app.models(isAccepted)),
  ]);
}

/** A file with settings, the one that counts more first. */
interface Layer {
  readonly file: string;
  readonly written: WrittenConfig;
  readonly isProject: boolean;
  /** The project's own word, which nobody has accepted. */
  readonly isUnaccepted: boolean;
}

async function layersOf({ root, cwd }: ProjectSettings, isAccepted: boolean): Promise<readonly Layer[]> {
  const folder = configFolder();
  const layerOf = async (path: string, isProject: boolean): Promise<readonly Layer[]> => {
    const text = await hostFiles({ root }).readText(path).catch((error) => {
      if (error instanceof FileError) return undefined;
      throw error;
    });
    const way = relative(cwd, path);
    const file = way.startsWith("..") ? path : way;
    const written = text === undefined ? undefined : await readConfig(text, file);
    return written ? [{ file, isProject, isUnaccepted: isProject && !isAccepted, written }] : [];
  };
  return [
    ...await layerOf(join(root, "orrery.yaml"), true),
    ...folder === undefined ? [] : await layerOf(join(folder, "config.yaml"), false),
  ];
}

/** What stands above the files: flags, then the environment. */
function overrides({ model, concurrency, timeout }: SettingFlags): ReadonlyMap<string, Setting> {
  const all: readonly (readonly [key: string, value: Json | undefined, from: string])[] = [
    ["models.default", wantedModel(), "the variable ORRERY_MODEL"],
    ["models.default", model, "--model"],
    ["limits.concurrency", concurrency, "--concurrency"],
    ["limits.timeout-s", timeout, "--timeout"],
  ];
  return new Map(
    all.flatMap(([key, value, from]) => value === undefined ? [] : [[key, { key, value, from }]]),
  );
}

interface Place {
  readonly path: readonly string[];
  readonly layers: readonly Layer[];
  readonly over: ReadonlyMap<string, Setting>;
}

function settingsAt(rule: ConfigRule, place: Place): readonly Setting[] {
  const { path, layers, over } = place;
  const { properties, additionalProperties } = rule;
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, key]) =>
      settingsAt(key, { ...place, path: [...path, name] })
    );
  }
  if (additionalProperties) {
    const names = new Set(layers.flatMap(({ written }) => Object.keys(valueAt(written, path) ?? {})));
    return [...names].flatMap((name) =>
      settingsAt(additionalProperties, { ...place, path: [...path, name] })
    );
  }
  const key = path.join(".");
  const forced = over.get(key);
  if (forced !== undefined) return [forced];
  const found = layers.filter(({ written }) => valueAt(written, path) !== undefined);
  const layer = found.find((each) => !isWithout(each, path)) ?? found[0];
  if (layer !== undefined) {
    return [{ key, value: shownValue(valueAt(layer.written, path), path), from: fromWords(layer, path) }];
  }
  const isKept = rule.default !== undefined && !isInMap(path);
  return isKept ? [{ key, value: toJson(rule.default), from: "default" }] : [];
}

/** Inside a map every entry would show defaults that nobody has asked for. */
function isInMap([first, second]: readonly string[]): boolean {
  return first === "mcpServers" || (first === "models" && second === "providers");
}

function valueAt({ values }: WrittenConfig, path: readonly string[]): unknown {
  return path.reduce((here: unknown, name) => isRecord(here) ? here[name] : undefined, values);
}

/** What counts only in a project that was accepted. */
const OWN_WORD: readonly string[] = ["grants", "gadgets.isolation", "mcpServers", "models.providers"];

function isWithout({ isProject, isUnaccepted }: Layer, path: readonly string[]): boolean {
  const key = path.join(".");
  if (isProject && path[0] === "telemetry") return true;
  return isUnaccepted && OWN_WORD.some((part) => key === part || key.startsWith(`${part}.`));
}

function fromWords(layer: Layer, path: readonly string[]): string {
  const line = layer.written.at([...path], "key")?.line;
  const place = line === undefined ? layer.file : `${layer.file}:${line}`;
  if (!isWithout(layer, path)) return place;
  const why = path[0] === "telemetry"
    ? "only your own config.yaml can say it"
    : "you have not accepted this project";
  return `${place} (does not count: ${why})`;
}

const SECRET_PART = /^(?:headers|env|queryParams)$/;

/** A value that may hold a secret is not shown; one that only names a variable is none. */
function shownValue(value: unknown, path: readonly string[]): Json {
  const name = path.at(-1) ?? "";
  const isSecret = path.some((part) => SECRET_PART.test(part)) ||
    (name !== "apiKeyEnv" && path[0] === "models" && path[1] === "providers" && isSecretName(name));
  const isVariable = typeof value === "string" && /^(?:\w+ )?\$\{\w+\}$/.test(value);
  if (isSecret && !isVariable) return "(hidden)";
  return hiddenSecrets(toJson(value)); // options of a provider may be anything, also a key
}

/** Of keys only whether they are there. */
function keySettings({ providers }: ModelList): readonly Setting[] {
  return providers.filter(({ keyVariables }) => keyVariables.length > 0).map(({ name, keyVariables }) => {
    const variable = keyVariables.find((each) => hostEnv(each)?.trim());
    const key = `(key of ${name})`;
    return variable === undefined
      ? { key, value: "missing", from: `no variable ${keyVariables.join(" or ")}` }
      : { key, value: "set", from: `the variable ${variable}` };
  });
}

/** The JSON Schema (draft 2020-12) of `orrery.yaml`, for editors. */
export function configSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "orrery.yaml",
    description: "The settings of an Orrery project.",
    ...CONFIG_TABLE,
  };
}
