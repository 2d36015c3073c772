import type { RunKind } from "../core/event.ts";
import type { RunHub } from "./run_hub.ts";
import type { Answer, RunHandle, RunReader, RunState } from "./service.ts";

/** What a run is held by. */
export interface HeldRunOptions {
  readonly id: string;
  readonly kind: RunKind;
  readonly hub: RunHub;
  readonly stop: AbortController;
}

/** A run of this process, as whoever started it has it. */
export class HeldRun implements RunHandle {
  readonly id: string;
  readonly kind: RunKind;
  readonly hub: RunHub;
  /** While there is something to stop: those that have ended are held too, and many of them. */
  #stop: AbortController | undefined;
  /** Made when somebody wants to know: most do not. */
  #over: PromiseWithResolvers<RunState> | undefined;

  constructor({ id, kind, hub, stop }: HeldRunOptions) {
    this.id = id;
    this.kind = kind;
    this.hub = hub;
    this.#stop = stop;
  }

  get state(): RunState {
    return this.hub.state;
  }

  get status(): RunState["status"] {
    return this.hub.told;
  }

  get before(): number {
    return this.hub.before;
  }

  get ended(): Promise<RunState> {
    if (this.hub.isOver) return Promise.resolve(this.hub.state);
    return (this.#over ??= Promise.withResolvers()).promise;
  }

  read(options: { readonly after: number }): RunReader {
    return this.hub.read(options);
  }

  cancel(reason = "the run was cancelled"): void {
    this.#stop?.abort(new Error(reason));
  }

  decided(ask: string): string | undefined {
    return this.hub.decided.get(ask);
  }

  answer(ask: string, answer: Answer, { by }: { readonly by: string }): boolean {
    return this.hub.answer(ask, { answer, by });
  }

  /** Says that it is over, and how. */
  end(options: Parameters<RunHub["end"]>[0]): void {
    this.#stop = undefined;
    this.hub.end(options);
    this.#over?.resolve(this.hub.state);
  }
}
