import type { StartGadgetProcess } from "../host/start_gadget_process.ts";

/** A process that is on its way before it is known what it is to run. */
export interface EarlyStart {
  /** Gives that process to the first that wants one of its size, and starts others for those behind. */
  readonly start: StartGadgetProcess;
  /** It comes on by itself from here, whatever this thread does; it never fails. */
  readonly begun: Promise<void>;
  /** Nobody will want it; comes back when it is gone. Nothing happens to one that was given away. */
  drop(): Promise<void>;
}

/** Starts a process while its modules are still being prepared: both take about as long. */
export function earlyStart(start: StartGadgetProcess, memoryBytes: number): EarlyStart {
  const modules = Promise.withResolvers<Readonly<Record<string, string>>>();
  const end = new AbortController();
  const begun = Promise.withResolvers<void>();
  const onBegun = begun.resolve;
  const starting = start({ modules: modules.promise, memoryBytes, signal: end.signal, onBegun });
  starting.finally(onBegun).catch(() => undefined);
  for (const { promise } of [modules, { promise: starting }]) promise.catch(() => undefined); // whoever takes it is told
  let isGone = false;
  const giveUp = (reason: unknown): void => {
    end.abort(reason);
    modules.reject(reason);
  };
  return {
    begun: begun.promise,
    async start(wanted) {
      if (isGone || wanted.memoryBytes !== memoryBytes) return await start(wanted);
      isGone = true;
      const onAbort = (): void => giveUp(wanted.signal.reason);
      if (wanted.signal.aborted) onAbort();
      wanted.signal.addEventListener("abort", onAbort, { once: true });
      modules.resolve(wanted.modules);
      try {
        return await starting;
      } finally {
        wanted.signal.removeEventListener("abort", onAbort);
      }
    },
    async drop() {
      if (isGone) return;
      isGone = true;
      giveUp(new DOMException("Nothing was to be run", "AbortError"));
      await starting.then((process) => process.end(), () => undefined);
    },
  };
}
