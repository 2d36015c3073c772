// The gadgets of modules, each in a process of its own. What such a gadget may do is decided before its first call; what it says of itself
// is known before that, from a process that may do nothing.
import { brokenEntry, type GadgetFile } from "../catalog/gadget_file.ts";
import {
  type AnyGadget,
  type AskingGadget,
  type CatalogEntry,
  eventLoopTurn,
  type Files,
  type GadgetDescription,
  type GadgetToGrant,
  type Http,
  messageOf,
  type Permissions,
  PERMIT,
  type Policy,
  type Shell,
  SourceError,
} from "../core/core.ts";
import type { StartGadgetProcess } from "../host/commands/gadget_process.ts";
import { exactFiles, hostFileChanges } from "../host/files/changes.ts";
import { realPath } from "../host/paths.ts";
import { hostEnv, hostEnvNames, SYSTEM_FACTS, systemFacts } from "../host/process.ts";
import { lockedGadget } from "../policy/decide_grant.ts";
import { gadgetPolicy, loadingPolicy } from "../policy/policy.ts";
import { guardWorld } from "../policy/guard.ts";
import { guardFileChanges } from "../policy/guard_files.ts";
import { isPathEntry, PERMISSION_KINDS, type PolicySettings } from "../policy/policy_settings.ts";
import { maybeRefusal } from "../policy/refusal.ts";
import { countedPolicy, UseTally } from "../policy/use_tally.ts";
import { performEffect } from "../sandbox/effects.ts";
import { facadeModules } from "../sandbox/facade_modules.ts";
import type { PerformEffect } from "../sandbox/gadget/effects.ts";
import { thrownPlace } from "../sandbox/gadget/failure.ts";
import {
  type GadgetHost,
  type GadgetHostOptions,
  GadgetHosts,
  type GadgetSurroundings,
} from "../sandbox/gadget/host.ts";
import { mapStack } from "../sandbox/gate/map_stack.ts";
import type { PreparedGraph } from "../sandbox/gate/prepare_modules.ts";
import { keepKnownGadget, type KnownGadget, maybeKnownGadget } from "../sandbox/known_gadgets.ts";
import { sandboxedGadget } from "../sandbox/gadget/gadget.ts";
import type { GadgetTally } from "./trust/gadget_use.ts";
import type { Grant, GrantMeans } from "./trust/grant_gadget.ts";
import { linkTarget } from "./trust/module_hashes.ts";

/** Characters of what a module told the console before it failed. */
const MOST_SAID = 300;
/** How long a module may take to be loaded, as long as nobody has called its gadget. */
const LOAD_MS = 5_000;
/** So many are loaded at once to see what they say: each is a process that may keep a core busy. */
const MOST_LOADING = 8;

/** The gate: only for a module that is not known yet. */
const loadPrepare = (): Promise<typeof import("../sandbox/gate/prepare_modules.ts")> =>
  import("../sandbox/gate/prepare_modules.ts" as string);

/** The gadgets of a project's modules. */
export class SandboxedGadgets {
  readonly #options: SandboxOptions;
  readonly #hosts = new GadgetHosts();
  readonly #places: GadgetPlace[] = [];
  readonly #loading = new Turnstile(MOST_LOADING);
  /** By the file: what the modules that were looked at told the console. */
  readonly #said = new Map<string, string>();

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** The gadget of a file as an entry of a catalogue; what is wrong with it becomes a `broken` one. */
  async open(file: GadgetFile): Promise<CatalogEntry> {
    try {
      const opened = await this.#opened(file);
      const { known: { gadget: { name }, said } } = opened;
      return {
        name,
        source: file.source,
        state: "ready",
        load: () => opened.gadget,
        grant: () => this.#options.grants.known(toGrant(file, opened.known, this.#options.root)),
        said,
      };
    } catch (thrown) {
      return brokenEntry(file, this.#loadProblem(file, thrown));
    }
  }

  /** The gadget of a file, as far as it matters to whether it may run; it may do nothing meanwhile. @throws {SourceError} */
  async describe(file: GadgetFile): Promise<GadgetToGrant> {
    try {
      return toGrant(file, (await this.#opened(file)).known, this.#options.root);
    } catch (cause) {
      throw new SourceError(this.#loadProblem(file, cause), { code: "E-gadget", cause });
    }
  }

  /** Ends every process, and keeps what the gadgets used. */
  async close(): Promise<void> {
    const { keepUse, notice } = this.#options;
    await this.#hosts.end();
    try {
      await keepUse?.(this.#places.flatMap((place) => place.use ?? []));
    } catch (error) {
      notice(`What the gadgets used is not kept: ${messageOf(error)}`);
    }
  }

  async #opened(file: GadgetFile): Promise<{ readonly known: KnownGadget; readonly gadget: AnyGadget }> {
    const path = await this.#options.disk.resolve(file.path);
    const before = await maybeKnownGadget(path, this.#options);
    if (before !== undefined) {
      const place = this.#place(file, before.graph);
      return { known: before, gadget: place.gadget(before.gadget, this.#hosts.add(place.hostOptions())) };
    }
    return await this.#loading.pass(() => this.#loaded(file, path));
  }

  get #loadMs(): number {
    return Math.min(this.#options.callMs ?? LOAD_MS, LOAD_MS);
  }

  /** What a module that was not seen before says of itself. */
  async #loaded(
    file: GadgetFile,
    path: string,
  ): Promise<{ readonly known: KnownGadget; readonly gadget: AnyGadget }> {
    const { cwd, compiled, disk, notice, signal } = this.#options;
    signal?.throwIfAborted();
    const { prepareModules } = await loadPrepare();
    const graph = await prepareModules(path, { cwd, compiled, disk, facades: facadeModules });
    const place = this.#place(file, graph);
    const host = this.#hosts.add(place.hostOptions());
    const gadget = await host.describe({ loadMs: this.#loadMs, signal })
      .finally(() => this.#said.set(file.path, host.said));
    gadget.warnings.forEach((warning) => notice(`${file.file}: ${warning}`));
    const known = { graph, gadget, ...(host.said !== "" && { said: host.said }) };
    await keepKnownGadget(known, this.#options);
    return { known, gadget: place.gadget(gadget, host) };
  }

  /** With the last that the module told the console: it may be all that tells where it got to. */
  #loadProblem({ file, path }: GadgetFile, thrown: unknown): string {
    const said = (this.#said.get(path) ?? "").trim().slice(-MOST_SAID);
    const last = said === "" ? "" : `; before that it said ${JSON.stringify(said)}`;
    return `Cannot load ${thrownPlace(thrown) ?? file}: ${messageOf(thrown)}${last}`;
  }

  #place(file: GadgetFile, graph: PreparedGraph): GadgetPlace {
    const place = new GadgetPlace(file, { ...this.#options, graph });
    this.#places.push(place);
    return place;
  }
}

/** Lets so many do something at once; the others wait, in order. */
class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param most at once */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when it is its turn. @throws what the work throws */
  async pass<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

// What the gadget of one module may do. It is decided before its first call; until then it is described by a process that may do nothing.

const MIB = 1024 * 1024;
const MAX_FRAME_BYTES = 64 * MIB;
/** A program may set a higher limit of results than the project does. */
const MOST_RESULT_BYTES = 16 * MIB;
/** How long a gadget may take to hear that its call was given up; on a busy machine a quarter of it was too little. */
const CANCEL_MS = 1_000;

/** Where gadgets run, and who decides what they may do. */
interface SandboxOptions {
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
class GadgetPlace {
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
    const sys = SYSTEM_FACTS.filter((value) => maybeRefusal(policy, { kind: "sys", value }) === undefined);
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
function toGrant(
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
    const value = maybeRefusal(policy, { kind: "env", value: name }) ? undefined : hostEnv(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
