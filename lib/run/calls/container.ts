import type { Json } from "../../core/core.ts";
import type { Run } from "../run.ts";

/** A call that something else runs in. */
export interface ContainerCall {
  readonly run: Run;
  /** Before the keys of the steps in it: `call:review/`. */
  readonly keyPrefix: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Aborted with the call. */
  readonly signal: AbortSignal;
}

/** Does what container gadgets stand for: its steps are steps of the run that calls. */
export interface Containers {
  /** Asks a prompt. @throws what the call is to fail with */
  prompt?(call: ContainerCall): Promise<Json>;
  /** Runs a document. @throws what the call is to fail with */
  document?(call: ContainerCall): Promise<Json>;
  /** Runs a document for the one that calls. @throws what the call is to fail with */
  callee?(call: ContainerCall): Promise<Json>;
}

/** What runs inside of what, by the keys of calls: the steps in a call have keys that begin with its own, and then with `inside`. */
export class CallChains<Item> {
  readonly #inside: string;
  readonly #outermost: readonly Item[];
  readonly #byPrefix = new Map<string, readonly Item[]>();

  constructor(inside: string, outermost: readonly Item[] = []) {
    this.#inside = inside;
    this.#outermost = outermost;
  }

  add(chain: readonly Item[], keyPrefix: string): Disposable {
    this.#byPrefix.set(keyPrefix, chain);
    return { [Symbol.dispose]: () => void this.#byPrefix.delete(keyPrefix) };
  }

  /** From the outermost to that which has the call. */
  above(keyPrefix: string): readonly Item[] {
    let nearest = "";
    for (const prefix of this.#byPrefix.keys()) {
      if (prefix.length > nearest.length && keyPrefix.startsWith(prefix + this.#inside)) nearest = prefix;
    }
    return this.#byPrefix.get(nearest) ?? this.#outermost;
  }
}
