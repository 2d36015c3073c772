import { type Clock, type ModelId, modelIdText, type ModelSettings } from "../../core/core.ts";
import { configError, missingKey, unknownProvider } from "../model_config_error.ts";
import { type ProviderAnswer, providerFetch } from "./fetch.ts";
import { ProviderProblem } from "./problem.ts";
import { type Env, type FetchFunction, maybeKey, maybeProvider, type Provider } from "./provider.ts";
import type { Silence } from "./silence.ts";

/** What a provider is reached with. */
export interface ProviderAccessOptions {
  readonly settings: ModelSettings;
  readonly fetch: FetchFunction;
  readonly env: Env;
  /** Why a variable cannot be looked at, when it cannot. */
  readonly unreadable?: (name: string) => string | undefined;
  readonly clock: Clock;
  readonly silence: Silence;
}

/** A provider that can be asked for one of its models. */
export interface ProviderAccess {
  readonly provider: Provider;
  readonly hasKey: boolean;
  readonly problem: ProviderProblem;
  /** For the SDK: it sends the key, and tells what is no such answer. */
  fetch(answer: ProviderAnswer): FetchFunction;
}

/** @throws {ModelError} `config`, when there is no such provider, or no key for it */
export function providerAccess(id: ModelId, options: ProviderAccessOptions): ProviderAccess {
  const { settings, env, unreadable } = options;
  const provider = maybeProvider(id.provider, options);
  if (provider === undefined || provider.baseURL === "") throw unknownProvider(id.provider, settings);
  const key = maybeKey(provider, env);
  if (key === undefined && provider.keyVariables.length > 0) {
    throw missingKey(modelIdText(id), { provider, unreadable });
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key.value)) {
    throw configError(`The key in ${key.name} holds a blank, a line break or a letter that no key has`);
  }
  const headers = headersOf(provider, env);
  const problem = new ProviderProblem(id, {
    provider,
    keyName: key?.name,
    secrets: [...(key === undefined ? [] : [key]), ...headers.secrets],
  });
  return {
    provider,
    hasKey: key !== undefined,
    problem,
    fetch: (answer) => providerFetch({ ...options, key: key?.value, headers: headers.all, problem, answer }),
  };
}
interface Headers {
  readonly all: Readonly<Record<string, string>>;
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The configured headers, `${NAME}` and `${NAME:-default}` replaced. */
function headersOf({ name, settings }: Provider, env: Env): Headers {
  const secrets: { name: string; value: string }[] = [];
  const expand = (text: string) =>
    text.replaceAll(VARIABLE, (_, variable: string, other: string | undefined) => {
      const value = env(variable)?.trim() || other;
      if (value === undefined) {
        throw configError(
          `models.providers.${name}.headers needs the variable ${variable}, which is not set`,
        );
      }
      if (value.length >= 8 && value !== other) secrets.push({ name: variable, value });
      return value;
    });
  const entries = Object.entries(settings.headers ?? {}).map(([header, text]) =>
    [header, expand(text)] as const
  );
  return { all: Object.fromEntries(entries), secrets };
}
