// Where the work of a run happens. A key that came of the order of arrival would give one branch the outcome of another after a resume: it
// comes of the place, the name and what goes in.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type AnyGadget,
  canonicalJson,
  DivergedError,
  eventLoopTurn,
  isPromise,
  isStream,
  type Json,
  PromptError,
  sha256,
} from "../../core/core.ts";
import type { PlaceOrder } from "./place_order.ts";
import { orderOf } from "./program_order.ts";
import type { Run } from "../run.ts";

/** The innermost place of what runs now. */
const current = new AsyncLocalStorage<WorkPlace>();

/**
 * Where in a run something happens: in the run itself, or inside of a gadget's call or a step, whose outcome stands for all that was done in
 * it. The keys of what is done there begin with the place, so that they do not depend on what goes on elsewhere.
 */
export class WorkPlace {
  readonly run: Run;
  /** Before the keys of what is done here. */
  readonly prefix: string;
  /** The place that it was made in, of this run or of another. */
  readonly #outer = current.getStore();
  readonly #partOf: WorkPlace | undefined;
  /** The keys of the dialogs and steps that were come to, here and in its parts. */
  readonly cameTo: Set<string>;
  readonly #counts = new Map<string, number>();
  readonly #underWay = new Set<Disposable>();
  #onIdle: (() => void) | undefined;
  #isClosed = false;

  /** `partOf`: a resumed run goes through it again, as through that place. Default: none, it is answered or gone through by itself. */
  constructor(run: Run, prefix: string, { partOf }: { readonly partOf?: WorkPlace } = {}) {
    this.run = run;
    this.prefix = prefix;
    this.#partOf = partOf;
    this.cameTo = partOf?.cameTo ?? new Set();
  }

  /** The place around it that is answered, or gone through, as a whole. */
  get whole(): WorkPlace {
    return this.#partOf?.whole ?? this;
  }

  /** In which order it is given what it has done; undefined where that is nothing to it. */
  get order(): PlaceOrder | undefined {
    return orderOf(this.run)?.at(this.whole.prefix);
  }

  /** Where whoever asks is, as far as it is in here. */
  here(): WorkPlace {
    let now = current.getStore();
    while (now !== undefined && !(now.run === this.run && now.prefix.startsWith(this.prefix))) {
      now = now.#outer;
    }
    return now ?? this;
  }

  /** How often it was asked for a number of this name, this time included. */
  count(name: string): number {
    const n = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, n);
    return n;
  }

  /** The name itself, and from the second time `NAME#2`. */
  numbered(name: string): string {
    const n = this.count(name);
    return n === 1 ? name : `${name}#${n}`;
  }

  /** What was begun here has ended: whoever begins something still has not waited for it, and nobody would do it again. */
  close(): void {
    this.#isClosed = true;
  }

  /** Something is done here until it is disposed of; `what` says what, in errors. @throws {PromptError} `define`, when the place is closed */
  begin(what: string): Disposable {
    if (this.#isClosed) throw this.#tooLate(what);
    const { whole } = this;
    const work = {
      [Symbol.dispose]: () => {
        whole.#underWay.delete(work);
        if (whole.#underWay.size === 0) whole.#onIdle?.();
      },
    };
    whole.#underWay.add(work);
    return work;
  }

  /** Settles when nothing is under way here, and nothing begins after it: what was not awaited is done too. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) {
      await new Promise<void>((resolve) => this.#onIdle = resolve);
      await eventLoopTurn();
    }
  }

  /**
   * The name of something that begins here, and from the second time `NAME#2`: which is which says the order in which the place is given
   * what it has done.
   *
   * @throws {DivergedError} after a resume, when that order could not be kept
   */
  arrived(name: string): string {
    const n = this.count(name);
    const isOneOfMany = (): boolean => n > 1 || this.order?.hasKeyFrom(`${name}#2`) === true;
    if (this.order?.isLost === true && isOneOfMany()) this.diverge(name);
    return n === 1 ? name : `${name}#${n}`;
  }

  /** A step of the tactic; `id` is its name with its input. @throws {DivergedError} as `arrived` */
  keyOfStep(id: string): string {
    const key = this.arrived(id);
    this.cameTo.add(key);
    if (key !== id && this.order?.isInOrder(key) === false) this.diverge(key);
    this.order?.begun(key);
    return key;
  }

  /** Why a step that was begun here cannot be waited for here and now; undefined: it can. */
  refusalOf(name: string, key: string): PromptError | undefined {
    const { whole, run } = this;
    const now = current.getStore();
    if (now !== undefined && now.run === run && now.prefix.startsWith(whole.prefix)) return undefined;
    const place = whole.prefix.replace(/\/$/, "");
    const refusal = new PromptError(
      `step "${name}" (${key}) was begun inside of ${place} and is waited for outside of it: a run that is resumed would do it twice. ` +
        "Begin it before, or give what came of it back from there",
      { code: "define" },
    );
    const order = orderOf(run);
    if (order !== undefined) order.fault ??= refusal;
    return refusal;
  }

  /** The run is not the one that was begun. @throws {DivergedError} always */
  diverge(key: string): never {
    const error = new DivergedError(
      `${key} comes in another order than before the run was resumed, and there are several of it: which is which cannot be told. ` +
        "Give what runs side by side a name, an input or a question of its own, and begin anew",
      key,
    );
    this.run.diverged(error);
    throw error;
  }

  #tooLate(what: string): PromptError {
    const place = this.prefix.replace(/\/$/, "");
    return new PromptError(
      `${what} begins inside of ${place}, which has ended: a run that is resumed would not come to it. ` +
        "Wait for all that is begun in there",
      { code: "define" },
    );
  }
}

/** Does a work as a part of the step with this key, to the end of all that it begins. */
export async function insideOf<Result>(
  key: string,
  { run, work }: { readonly run: Run; work(): Result | Promise<Result> },
): Promise<Result> {
  const place = new WorkPlace(run, `${key}/`);
  try {
    const result = await inPlace(place, async () => await work());
    await place.idle();
    return result;
  } finally {
    place.close();
  }
}

/** The innermost step of what runs now. */
const stepNow = new AsyncLocalStorage<string>();

/** Does a work as the step with this key, which is known to whoever asks {@linkcode stepHere} in it. */
export function inStep<Result>(key: string, work: () => Result): Result {
  return stepNow.run(key, work);
}

/** The key of the innermost step in which this is asked; undefined outside of all. */
export function stepHere(): string | undefined {
  return stepNow.getStore();
}

/** Does a work there. */
export function inPlace<Result>(place: WorkPlace, work: () => Result): Result {
  return current.run(place, work);
}

/** A gadget whose calls, with the keys that `keyOf` gives for their ids, have inside of them what it does. */
export function placedGadget(
  gadget: AnyGadget,
  { run, keyOf }: { readonly run: Run; keyOf(invocationId: string): string },
): AnyGadget {
  const perform: unknown = gadget.run;
  if (typeof perform !== "function") return gadget;
  return {
    ...gadget,
    run: (input, context) => {
      const place = new WorkPlace(run, `${keyOf(context.invocationId)}/`);
      const given: unknown = inPlace(place, () => Reflect.apply(perform, gadget, [input, context]));
      return isPromise(given)
        ? inPlace(place, () => given.then((value) => streamIn(place, value)))
        : streamIn(place, given);
    },
  };
}

/** A generator runs where it is asked for its next piece. */
function streamIn(place: WorkPlace, given: unknown): unknown {
  if (!isStream(given)) return given;
  return {
    [Symbol.asyncIterator](): AsyncIterator<unknown> {
      const iterator = inPlace(place, () => given[Symbol.asyncIterator]());
      return {
        next: () => inPlace(place, () => iterator.next()),
        return: async () =>
          await inPlace(place, () => iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

/** A name as a part of a key: what has a meaning in keys is written otherwise. */
export function inKey(name: string): string {
  return name.replaceAll(/[%#/\[\]:]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The beginning of a hash that tells contents apart. */
export function contentHash(content: Json): string {
  return sha256(canonicalJson(content)).slice(0, 12);
}
