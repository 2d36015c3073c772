import type { Config } from "../catalog/config/config.ts";
import {
  type Catalog,
  createSecrets,
  type Permissions,
  type ProviderSettings,
  type Secrets,
  type User,
} from "../core/core.ts";
import { hostEnv, hostEnvNames } from "../host/process.ts";
import { PROVIDER_KINDS } from "../models/provider.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";

/** Where secrets come from. */
export interface RunSecretsOptions {
  readonly config: Config;
  readonly settings: PolicySettings;
}

/** Variables of this kind are taken for secrets when all of the environment may be read. */
export const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** What must not be kept, told or sent on: keys of providers, values of granted variables, values of configured headers (turn.md 3). */
export function runSecrets({ config, settings }: RunSecretsOptions): Secrets {
  const secrets = createSecrets();
  const addVariable = (name: string) => secrets.add(name, hostEnv(name) ?? "");
  for (const { keyVariables } of Object.values(PROVIDER_KINDS)) keyVariables.forEach(addVariable);
  addGranted(secrets, settings);
  for (const [name, { apiKeyEnv, headers }] of providersOf(config)) {
    if (apiKeyEnv !== undefined) addVariable(apiKeyEnv);
    addHeaders(secrets, headers, { of: name });
  }
  const { mcpServers, project } = config;
  for (const [name, server] of [...Object.entries(mcpServers), ...Object.entries(project.mcpServers)]) {
    if ("headers" in server) addHeaders(secrets, server.headers, { of: name });
    if ("env" in server) addHeaders(secrets, secretOnes(server.env), { of: name });
  }
  return secrets;
}

/** The values of the variables that a run may read. */
export function addGranted(
  secrets: Secrets,
  { allow: { env: { all, list } }, allowAll }: PolicySettings,
): void {
  for (const name of grantedVariables(all || allowAll, list)) secrets.add(name, hostEnv(name) ?? "");
}

/** Variables that hide nothing: masking their values would only make texts hard to read. */
export const PUBLIC_VARIABLES: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "TERM",
  "PWD",
  "USER",
  "SHELL",
  "TMPDIR",
];

/** The values of the variables that gadgets of modules, and programs by a grant of the settings, may read or may be allowed to read. */
export async function addGadgetVariables(
  secrets: Pick<Secrets, "add">,
  { catalog, user, commands }: {
    readonly catalog: Catalog;
    /** Who may allow it while the run is on. */
    readonly user: User;
    /** What starts programs is granted. */
    readonly commands: readonly Permissions[];
  },
): Promise<void> {
  const granted = await Promise.all(catalog.entries.map(async ({ source, state, load, grant }) => {
    if (source.kind !== "project" && source.kind !== "file" || state !== "ready") return {};
    const given = grant?.();
    if (given?.permissions !== undefined) return given.permissions;
    return given === undefined || user.canAnswer ? (await load()).permissions ?? {} : {};
  }));
  for (const { env = [] } of [...granted, ...commands]) {
    const names = grantedVariables(env === true, env === true ? [] : env);
    for (const name of names.filter((each) => !PUBLIC_VARIABLES.includes(each))) {
      secrets.add(name, hostEnv(name) ?? "");
    }
  }
}

/** Headers that say nothing secret. */
const OPEN_HEADERS = /^(?:accept|content-type|user-agent|http-referer|x-title)$/i;

function providersOf({ models, project }: Config): readonly (readonly [string, ProviderSettings])[] {
  return [...Object.entries(models.providers ?? {}), ...Object.entries(project.providers)];
}

/** Names as `--allow-env` lists them; `NAME*` is a beginning. */
function grantedVariables(all: boolean, list: readonly string[]): readonly string[] {
  const exact = list.filter((name) => !name.endsWith("*"));
  if (exact.length === list.length && !all) return exact;
  const beginnings = list.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  const matching = hostEnvNames().filter((name) =>
    beginnings.some((beginning) => name.startsWith(beginning)) ||
    (all && SECRET_NAME.test(name))
  );
  return [...exact, ...matching];
}

/** Of what a program is given, most is no secret. */
function secretOnes(env: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => SECRET_NAME.test(name) || value.includes("${")),
  );
}

/** `${NAME}` in a header stands for a variable, whose value is the secret; the rest is one itself. */
function addHeaders(
  secrets: Secrets,
  headers: Readonly<Record<string, string>> | undefined,
  { of }: { readonly of: string },
): void {
  for (const [header, value] of Object.entries(headers ?? {})) {
    if (OPEN_HEADERS.test(header)) continue;
    const filled = value.replaceAll(/\$\{(\w+)(?::-[^}]*)?\}/g, (_whole, name: string) => {
      const variable = hostEnv(name) ?? "";
      secrets.add(name, variable);
      return variable;
    });
    const bare = filled.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
    secrets.add(`${header} of ${of}`, bare);
  }
}
