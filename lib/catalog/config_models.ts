import { followAliases, maybeModelId } from "../core/model_id.ts";
import { type ModelSettings, PROVIDER_TYPES, type ProviderSettings } from "../core/model_settings.ts";
import { didYouMean } from "../core/nearest.ts";
import type { SourceError } from "../core/source_error.ts";
import { problemAt } from "./config_problem.ts";
import type { ConfigLayers } from "./merge_config.ts";
import type { WrittenConfig } from "./read_config.ts";

/** The models of both files, project over user; the providers are the user's only. */
export function modelsOf({ project, user }: ConfigLayers): ModelSettings {
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

/** What is wrong with the models of both files, seen together. */
export function modelProblems(layers: ConfigLayers): readonly SourceError[] {
  return [layers.project, layers.user].flatMap((layer) => [
    ...aliasProblems(layer, layers),
    ...providerProblems(layer),
    ...priceProblems(layer),
  ]);
}

function aliasProblems(layer: WrittenConfig, layers: ConfigLayers): readonly SourceError[] {
  const { aliases = {} } = modelsOf(layers);
  const told = new Set<string>();
  return Object.keys(layer.values.models?.aliases ?? {}).flatMap((name) => {
    if (maybeModelId(name) !== undefined) {
      const message = `Found the alias ${JSON.stringify(name)}, expected a name without "/" and ":"`;
      return [
        problemAt(layer, ["models", "aliases", name], {
          message,
          hint: "It would stand for a model of that name.",
          what: "key",
        }),
      ];
    }
    const { way, isCycle } = followAliases(name, aliases);
    const end = way.at(-1) ?? name;
    const path = ["models", "aliases", name];
    if (isCycle) {
      if (end !== name || way.some((each) => told.has(each))) return [];
      way.forEach((each) => told.add(each));
      const message = `The aliases of models go round in a circle: ${way.join(" -> ")}`;
      return [problemAt(layer, path, { message, hint: "Let one of them name a model: provider/model." })];
    }
    if (way.length > 2 || maybeModelId(end) !== undefined) return [];
    const message = `Found ${JSON.stringify(end)}, expected provider/model or another alias`;
    const hint = didYouMean(end, Object.keys(aliases)).trim();
    return [problemAt(layer, path, { message, ...(hint !== "" && { hint }) })];
  });
}

function providerProblems(layer: WrittenConfig): readonly SourceError[] {
  return Object.entries(layer.values.models?.providers ?? {}).flatMap(([name, provider]) =>
    wrongWithProvider(name, provider).map(({ at, ...say }) =>
      problemAt(layer, ["models", "providers", name, ...at], at.length === 0 ? { ...say, what: "key" } : say)
    )
  );
}

interface Wrong {
  readonly at: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

/** Names that mean something else in an id. */
const TAKEN_NAMES: readonly string[] = ["script", "replay"];

function wrongWithProvider(name: string, provider: ProviderSettings): readonly Wrong[] {
  const { baseURL } = provider;
  const type = provider.type ?? PROVIDER_TYPES.find((each) => each === name);
  const wrong: Wrong[] = [];
  if (TAKEN_NAMES.includes(name) || /[/:\s]/.test(name)) {
    const why = TAKEN_NAMES.includes(name) ? "which Orrery has itself" : "with a blank, a slash or a colon";
    wrong.push({
      at: [],
      message: `Found a provider named ${JSON.stringify(name)}, ${why}`,
      hint: "Rename it.",
    });
  }
  if (type === undefined) {
    const message = `Found a provider without a type, expected one of ${PROVIDER_TYPES.join(", ")}`;
    wrong.push({ at: [], message, hint: "Most local servers are openai-compatible." });
  }
  if (type === "openai-compatible" && baseURL === undefined) {
    const message = "Found an openai-compatible provider without baseURL, expected one";
    wrong.push({ at: [], message, hint: "Such as baseURL: http://127.0.0.1:11434/v1" });
  }
  if (baseURL !== undefined && !/^https?:$/.test(URL.parse(baseURL)?.protocol ?? "")) {
    const message = `Found ${
      JSON.stringify(baseURL)
    } for a baseURL, expected an address with http:// or https://`;
    wrong.push({ at: ["baseURL"], message });
  }
  return wrong;
}

function priceProblems(layer: WrittenConfig): readonly SourceError[] {
  return Object.entries(layer.values.models?.prices ?? {}).flatMap(([name, { input, output }]) => {
    const path = ["models", "prices", name];
    if (maybeModelId(name) === undefined) {
      const message = `Found a price for ${JSON.stringify(name)}, expected provider/model`;
      return [problemAt(layer, path, { message, what: "key" })];
    }
    const missing = input === undefined ? "input" : output === undefined ? "output" : undefined;
    return missing === undefined
      ? []
      : [problemAt(layer, path, { message: `Found a price without ${missing}, expected both`, what: "key" })];
  });
}
