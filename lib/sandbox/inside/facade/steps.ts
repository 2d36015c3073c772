// What a facade does is written once, as a generator that asks for one effect after the other, and is run in two ways: blocking the process
// (`readFileSync`) or not (`readFile`).
import { dirname } from "node:path";
import {
  EFFECT_BYTES_WORDS,
  type EffectFailure,
  type EffectOp,
  type EffectReply,
  type Effects,
  MAX_EFFECT_BYTES,
  MAX_EFFECT_TEXT,
} from "../../../core/gadget_message.ts";
import type { Json } from "../../../core/json.ts";

/** One effect that is asked for. */
export interface Question {
  readonly op: EffectOp;
  readonly bytes?: Uint8Array;
}

/** What came of it. */
export interface Answer {
  readonly ok: Json;
  readonly bytes: Uint8Array;
}

/** A piece of work with effects. A failed one is thrown into it as a `FailedEffect`. */
export type Steps<Value> = Generator<Question, Value, Answer>;

/** An effect that came to nothing; each facade makes its own kind of error of it. */
export class FailedEffect {
  readonly failure: EffectFailure;
  readonly op: EffectOp;
  /** Its number, as far as Orrery was asked. */
  readonly effect: number | undefined;

  constructor(failure: EffectFailure, { op, effect }: { op: EffectOp; effect?: number }) {
    this.failure = failure;
    this.op = op;
    this.effect = effect;
  }
}

/** One effect as a whole piece of work. */
export function* step(op: EffectOp, bytes?: Uint8Array): Steps<Answer> {
  return yield bytes === undefined ? { op } : { op, bytes };
}

/** Both ways to do a piece of work. */
export interface Ask {
  now<Value>(steps: Steps<Value>): Value;
  soon<Value>(steps: Steps<Value>, signal?: AbortSignal): Promise<Value>;
}

/** @param toError makes what a gadget gets of an effect that failed */
export function asking(effects: Effects, toError: (failed: FailedEffect) => Error): Ask {
  const told = (error: unknown): unknown => error instanceof FailedEffect ? toError(error) : error;
  return {
    now(steps) {
      try {
        let turn = steps.next();
        while (turn.done !== true) {
          const question = turn.value;
          turn = answered(steps, {
            question,
            reply: tooLong(question) ?? effects.askSync(question.op, question),
          });
        }
        return turn.value;
      } catch (error) {
        throw told(error);
      }
    },
    async soon(steps, signal) {
      try {
        signal?.throwIfAborted();
        let turn = steps.next();
        while (turn.done !== true) {
          const question = turn.value;
          const { op, bytes } = question;
          const options = { bytes, signal };
          const reply = tooLong(question) ?? await effects.ask(op, options);
          if (!Object.hasOwn(reply, "ok")) signal?.throwIfAborted();
          turn = answered(steps, { question, reply });
        }
        return turn.value;
      } catch (error) {
        throw told(error);
      }
    },
  };
}

type Reply = EffectReply | { readonly error: EffectFailure };

function answered<Value>(
  steps: Steps<Value>,
  { question, reply }: { readonly question: Question; readonly reply: Reply },
): IteratorResult<Question, Value> {
  if ("ok" in reply && Object.hasOwn(reply, "ok")) return steps.next(reply);
  const { op } = question;
  if (!("error" in reply)) throw new TypeError("an effect had no answer");
  const effect = "effect" in reply ? { effect: reply.effect } : {};
  return steps.throw(new FailedEffect(reply.error, { op, ...effect }));
}

/** What would not fit into a message is not sent: the process would be ended for it. */
function tooLong({ op, bytes }: Question): Reply | undefined {
  const size = bytes?.byteLength ?? 0;
  if (size > MAX_EFFECT_BYTES) {
    const message = `found ${size} bytes, at most ${EFFECT_BYTES_WORDS} can be handed on at once`;
    return { error: { code: "too-large", message } };
  }
  const { length } = JSON.stringify(op);
  if (length <= MAX_EFFECT_TEXT) return undefined;
  const message = `found arguments of ${length} characters, at most ${MAX_EFFECT_TEXT} are possible`;
  return { error: { code: "too-large", message } };
}

/** What is at a path, as Orrery says it. */
export interface Look {
  readonly kind: string;
  readonly size: number;
  readonly modifiedMs: number | undefined;
  readonly createdMs: number | undefined;
  readonly mode: number | undefined;
}

/** An entry of a folder: `kind` is `file`, `folder`, `link` or `other`. */
export type Entry = readonly [name: string, kind: string];

/** What is at a path. @param isLink at a link itself */
export function* look(path: string, isLink: boolean): Steps<Look> {
  const { ok } = yield* step({ kind: "stat", path, isLink });
  return {
    kind: fieldOf(ok, "kind", isText) ?? "other",
    size: fieldOf(ok, "size", isNumber) ?? 0,
    modifiedMs: fieldOf(ok, "modifiedMs", isNumber),
    createdMs: fieldOf(ok, "createdMs", isNumber),
    mode: fieldOf(ok, "mode", isNumber),
  };
}

/** The same, undefined when nothing is there. */
export function* maybeLook(path: string, isLink: boolean): Steps<Look | undefined> {
  try {
    return yield* look(path, isLink);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an effect failed because nothing is at the path. */
export function isMissing(error: unknown): boolean {
  return error instanceof FailedEffect && ["not-found", "not-folder"].includes(error.failure.code);
}

/** The entries of a folder, sorted by name. */
export function* list(path: string): Steps<readonly Entry[]> {
  const { ok } = yield* step({ kind: "list", path });
  return Array.isArray(ok) ? ok.flatMap(entryOf) : [];
}

function entryOf(value: unknown): readonly Entry[] {
  if (!Array.isArray(value)) return [];
  const [name, kind]: readonly unknown[] = value;
  return isText(name) && isText(kind) ? [[name, kind]] : [];
}

/** `mkdir -p`; the first folder that was made, undefined when all were there. */
export function* makeFolders(path: string): Steps<string | undefined> {
  let first: string | undefined;
  for (let at = path; !(yield* isThere(at)); at = dirname(at)) {
    first = at;
    if (dirname(at) === at) break;
  }
  yield* step({ kind: "make-folder", path, isRecursive: true });
  return first;
}

/** What may not be looked at counts as there: a gadget that may write one folder need not know of those above. */
function* isThere(path: string): Steps<boolean> {
  try {
    return path === "." || (yield* maybeLook(path, false)) !== undefined;
  } catch (error) {
    if (error instanceof FailedEffect && error.failure.code === "refused") return true;
    throw error;
  }
}

/** Whether what is at a path is a folder, no link to one. */
export function* isFolder(path: string): Steps<boolean> {
  return (yield* maybeLook(path, true))?.kind === "folder";
}

/** A field of an object of JSON. */
export function fieldOf<Value>(
  object: unknown,
  name: string,
  is: (value: unknown) => value is Value,
): Value | undefined {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return undefined;
  const value: unknown = Reflect.get(object, name);
  return is(value) ? value : undefined;
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
