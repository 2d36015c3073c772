// What the gadget of one module may do. It is decided before its first call; until then it is described by a process that may do nothing.

import { exactFiles } from "../host/exact_files.ts";
import { hostFileChanges } from "../host/file_changes.ts";
import { guardWorld } from "../policy/guard.ts";
import { guardFileChanges } from "../policy/guard_file_changes.ts";
import { performEffect } from "../sandbox/effects.ts";
import { type GadgetFile } from "../catalog/gadget_file.ts";
import { type AnyGadget, type AskingGadget, PERMIT } from "../core/gadget.ts";
import type { GadgetToGrant } from "../core/gadget_lock.ts";
import type { GadgetDescription } from "../core/gadget_message.ts";
import { PermissionRefused } from "../core/world.ts";
import type { Files, Http, PermissionRequest, Permissions, Policy, Shell } from "../core/world.ts";
import { hostEnv, hostEnvNames } from "../host/process.ts";
import { realPath } from "../host/paths.ts";
import { SYSTEM_FACTS, systemFacts } from "../host/system_facts.ts";
import type { StartGadgetProcess } from "../host/start_gadget_process.ts";
import { lockedGadget } from "../policy/decide_grant.ts";
import { gadgetPolicy, loadingPolicy } from "../policy/gadget_policy.ts";
import { isPathEntry } from "../policy/permission_entry.ts";
import { PERMISSION_KINDS, type PolicySettings } from "../policy/policy_settings.ts";
import { countedPolicy, UseTally } from "../policy/use_tally.ts";
import { eventLoopTurn } from "../run/event_loop_turn.ts";
import { facadeModules } from "../sandbox/facade_modules.ts";
import type { PerformEffect } from "../sandbox/gadget_effects.ts";
import type { GadgetHost, GadgetHostOptions, GadgetSurroundings } from "../sandbox/gadget_host.ts";
import { mapStack } from "../sandbox/gate/map_stack.ts";
import type { PreparedGraph } from "../sandbox/gate/prepared_graph.ts";
import { type KnownGadget } from "../sandbox/known_gadgets.ts";
import { sandboxedGadget } from "../sandbox/sandboxed_gadget.ts";
import type { GadgetTally } from "./gadget_use.ts";
import type { Grant, GrantMeans } from "./grant_gadget.ts";
import { linkTarget } from "./module_hashes.ts";

const MIB = 1024 * 1024;
const MAX_FRAME_BYTES = 64 * MIB;
/** A program may set a higher limit of results than the project does. */
const MOST_RESULT_BYTES = 16 * MIB;
/** How long a gadget may take to hear that its call was given up. */
const CANCEL_MS = 1_000;

/** Where gadgets run, and who decides what they may do. */
export interface SandboxOptions {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly cwd: string;
  /** What the run denies holds for every gadget. */
  readonly settings: PolicySettings;
  readonly grants: Pick<GrantMeans, "grantFor" | "known" | "wordFor">;
  /** Told at the end what each gadget that was granted something did with it. Default: nobody is. */
  readonly keepUse?: (tallies: readonly GadgetTally[]) => Promise<void>;
  readonly limits: {
    readonly gadgetIdleMs: number;
    readonly gadgetMemoryBytes: number;
    readonly resultBytes: number;
  };
  readonly compiled: boolean;
  readonly disk: Files;
  /** Where it is kept what modules are. Absent: nowhere. */
  readonly kept?: Files;
  readonly shell: Shell;
  readonly http: (options: { readonly check: Policy["permit"] }) => Http;
  /** Folders that no gadget writes: real and absolute. */
  readonly sealed: readonly string[];
  readonly start: StartGadgetProcess;
  /** Told what is odd about a gadget. */
  readonly notice: (text: string) => void;
  /** How long a call may take: nor does a module, to be loaded. Default: 5,000, which is the most. */
  readonly callMs?: number;
  /** Gives up loading modules. */
  readonly signal?: AbortSignal;
}

/** What a gadget may do, as it comes to be known. */
export class GadgetPlace {
  readonly #file: GadgetFile;
  readonly #options: SandboxOptions & { readonly graph: PreparedGraph };
  #perform: PerformEffect;
  #surroundings: GadgetSurroundings = { env: {}, sys: {} };
  #decided: Promise<void> | undefined;
  #isPermitted = false;
  #use: GadgetTally | undefined;

  constructor(file: GadgetFile, options: SandboxOptions & { readonly graph: PreparedGraph }) {
    this.#file = file;
    this.#options = options;
    this.#perform = guardedEffects(loadingPolicy(options), options);
  }

  /** What it did with its grant; undefined as long as it was granted nothing. */
  get use(): GadgetTally | undefined {
    return this.#use;
  }

  /** For the host of its module. */
  hostOptions(): GadgetHostOptions {
    const { graph, root, cwd, limits, start } = this.#options;
    const perform: PerformEffect = (...asked) => this.#perform(...asked);
    return {
      graph,
      facades: facadeModules,
      root,
      limits: {
        idleMs: limits.gadgetIdleMs,
        memoryBytes: limits.gadgetMemoryBytes,
        maxFrameBytes: MAX_FRAME_BYTES,
        maxResultBytes: Math.max(MOST_RESULT_BYTES, limits.resultBytes + MIB), // a secret may lie across the limit
        cancelMs: CANCEL_MS,
      },
      start,
      shownFile: this.#file.file,
      perform,
      mapStack: (stack: string, folderUrl: string) => mapStack(stack, { graph, folderUrl, cwd }),
      surroundings: () => this.#surroundings,
      onUsed: (kind: "env" | "sys", name: string) => this.#onUsed(kind, name),
    };
  }

  gadget(description: GadgetDescription, host: GadgetHost): AnyGadget {
    const permit = (): undefined | Promise<void> => {
      if (!this.#isPermitted) {
        this.#decided ??= this.#decide(description, host);
        return this.#decided.then(() => this.#use?.tally.called());
      }
      this.#use?.tally.called();
      return undefined;
    };
    const gadget: AskingGadget = {
      ...sandboxedGadget(description, host),
      [PERMIT]: permit,
    };
    return gadget;
  }

  /** @throws {PermissionRefused} */
  async #decide(gadget: GadgetDescription, host: GadgetHost): Promise<void> {
    const { grants, graph, root, cwd, settings, sealed } = this.#options;
    const asking = toGrant(this.#file, { gadget, graph }, root);
    const grant: Grant = await grants.grantFor(asking);
    if (grant.kind === "refused") throw grant.error;
    const word = grants.wordFor(asking);
    const policy = gadgetPolicy(gadget.name, grant.permissions, {
      root,
      cwd,
      realPath,
      settings,
      sealed,
      word,
    });
    const tally = new UseTally(grant.permissions, { root });
    this.#use = { gadget: lockedGadget(asking, { root }), tally };
    this.#perform = guardedEffects(countedPolicy(policy, (asked) => tally.used(asked)), this.#options);
    const sys = SYSTEM_FACTS.filter((value) => isAllowed(policy, { kind: "sys", value }));
    const env = grantedVariables(grant.permissions, policy);
    this.#surroundings = { env, sys: systemFacts(sys) };
    if (Object.keys(env).length > 0 || sys.length > 0) await host.restart(); // what it was started with is too little
    host.warm(); // while the call is checked
    // Only then: calls that come while the first one is being told go behind it.
    void eventLoopTurn().then(() => this.#isPermitted = true);
  }

  /** What it was granted of these it has at once; that it looked at it, it says itself. Of anything else it may say what it likes. */
  #onUsed(kind: "env" | "sys", name: string): void {
    const names = name === "*" ? Object.keys(this.#surroundings[kind]) : [name];
    names.forEach((value) => this.#use?.tally.told({ kind, value }));
  }
}

/** Performs the effects that the policy lets pass. */
function guardedEffects(
  policy: Policy,
  { root, shell, http }: Pick<SandboxOptions, "root" | "shell" | "http">,
): PerformEffect {
  const files = exactFiles({ root });
  const world = guardWorld({ root, files, shell, http }, policy);
  const changes = guardFileChanges(hostFileChanges({ root }), { policy, root, files });
  return (op, bytes, { signal }) => performEffect(op, bytes, { world, changes, signal });
}

/** A gadget as its grant is decided on. */
export function toGrant(
  { path }: GadgetFile,
  { gadget: { name, permissions = {} }, graph }: KnownGadget,
  root: string,
): GadgetToGrant {
  const modules = graph.modules.map(({ path, sha256 }) => ({ path, sha256 }));
  const paths = PERMISSION_KINDS.flatMap((kind) => {
    const asked = permissions[kind];
    return asked === undefined || asked === true ? [] : asked.filter((entry) => isPathEntry(entry, kind));
  });
  const links = paths.flatMap((entry) => {
    const to = linkTarget(entry, root);
    return to === undefined ? [] : [[entry, to] as const];
  });
  return {
    name,
    file: path,
    permissions,
    modules,
    ...(links.length > 0 && { links: Object.fromEntries(links) }),
  };
}

/** The variables that were granted and that the run does not deny. */
function grantedVariables({ env = [] }: Permissions, policy: Policy): Readonly<Record<string, string>> {
  const names = new Set([...hostEnvNames(), ...env === true ? [] : env]);
  return Object.fromEntries([...names].flatMap((name) => {
    const value = isAllowed(policy, { kind: "env", value: name }) ? hostEnv(name) : undefined;
    return value === undefined ? [] : [[name, value]];
  }));
}

function isAllowed(policy: Policy, request: PermissionRequest): boolean {
  try {
    policy.check(request);
    return true;
  } catch (error) {
    if (error instanceof PermissionRefused) return false;
    throw error;
  }
}
