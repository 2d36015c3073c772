import { followAliases, maybeModelId } from "../core/model_id.ts";
import type { ModelSettings } from "../core/model_settings.ts";
import { type Env, maybeProvider } from "./provider.ts";

/** What decides the hosts. */
export interface ProviderHostsOptions {
  readonly settings: ModelSettings;
  readonly env: Env;
}

/** The `host:port` of every provider that a model's calls may go to, its fallbacks' too; empty for an offline or unknown model. */
export function providerHosts(name: string, options: ProviderHostsOptions): readonly string[] {
  const { aliases = {}, fallback = {} } = options.settings;
  const { way } = followAliases(name, aliases);
  const names = way.flatMap((each) => [each, ...(Object.hasOwn(fallback, each) ? fallback[each] ?? [] : [])]);
  return [
    ...new Set(names.flatMap((each) => hostOf(followAliases(each, aliases).way.at(-1) ?? each, options))),
  ];
}

function hostOf(id: string, options: ProviderHostsOptions): readonly string[] {
  const provider = maybeProvider(maybeModelId(id)?.provider ?? "", options);
  const url = provider === undefined ? null : URL.parse(provider.baseURL);
  if (url === null) return [];
  return [`${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`];
}
