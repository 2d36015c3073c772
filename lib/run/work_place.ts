// Where the work of a run happens. A key that came of the order of arrival would give one branch the outcome of another after a resume: it
// comes of the place, the name and what goes in.

import { isPromise, isStream } from "../core/async.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import type { AnyGadget } from "../core/gadget.ts";
import { canonicalJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import { sha256 } from "../core/sha256.ts";
import { wasBeside } from "./resumed_work.ts";
import type { Run } from "./run.ts";

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
  readonly #uses = new Map<string, Work>();
  readonly #underWay = new Set<Work>();

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

  /** Something is done here until it is disposed of. */
  begin(): Work & Disposable {
    const isBeside = this.#underWay.size > 0;
    for (const other of this.#underWay) other.isBeside = true;
    const work = {
      isBeside,
      isOver: false,
      [Symbol.dispose]: () => {
        work.isOver = true;
        this.#underWay.delete(work);
      },
    };
    this.#underWay.add(work);
    return work;
  }

  /**
   * A step of the tactic is done here until it is disposed of; `id` is its name with its input.
   *
   * @throws {PromptError} `define`, when it could not be told from one of before
   */
  beginStep(id: string, name: string): Work & Disposable & { readonly key: string } {
    const before = this.#uses.get(id);
    const visit = (this.#counts.get(id) ?? 0) + 1;
    if (before?.isOver === false) throw tooAlike(name, { visit, what: "is running already" });
    if (before !== undefined && (before.isBeside || this.#underWay.size > 0)) {
      throw tooAlike(name, { visit, what: "comes again while other work goes on beside it" });
    }
    const key = visit === 1 ? id : `${id}#${visit}`;
    this.count(id);
    const work = Object.assign(this.begin(), { key });
    if (wasBeside(this.run, key)) work.isBeside = true;
    this.#uses.set(id, work);
    this.cameTo.add(key);
    return work;
  }
}

/** Something that is done at a place. */
export interface Work {
  /** Something else was done there meanwhile. */
  isBeside: boolean;
  isOver: boolean;
}

/** Does a work as a part of the call or the step with this key. */
export function insideOf<Result>(key: string, { run, work }: { readonly run: Run; work(): Result }): Result {
  return inPlace(new WorkPlace(run, `${key}/`), work);
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
      return isPromise(given) ? given.then((value) => streamIn(place, value)) : streamIn(place, given);
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

function tooAlike(
  name: string,
  { visit, what }: { readonly visit: number; readonly what: string },
): PromptError {
  const isRunning = what === "is running already";
  const why = isRunning
    ? "give steps that run side by side names of their own"
    : "give each a name of its own";
  const problem = isRunning ? what : `${what}, and a resumed run could not tell which is which`;
  const own = `such as "${name}-${isRunning ? 1 : visit}", or an input that tells them apart`;
  return new PromptError(`step "${name}" ${problem}: ${why}, ${own}`, { code: "define" });
}
