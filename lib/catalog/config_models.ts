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
    ...(chosen !== undefined && { default: chosen }),
    aliases: { ...theirs?.aliases, ...ours?.aliases },
    fallback: { ...theirs?.fallback, ...ours?.fallback },
    providers: theirs?.providers ?? {},
    prices: Object.fromEntries(
      Object.entries({ ...theirs?.prices, ...ours?.prices }).map((
        [name, { input = 0, output = 0, ...rest }],
      ) => [name, { input, output, ...rest }]),
    ),
  };
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
