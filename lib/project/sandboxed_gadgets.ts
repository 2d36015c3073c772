// The gadgets of modules, each in a process of its own. What such a gadget may do is decided before its first call; what it says of itself
// is known before that, from a process that may do nothing.

import { type GadgetFile, unreadyEntry } from "../catalog/gadget_file.ts";
import type { CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { GadgetToGrant } from "../core/gadget_lock.ts";
import { messageOf, SourceError } from "../core/source_error.ts";
import type { StartGadgetProcess } from "../host/start_gadget_process.ts";
import { shellWord } from "../policy/refusal.ts";
import { earlyStart } from "../sandbox/early_start.ts";
import { facadeModules } from "../sandbox/facade_modules.ts";
import { LOADS_TOO_LONG, LoadTimeout, thrownPlace } from "../sandbox/gadget_failure.ts";
import { GadgetHosts } from "../sandbox/gadget_hosts.ts";
import { TypeStripping } from "../sandbox/type_stripping.ts";
import type { PrepareOptions } from "../sandbox/gate/prepare_modules.ts";
import type { PreparedGraph } from "../sandbox/gate/prepared_graph.ts";
import {
  keepKnownGadget,
  keepSlowGadget,
  type KnownGadget,
  maybeKnownGadget,
  maybeSlowGadget,
} from "../sandbox/known_gadgets.ts";
import { Turnstile } from "./turnstile.ts";
import { GadgetPlace, type SandboxOptions, toGrant } from "./gadget_place.ts";

/** Characters of what a module told the console before it failed. */
const MOST_SAID = 300;
/** How long a module may take to be loaded, as long as nobody has called its gadget. */
const LOAD_MS = 5_000;
/** So long a module that was not loaded in time is not waited for again by who only looks. */
const SLOW_FOR_MS = 10 * 60_000;
/** So many are loaded at once to see what they say: each is a process that may keep a core busy. */
const MOST_LOADING = 8;

/** The gadgets of a project's modules. */
export class SandboxedGadgets {
  readonly #options: SandboxOptions;
  readonly #hosts = new GadgetHosts();
  readonly #places: GadgetPlace[] = [];
  readonly #loading = new Turnstile(MOST_LOADING);
  readonly #stripping: TypeStripping;
  /** By the file: what the modules that were looked at told the console. */
  readonly #said = new Map<string, string>();
  #isStartingEarly = false;

  constructor(options: SandboxOptions) {
    this.#options = { ...options, start: options.early?.start ?? options.start };
    this.#stripping = new TypeStripping({ limitMs: this.#loadMs, signal: options.signal });
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
      return unreadyEntry(file, { state: "broken", problem: this.#loadProblem(file, thrown) });
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
    const { early, keepUse, notice } = this.#options;
    await Promise.all([this.#hosts.end(), early?.drop(), this.#stripping.close()]);
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
    await this.#throwIfSlow(file, path);
    return await this.#loading.pass(() => this.#loaded(file, path));
  }

  /** Who only looks does not wait again for what took too long already. It may have been the machine's fault, so that is not for ever. */
  async #throwIfSlow({ file, path: named, stem, source }: GadgetFile, path: string): Promise<void> {
    const { looksOnly } = this.#options;
    if (looksOnly === undefined || looksOnly.again.has(named) || source.kind === "file") return;
    const slow = await maybeSlowGadget(path, this.#options);
    const agoMs = slow === undefined ? -1 : Date.now() - slow.at;
    if (slow === undefined || slow.waitedMs < this.#loadMs || agoMs < 0 || agoMs >= SLOW_FOR_MS) return;
    if (slow.said !== undefined) this.#said.set(named, slow.said);
    const [ago, again] = [`${Math.ceil(agoMs / 1000)} s ago`, `${SLOW_FOR_MS / 60_000} minutes after that`];
    throw new Error(
      `The module of gadget ${file} was not loaded within ${slow.waitedMs} ms, ${ago}, and is waited for again when it is ` +
        `changed, or ${again}: ${LOADS_TOO_LONG}. ` +
        `If the machine was busy: orrery show gadget ${shellWord(stem)} tries it now`,
    );
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
    const { graph, start } = await this.#prepared(path, { cwd, compiled, disk, facades: facadeModules });
    const place = this.#place(file, graph);
    const host = this.#hosts.add({ ...place.hostOptions(), start });
    const describing = host.describe({ loadMs: this.#loadMs, signal })
      .finally(() => this.#said.set(file.path, host.said));
    const gadget = await describing.catch(async (error) => {
      if (error instanceof LoadTimeout) await this.#keepSlow(error, graph, host.said);
      throw error;
    });
    gadget.warnings.forEach((warning) => notice(`${file.file}: ${warning}`));
    const known = { graph, gadget, ...(host.said !== "" && { said: host.said }) };
    await keepKnownGadget(known, this.#options);
    return { known, gadget: place.gadget(gadget, host) };
  }

  /** Where it cannot be kept it is waited for again. */
  async #keepSlow({ waitedMs }: LoadTimeout, graph: PreparedGraph, said: string): Promise<void> {
    await keepSlowGadget({ waitedMs, at: Date.now(), said }, graph, this.#options).catch(() => undefined);
  }

  /** With the last that the module told the console: it may be all that tells where it got to. */
  #loadProblem({ file, path }: GadgetFile, thrown: unknown): string {
    const said = (this.#said.get(path) ?? "").trim().slice(-MOST_SAID);
    const last = said === "" ? "" : `; before that it said ${JSON.stringify(said)}`;
    return `Cannot load ${thrownPlace(thrown) ?? file}: ${messageOf(thrown)}${last}`;
  }

  /** Prepares a module while its process starts: where there are several, that of the first. @throws {SourceError} */
  async #prepared(
    path: string,
    options: PrepareOptions,
  ): Promise<{ readonly graph: PreparedGraph; readonly start: StartGadgetProcess }> {
    const { start, limits } = this.#options;
    const early = this.#isStartingEarly ? undefined : earlyStart(start, limits.gadgetMemoryBytes);
    this.#isStartingEarly = true;
    try {
      return { graph: await this.#stripping.prepare(path, options), start: early?.start ?? start };
    } catch (error) {
      await early?.drop();
      throw error;
    } finally {
      if (early !== undefined) this.#isStartingEarly = false;
    }
  }

  #place(file: GadgetFile, graph: PreparedGraph): GadgetPlace {
    const place = new GadgetPlace(file, { ...this.#options, graph });
    this.#places.push(place);
    return place;
  }
}
