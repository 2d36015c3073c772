// The way to the sandbox, loaded with the first module of a gadget; what works there is loaded while a process starts.
import { join } from "node:path";
import { alone } from "../host/files/journal_files.ts";
import { hostFiles } from "../host/files/files.ts";
import { hostHttp } from "../host/http/http.ts";
import { cacheFolder, configFolder, realPath, stateFolder } from "../host/paths.ts";
import { isCompiled } from "../host/process.ts";
import { hostShell } from "../host/commands/shell.ts";
import { gadgetProcesses } from "../host/commands/gadget_process.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import { type GadgetTally, keepGadgetUse } from "./trust/gadget_use.ts";
import type { LockKeeper } from "./trust/lock.ts";
import type { OpenCatalogOptions, ProjectSettings } from "./project.ts";
import { SandboxedGadgets } from "./sandboxed_gadgets.ts";
import { GrantMeans, type GrantMeansOptions } from "./trust/grant_gadget.ts";

/** What the gadgets of a project are decided by. */
export interface SandboxDecisions
  extends
    Pick<OpenCatalogOptions, "flags" | "settings" | "user" | "notice" | "signal">,
    Pick<GrantMeansOptions, "projectAccepted" | "serverNames"> {
  /** The lock of the project, for servers too. */
  readonly keeper: LockKeeper;
}

/** The sandbox itself. */
export function loadSandbox(
  project: ProjectSettings,
  options: SandboxDecisions & Required<Pick<GrantMeansOptions, "candidates">>,
): SandboxedGadgets {
  const { root, cwd, config } = project;
  const { settings = NO_POLICY_FLAGS, notice, flags } = options;
  const [cache, state] = [cacheFolder(), stateFolder()];
  const own = [configFolder(), state, cache].filter((folder) => folder !== undefined);
  return new SandboxedGadgets({
    root,
    cwd,
    settings,
    grants: new GrantMeans({ ...project, ...options }),
    limits: config.limits,
    compiled: isCompiled(),
    disk: hostFiles({ root }),
    ...(cache !== undefined && { kept: hostFiles({ root: `${cache}/gadgets`, mode: 0o600 }) }),
    ...(state !== undefined && !flags.ephemeral &&
      { keepUse: (tallies) => keepUse(tallies, { root, state }) }),
    shell: hostShell(),
    http: hostHttp,
    sealed: own.map(realPath),
    start: gadgetProcesses(),
    notice,
    callMs: flags.timeout && flags.timeout * 1000,
    signal: options.signal,
  });
}

async function keepUse(
  tallies: readonly GadgetTally[],
  { root, state }: { readonly root: string; readonly state: string },
): Promise<void> {
  if (tallies.length === 0) return;
  await keepGadgetUse(tallies, {
    root,
    state: hostFiles({ root: state, mode: 0o600 }),
    alone: (name, work) => alone(join(state, name), work),
  });
}
