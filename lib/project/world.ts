import type { CommandName, Grant } from "../catalog/config/config.ts";
import {
  type EntryGrant,
  type Http,
  type PermissionRequest,
  type Permissions,
  type Shell,
  systemClock,
  type User,
  type World,
} from "../core/core.ts";
import { defaultShell } from "../host/commands/child.ts";
import { exactFiles } from "../host/files/changes.ts";
import type { HostHttpOptions } from "../host/http/http.ts";
import { realPath } from "../host/paths.ts";
import { hostShell } from "../host/commands/shell.ts";
import { guardWorld } from "../policy/guard.ts";
import { type Approve, approvingPolicy, createPolicy, narrowedPolicy } from "../policy/policy.ts";
import { NOBODY } from "./trust/grants.ts";
import {
  absoluteEntry,
  NO_POLICY_FLAGS,
  type PolicyRules,
  type PolicySettings,
  rulesByKind,
} from "../policy/policy_settings.ts";
import type { DocumentMeans } from "../run/document/means.ts";
import { maybeGrant, type ProjectSettings } from "./project.ts";

/** What a world is made from. */
export interface WorldOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  /** The working folder, which the paths of flags are relative to: absolute. */
  readonly cwd: string;
  /** Default: what every run may do. */
  readonly settings?: PolicySettings;
  /** Default: nobody can be asked. */
  readonly user?: User;
  /** Asked about what no flag allows. Default: it is refused. */
  readonly approve?: Approve;
  /** What bounds it further: the end of a sentence that says why a request is refused. Default: nothing. */
  readonly against?: (request: PermissionRequest) => string | undefined;
}

/** This machine, with the policy of the flags in front of every effect. What flags mean is settled before anything runs that could change where a link leads. */
export function createWorld(
  { root, cwd, settings = NO_POLICY_FLAGS, user = NOBODY, approve, against }: WorldOptions,
): World {
  const policy = createPolicy(settings, { root, cwd, realPath });
  const asking = approve === undefined ? policy : approvingPolicy(policy, approve);
  const guarded = guardWorld(
    { root, files: exactFiles({ root }), shell: hostShell(), http: lateHttp },
    against === undefined ? asking : narrowedPolicy(asking, against),
  );
  return { ...guarded, user, clock: systemClock, wallTime: () => Date.now() };
}

/** The network of this machine; its code is loaded with the first request. */
function lateHttp(options: HostHttpOptions): Http {
  const loaded = async (): Promise<Http> => {
    const { hostHttp }: typeof import("../host/http/http.ts") = await import(
      "../host/http/http.ts" as string
    );
    return hostHttp(options);
  };
  return {
    fetch: async (...request) => await (await loaded()).fetch(...request),
    open: async (...request) => await (await loaded()).open(...request),
  };
}

// Programs that `grants:` of the settings lets a run start: `RunCommand: { run: [git] }` for calls of that gadget, `"@shell": trusted` for
// the scripts of documents. Each has a shell of its own for it, since what one of them may start the other may not.

/** A project whose settings are known, and whether what it says for itself counts. */
export interface GrantingProject extends Pick<ProjectSettings, "root" | "config"> {
  readonly accepted: boolean;
}

/** The world of a run, with the programs on top of its flags that the settings grant it. */
export function withCommandGrants(
  world: World,
  options: WorldOptions & { readonly settings: PolicySettings },
  project: GrantingProject,
): World {
  const shellOf = (name: CommandName): Shell | undefined => {
    const settings = commandSettings(name, options.settings, project);
    return settings === options.settings ? undefined : createWorld({ ...options, settings }).shell;
  };
  const commands = shellOf("RunCommand");
  const scripts = shellOf("@shell");
  if (commands === undefined && scripts === undefined) return world;
  return { ...world, commands: commands ?? world.shell, shell: scripts ?? world.shell };
}

/** What one of them may do: what the flags of the run say, and what it is granted. The same object where that is nothing. */
export function commandSettings(
  name: CommandName,
  settings: PolicySettings,
  project: GrantingProject,
): PolicySettings {
  const grant = maybeGrant(name, project);
  if (grant === undefined) return settings;
  return { ...settings, allow: added(settings.allow, permissionsOf(name, grant, project), project.root) };
}

/** What the settings grant `RunCommand`, for lists; nothing where they do not name it. */
export function commandEntryGrants(project: GrantingProject): Readonly<Record<string, EntryGrant>> {
  const name = "RunCommand";
  const grant = maybeGrant(name, project);
  if (grant === undefined) return {};
  const from = Object.hasOwn(project.config.grants, name) ? "your settings" : "the project";
  const permissions = permissionsOf(name, grant, project);
  return { [name]: { state: "granted", from: [from], changes: [], permissions } };
}

function permissionsOf(name: CommandName, grant: Grant, project: GrantingProject): Permissions {
  return grant === "trusted" ? trusted(name, project) : grant;
}

/** Scripts need their shell, and nothing else; `RunCommand` asks for any program, in any folder. */
function trusted(name: CommandName, project: GrantingProject): Permissions {
  return name === "@shell" ? { run: [scriptShell(project).command] } : { run: true, read: true };
}

function added(allow: PolicyRules, permissions: Permissions, root: string): PolicyRules {
  return rulesByKind((kind) => {
    const { all, list } = allow[kind];
    const more = permissions[kind] ?? [];
    if (more === true) return { all: true, list };
    // Absolute: a grant is seen from the root, a flag from the working folder.
    return { all, list: [...list, ...more.map((entry) => absoluteEntry(entry, { kind, cwd: root }))] };
  });
}

/** The shell for `@shell`, as the configuration has it. */
export function scriptShell(
  { config: { documents } }: Pick<ProjectSettings, "config">,
): DocumentMeans["script"] {
  const shell = defaultShell();
  return documents.shell === undefined ? shell : { ...shell, command: documents.shell };
}
