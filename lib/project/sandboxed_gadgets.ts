// The gadgets of modules, each in a process of its own. What such a gadget may do is decided before its first call; what it says of itself
// is known before that, from a process that may do nothing.

import { type GadgetFile, unreadyEntry } from "../catalog/gadget_file.ts";
import type { CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { GadgetToGrant } from "../core/gadget_lock.ts";
import { messageOf, SourceError } from "../core/source_error.ts";
import { facadeModules } from "../sandbox/facade_modules.ts";
import { thrownPlace } from "../sandbox/gadget_failure.ts";
import { GadgetHosts } from "../sandbox/gadget_hosts.ts";
import type { PreparedGraph } from "../sandbox/gate/prepared_graph.ts";
import { keepKnownGadget, type KnownGadget, maybeKnownGadget } from "../sandbox/known_gadgets.ts";
import { Turnstile } from "./turnstile.ts";
import { GadgetPlace, type SandboxOptions, toGrant } from "./gadget_place.ts";

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
