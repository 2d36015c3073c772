import { join, relative } from "node:path";
import { type ConfigRule, readConfig, type WrittenConfig } from "../../catalog/config/read.ts";
import { CONFIG_TABLE } from "../../catalog/config/table.ts";
import { FileError, isRecord, type Json, toJson } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { configFolder, workingFolder } from "../../host/paths.ts";
import { hostEnv } from "../../host/process.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { NO_POLICY_FLAGS } from "../../policy/policy_settings.ts";
import { openProjectModels } from "../../project/models.ts";
import { isAcceptedHere, openSettings, type ProjectSettings } from "../../project/project.ts";
import { runSecrets } from "../../project/run_secrets.ts";
import { EXIT } from "../../service/exit_code.ts";
import { hiddenSecrets, isSecretName } from "../../service/look/profiles.ts";
import { columns, jsonPage } from "../page.ts";

/** A setting that holds, and why. */
interface Setting {
  readonly key: string;
  readonly value: Json;
  readonly from: string;
}

/** What the flags of the command say of settings. */
export interface ShowConfigFlags {
  readonly json: boolean;
  readonly model: string | undefined;
  readonly concurrency: number | undefined;
  readonly timeout: number | undefined;
}

/** `orrery show config`: every setting with where it comes from. */
export async function showConfig(flags: ShowConfigFlags, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  const isAccepted = await isAcceptedHere(project);
  const layers = await layersOf(project, isAccepted);
  const over = overrides(flags);
  const settings = [
    {
      key: "(project root)",
      value: project.root,
      from: "the nearest folder with orrery.yaml, or the working folder",
    },
    ...settingsAt(CONFIG_TABLE, { path: [], layers, over }),
    ...keySettings(project, isAccepted),
  ];
  const shown = runSecrets({ config: project.config, settings: NO_POLICY_FLAGS }).maskJson(settings);
  const rows = shown.map(({ key, value, from }) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
    from,
  ]);
  await terminal.stdout.write(
    flags.json ? jsonPage(shown) : `${columns([["SETTING", "VALUE", "FROM"], ...rows])}\n`,
  );
  return EXIT.ok;
}

/** A file with settings, the one that counts more first. */
interface Layer {
  readonly file: string;
  readonly written: WrittenConfig;
  /** The project's own word, which nobody has accepted. */
  readonly isUnaccepted: boolean;
}

async function layersOf({ root, cwd }: ProjectSettings, isAccepted: boolean): Promise<readonly Layer[]> {
  const folder = configFolder();
  const files = [
    { path: join(root, "orrery.yaml"), isUnaccepted: !isAccepted },
    ...(folder === undefined ? [] : [{ path: join(folder, "config.yaml"), isUnaccepted: false }]),
  ];
  const layers = await Promise.all(files.map(async ({ path, isUnaccepted }): Promise<readonly Layer[]> => {
    const text = await hostFiles({ root }).readText(path).catch((error) => {
      if (error instanceof FileError) return undefined;
      throw error;
    });
    const way = relative(cwd, path);
    const file = way.startsWith("..") ? path : way;
    return text === undefined ? [] : [{ file, isUnaccepted, written: await readConfig(text, file) }];
  }));
  return layers.flat();
}

/** What stands above the files: flags, then the environment. */
function overrides(flags: ShowConfigFlags): ReadonlyMap<string, Setting> {
  const variable = hostEnv("ORRERY_MODEL")?.trim();
  const settings: Setting[] = [];
  if (variable) settings.push({ key: "models.default", value: variable, from: "the variable ORRERY_MODEL" });
  if (flags.model !== undefined) {
    settings.push({ key: "models.default", value: flags.model, from: "--model" });
  }
  if (flags.concurrency !== undefined) {
    settings.push({ key: "limits.concurrency", value: flags.concurrency, from: "--concurrency" });
  }
  if (flags.timeout !== undefined) {
    settings.push({ key: "limits.timeout-s", value: flags.timeout, from: "--timeout" });
  }
  return new Map(settings.map((setting) => [setting.key, setting]));
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
    const names = new Set(layers.flatMap(({ written }) => Object.keys(objectOf(valueAt(written, path)))));
    return [...names].flatMap((name) =>
      settingsAt(additionalProperties, { ...place, path: [...path, name] })
    );
  }
  const key = path.join(".");
  const forced = over.get(key);
  if (forced !== undefined) return [forced];
  const found = layers.flatMap((layer) => {
    const value = valueAt(layer.written, path);
    return value === undefined ? [] : [{ layer, value }];
  });
  const counting = found.find(({ layer }) => !isWithout(layer, path)) ?? found[0];
  if (counting !== undefined) {
    const { layer, value } = counting;
    return [{ key, value: shownValue(value, path), from: fromWords(layer, path) }];
  }
  const isKept = rule.default !== undefined && !isInMap(path);
  return isKept ? [{ key, value: toJson(rule.default), from: "default" }] : [];
}

/** Inside a map every entry would show defaults that nobody has asked for. */
function isInMap([first, second]: readonly string[]): boolean {
  return first === "mcpServers" || (first === "models" && second === "providers");
}

function valueAt({ values }: WrittenConfig, path: readonly string[]): unknown {
  let here: unknown = values;
  for (const name of path) here = objectOf(here)[name];
  return here;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** What counts only in a project that was accepted. */
const OWN_WORD: readonly string[] = ["grants", "gadgets.isolation", "mcpServers", "models.providers"];

function isWithout({ isUnaccepted }: Layer, path: readonly string[]): boolean {
  const key = path.join(".");
  return isUnaccepted && OWN_WORD.some((part) => key === part || key.startsWith(`${part}.`));
}

function fromWords(layer: Layer, path: readonly string[]): string {
  const line = layer.written.at([...path], "key")?.line;
  const place = line === undefined ? layer.file : `${layer.file}:${line}`;
  return isWithout(layer, path) ? `${place} (does not count: you have not accepted this project)` : place;
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
function keySettings(project: ProjectSettings, isAccepted: boolean): readonly Setting[] {
  const { providers } = openProjectModels({ ...project, isAccepted }).list();
  return providers.flatMap(({ name, keyVariables }) => {
    const variable = keyVariables.find((each) => hostEnv(each)?.trim());
    return keyVariables.length === 0 ? [] : [{
      key: `(key of ${name})`,
      value: variable === undefined ? "missing" : "set",
      from: variable === undefined ? `no variable ${keyVariables.join(" or ")}` : `the variable ${variable}`,
    }];
  });
}
