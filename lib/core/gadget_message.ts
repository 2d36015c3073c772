// What Orrery and the process of a gadget say to each other. Whatever comes from a process is untrusted: whoever reads it checks it.
import type { GadgetCall, JsonSchema } from "./gadget.ts";
import type { Json } from "./json.ts";
import type { Permissions } from "./world.ts";

/** Where Orrery waits for the process: a port of 127.0.0.1, or a Unix socket. */
export type GadgetAddress = { readonly port: number } | { readonly path: string };

/** The first line on the stdin of the process, JSON: where to connect, and what to say there. */
export interface GadgetGreeting {
  readonly at: GadgetAddress;
  /** 64 hexadecimal digits. */
  readonly token: string;
}

/** What a gadget says of itself, as far as it can be said in JSON. */
export interface GadgetDescription {
  readonly name: string;
  readonly description?: string;
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  readonly permissions?: Permissions;
  readonly examples?: readonly {
    readonly input: { readonly [name: string]: Json };
    readonly comment?: string;
  }[];
  readonly timeoutMs?: number;
  readonly maxConcurrent?: number;
  readonly exclusive?: boolean;
  readonly untrusted?: boolean;
  readonly repeatable?: boolean;
  /** A function of the input is not known outside of the process, and counts as false. */
  readonly idempotent?: boolean;
  /** It has a `run`. */
  readonly isLinked: boolean;
  /** It has a `format`, which is asked for with a `format` message. */
  readonly hasFormat: boolean;
  /** Its input is checked again in the process, by a Standard Schema that may change it. */
  readonly isValidating: boolean;
  /** What is odd about it, a line each. */
  readonly warnings: readonly string[];
}

/** Something that was thrown in the process. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** As the runtime wrote it: places in the prepared modules. */
  readonly stack?: string;
  /** The number of the effect whose refusal this is. */
  readonly refusal?: number;
}

/** From Orrery to the process. */
export type ToGadget =
  | {
    readonly type: "load";
    /** `file:` URL of the prepared entry. */
    readonly entry: string;
    /** `file:` URLs: of each original module to that of its prepared form. */
    readonly modules: Readonly<Record<string, string>>;
    /** The project root: absolute. */
    readonly root: string;
    /** The variables that were granted. */
    readonly env: Readonly<Record<string, string>>;
    /** What was granted of the system, with its values: `hostname`, `osRelease` and so on. */
    readonly sys: Readonly<Record<string, Json>>;
    /** Of a frame that the process sends. */
    readonly maxFrameBytes: number;
    /** Of a result as JSON: of a longer one its beginning is told. Below `maxFrameBytes`. */
    readonly maxResultBytes: number;
  }
  | {
    readonly type: "call";
    readonly id: number;
    readonly input: Json;
    readonly invocationId: string;
    readonly dependencies: Readonly<Record<string, Json>>;
    readonly call: GadgetCall;
  }
  | { readonly type: "format"; readonly id: number; readonly result: Json; readonly call: GadgetCall }
  | { readonly type: "cancel"; readonly id: number; readonly reason: string }
  /** Room for so many further pieces. */
  | { readonly type: "more"; readonly id: number; readonly count: number }
  /** What came of an effect; its bytes are beside it. */
  | { readonly type: "effect-done"; readonly effect: number; readonly ok: Json }
  | { readonly type: "effect-failed"; readonly effect: number; readonly error: EffectFailure };

/** From the process to Orrery. */
export type FromGadget =
  | { readonly type: "loaded"; readonly gadget: GadgetDescription }
  | { readonly type: "load-failed"; readonly error: ThrownError }
  /** A call was begun, and does not hold the process up by that. */
  | { readonly type: "begun"; readonly id: number }
  | { readonly type: "log"; readonly id?: number; readonly text: string }
  | { readonly type: "progress"; readonly id: number; readonly done: number; readonly total?: number }
  /** A piece of a streamed result. At most 16 are on the way without a `more`. */
  | { readonly type: "piece"; readonly id: number; readonly text: string }
  /** The input does not fit the gadget's own schema; a line for each issue. */
  | { readonly type: "invalid"; readonly id: number; readonly issues: string }
  /** Of a call or a `format`; of a streamed one `value` is absent: it is the pieces. */
  | {
    readonly type: "result";
    readonly id: number;
    readonly value?: Json;
    /** `value` is the beginning of a text that takes so many bytes of UTF-8: as JSON, where the result is no text. */
    readonly wholeBytes?: number;
  }
  | { readonly type: "error"; readonly id: number; readonly error: ThrownError }
  /** The answer to `cancel`, at once: the process listens still. */
  | { readonly type: "cancelled"; readonly id: number }
  | { readonly type: "effect"; readonly effect: number; readonly call?: number; readonly op: EffectOp }
  | { readonly type: "effect-cancel"; readonly effect: number }
  /** A variable or a fact of the system was asked for, `*` for all of them; each is told once. */
  | { readonly type: "used"; readonly kind: "env" | "sys"; readonly name: string };

/** Something a gadget wants done outside of it. Paths are absolute, or relative to the project root. Bytes, such as of a body, are beside it. */
export type EffectOp =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly how: "replace" | "append" | "create" }
  | { readonly kind: "stat"; readonly path: string; readonly isLink?: boolean }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "make-folder"; readonly path: string; readonly isRecursive: boolean }
  | { readonly kind: "remove"; readonly path: string; readonly isRecursive: boolean }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "copy"; readonly path: string; readonly to: string }
  | { readonly kind: "real-path"; readonly path: string }
  | {
    readonly kind: "fetch";
    readonly url: string;
    readonly method: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly redirect: "follow" | "manual" | "error";
  }
  | {
    readonly kind: "run";
    readonly command: string;
    readonly args: readonly string[];
    readonly cwd?: string;
    readonly env: Readonly<Record<string, string>>;
  };

/** Why an effect came to nothing. */
export interface EffectFailure {
  /** `refused`: a permission is missing. The others are those of files, of the network and of commands. */
  readonly code:
    | "refused"
    | "not-found"
    | "exists"
    | "is-folder"
    | "not-folder"
    | "not-empty"
    | "too-large"
    | "aborted"
    | "other";
  readonly message: string;
}

/** What came of an effect, inside the process. */
export type EffectReply =
  | { readonly ok: Json; readonly bytes: Uint8Array }
  | { readonly error: EffectFailure; readonly effect: number };

/** How the facades inside the process ask for effects. */
export interface Effects {
  ask(
    op: EffectOp,
    options?: { readonly bytes?: Uint8Array; readonly signal?: AbortSignal },
  ): Promise<EffectReply>;
  /** Blocks the process until the reply is there. */
  askSync(op: EffectOp, options?: { readonly bytes?: Uint8Array }): EffectReply;
}

// Bounds of one effect of a gadget. What is beyond them is an error that says so: nothing is cut.

/** Of the bytes beside an effect or its reply: 32 MiB. A frame has these and some JSON. */
export const MAX_EFFECT_BYTES = 32 * 1024 * 1024;
/** Of the words of an effect: a path, a URL, headers, arguments. */
export const MAX_EFFECT_TEXT = 1024 * 1024;

/** The bound in words. */
export const EFFECT_BYTES_WORDS = `${MAX_EFFECT_BYTES} bytes (32 MiB)`;
