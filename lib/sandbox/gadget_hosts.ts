import { GadgetHost, type GadgetHostOptions } from "./gadget_host.ts";

/** As many processes are kept warm at once. */
const DEFAULT_MOST_RUNNING = 64;

/** The hosts of a run. */
export class GadgetHosts implements AsyncDisposable {
  readonly #hosts = new Set<GadgetHost>();
  readonly #mostRunning: number;

  /** @param options.mostRunning processes: before a further one is started the one that is unused for longest is ended. Default 64 */
  constructor(options: { readonly mostRunning?: number } = {}) {
    this.#mostRunning = options.mostRunning ?? DEFAULT_MOST_RUNNING;
  }

  /** A host for a gadget module; nothing is started yet. */
  add(options: Omit<GadgetHostOptions, "onStart">): GadgetHost {
    const host = new GadgetHost({ ...options, onStart: () => this.#makeRoom() });
    this.#hosts.add(host);
    return host;
  }

  /** Ends all processes; comes back when they are gone. Nothing can be called any more. */
  async end(): Promise<void> {
    await Promise.all([...this.#hosts].map((host) => host.end()));
    this.#hosts.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Where all are in use there are more for a while: a call that waited for another one could wait for itself. */
  #makeRoom(): void {
    const running = [...this.#hosts].filter((host) => host.isRunning);
    if (running.length < this.#mostRunning) return;
    const idle = running.filter((host) => host.idleSince !== undefined);
    idle.sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    idle[0]?.rest();
  }
}
