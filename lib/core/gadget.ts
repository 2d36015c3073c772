import type { Json } from "./json.ts";
import type { Permissions } from "./world.ts";

/** A JSON Schema (draft 2020-12). A schema without `type` stands for an object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The part of the Standard Schema interface that Orrery uses (https://standardschema.dev, version 1). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output };
    /** Standard JSON Schema: libraries that have it let Orrery describe the input to a model. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** What a Standard Schema says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One issue of a Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
}

/** How a gadget says what it takes or gives. */
export type Schema = JsonSchema | StandardSchema;

/** One call of a gadget, as a gadget and its `format` see it. */
export interface GadgetCall {
  readonly gadgetName: string;
  readonly invocationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a gadget gets besides its input. */
export interface GadgetContext {
  /** Aborted when the call times out or the run is aborted. */
  readonly signal: AbortSignal;
  readonly invocationId: string;
  /** The results of the calls this one depends on, by id. */
  readonly dependencies: Readonly<Record<string, Json>>;
  readonly call: GadgetCall;
  /** What the caller of a dialog's turn handed on: `deps` of its options. Absent elsewhere. */
  readonly deps?: unknown;
  /** The dialog that calls, for a gadget that is defined in a prompt's own module. Absent elsewhere. */
  readonly dialog?: unknown;
  /** Tells the run something: a `call-log` event. */
  log(text: string): void;
  /** Tells how far it is: a `call-progress` event. */
  progress(done: number, total?: number): void;
}

/** A gadget: the one kind of tool in Orrery (gadgets.md, section 1). */
export interface Gadget<Input = never> {
  /** `[A-Za-z_][A-Za-z0-9_-]{0,63}` */
  readonly name: string;
  readonly description?: string;
  /** Absent: it takes anything. `defineGadget` leaves none absent. */
  readonly input?: Schema;
  readonly output?: Schema;
  /** What it needs; absent means nothing at all. */
  readonly permissions?: Permissions;
  readonly examples?: readonly {
    readonly input: Readonly<Record<string, unknown>>;
    readonly comment?: string;
  }[];
  /** Default: the run's limit, 60,000. */
  readonly timeoutMs?: number;
  /** How many calls of this gadget may run at once; no limit of its own by default. */
  readonly maxConcurrent?: number;
  /** It runs alone: nothing else runs beside it. */
  readonly exclusive?: boolean;
  /** Its output is foreign text: it came from outside, such as a page. */
  readonly untrusted?: boolean;
  /** The same call again is meant, as in polling. */
  readonly repeatable?: boolean;
  /** Safe to run again after a crash: always, or with the given input. Default: never (turn.md 3). */
  readonly idempotent?: boolean | ((input: Readonly<Record<string, Json>>) => boolean);
  /** Gives any JSON value, or text as it comes. Without `run` the gadget is declared only. */
  run?(input: Input, context: GadgetContext): unknown;
  /** The text a model reads instead of the result. */
  format?(result: Json, call: GadgetCall): string;
}

/** A gadget whose input type is not known here; it is checked by its schema before `run`. */
export type AnyGadget = Gadget<never>;

/** What a gadget is linked to: its `run`. */
export type GadgetRunner<Input> = {
  run(input: Input, context: GadgetContext): unknown;
}["run"]; // as a method's type, so that a function which says less of its input than the schema does fits too

/** A gadget that `defineGadget` made: checked, frozen, and its name kept as a literal type. */
export interface DefinedGadget<Name extends string = string, Input = never> extends Gadget<Input> {
  readonly kind: "gadget";
  readonly name: Name;
  readonly description: string;
  /** Without one in the definition: an object without properties. */
  readonly input: Schema;
  readonly permissions: Permissions;
  /** Whether it can run. One that is not linked is offered to a model, and linked later. */
  readonly linked: boolean;
  /** A copy with this `run`, in place of the one it has. */
  link(run: GadgetRunner<Input>): DefinedGadget<Name, Input>;
}

/** A gadget's name (gadgets.md, section 1). */
export const GADGET_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** No program can have it, nor {@linkcode SENT}. */
export const PERMIT: unique symbol = Symbol("permit");
/** In the context of a gadget that runs in a process: to be called when that was given the call, whose time begins then. */
export const SENT: unique symbol = Symbol("sent");

/** The context of a call whose time is counted so. */
export interface SentContext extends GadgetContext {
  readonly [SENT]?: () => void;
}

/** Of a gadget that fills texts itself: the parameter with the text, and the one with the values for the names in it. */
export const FILLS: unique symbol = Symbol("fills");

/** One of them: results are given to it as values, so that what is in them is no place for a value. */
export interface FillingGadget {
  readonly [FILLS]: { readonly text: string; readonly values: string };
}

/** Whether a gadget is one, also a copy of one. */
export function isFilling(gadget: AnyGadget): gadget is AnyGadget & FillingGadget {
  return FILLS in gadget;
}

/** A gadget that somebody may have to be asked about before a call of it begins, and that says when its process was given the call. */
export interface AskingGadget extends Gadget {
  /** Undefined when it may run. @throws {PermissionRefused} when it may not */
  readonly [PERMIT]: () => undefined | Promise<void>;
}

/** Whether a gadget is one, also a copy of one. */
export function isAsking(gadget: AnyGadget): gadget is AskingGadget {
  return PERMIT in gadget;
}

/** The parameters do not fit the gadget; one issue a line, each behind its path. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** What the gadget runs in, a process or a server, ended or does not answer: the gadget itself has said nothing. */
export class CrashError extends Error {
  override readonly name: string = "CrashError";
}

/** The result cannot be kept: it is no JSON. */
export class ResultError extends Error {
  override readonly name = "ResultError";
}

/** The beginning of a text that is too long to be handed on whole. */
export class CutText {
  readonly text: string;
  /** Bytes of UTF-8 that the whole text takes; undefined where nobody knows, as of a stream that was ended. */
  readonly wholeBytes: number | undefined;

  constructor(text: string, wholeBytes: number | undefined) {
    this.text = text;
    this.wholeBytes = wholeBytes;
  }

  /** What is left when only so many bytes may be kept, with a line that says how much is missing. @param why which limit it was */
  shortened(maxBytes: number, why: string): string {
    const kept = startOfBytes(this.text, maxBytes);
    return `${kept.text}\n[cut: ${this.#missing(kept.bytes)}; ${why}]`;
  }

  /** For whoever knows of no limit. */
  toString(): string {
    return this.shortened(Infinity, "it was too long to be handed on");
  }

  toJSON(): string {
    return this.toString();
  }

  #missing(keptBytes: number): string {
    const { wholeBytes } = this;
    if (wholeBytes === undefined) return `the stream was ended here, so nobody knows how much is missing`;
    return `${Math.max(0, wholeBytes - keptBytes)} of ${wholeBytes} bytes are missing`;
  }
}

/** The beginning of a text that takes at most so many bytes of UTF-8, cut between two characters. */
export function startOfBytes(
  text: string,
  maxBytes: number,
): { readonly text: string; readonly bytes: number } {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return { text, bytes: bytes.length };
  let length = maxBytes;
  while (length > 0 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length--; // inside of a character
  return {
    text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length)),
    bytes: length,
  };
}

/** True for a Standard Schema (https://standardschema.dev); some libraries make theirs a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (
    (typeof value !== "object" && typeof value !== "function") || value === null || !("~standard" in value)
  ) return false;
  const standard = value["~standard"];
  return typeof standard === "object" && standard !== null && "validate" in standard &&
    typeof standard.validate === "function";
}

const described = new WeakMap<object, JsonSchema | undefined>();

/**
 * The JSON Schema (draft 2020-12) of an input: for a JSON Schema itself, with `type: "object"` when it has no
 * type; for a Standard Schema what its library offers, and undefined when that is nothing. The same object
 * each time.
 */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  if (!described.has(schema)) described.set(schema, describe(schema));
  return described.get(schema);
}

function describe(schema: Schema): JsonSchema | undefined {
  const json = isStandardSchema(schema) ? offered(schema) : schema;
  if (json === undefined) return undefined;
  return json.type === undefined ? { type: "object", ...json } : json;
}

function offered(schema: StandardSchema): JsonSchema | undefined {
  try {
    return schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // the library has types that no JSON Schema can say, such as dates
  }
}

/** What runs inside of a call: a prompt, a document, or a document that the calling document's own text goes into. */
export type Contained = "prompt" | "document" | "callee";

/**
 * A gadget whose call is no step of its own: what runs in it are steps of the run that calls, and its result follows from theirs. Only
 * Orrery brings such gadgets along; the engine of the run does what they stand for.
 */
export interface ContainerGadget<Input = never> extends Gadget<Input> {
  readonly contains: Contained;
}

/** No program can have it: a `format` that it writes gives its text at once. */
export const LATE_FORMAT: unique symbol = Symbol("late format");

/** A gadget that runs elsewhere: what a model reads of a result is asked for there, and comes later. Its `format` is never called. */
interface LateFormatGadget extends Gadget {
  readonly [LATE_FORMAT]: (result: Json, call: GadgetCall) => Promise<string>;
}

/** Whether a gadget is one, also a copy of one. */
export function hasLateFormat(gadget: AnyGadget): gadget is LateFormatGadget {
  return LATE_FORMAT in gadget;
}

type Properties = Readonly<Record<string, JsonSchema>>;

/** The schema of an object with these properties; others are let through. */
export function objectOf<const Of extends Properties, const Names extends readonly string[] = readonly []>(
  properties: Of,
  required?: Names,
): { readonly type: "object"; readonly properties: Of; readonly required: Names } {
  return { type: "object", properties, ...(required && { required }) } as ReturnType<
    typeof objectOf<Of, Names>
  >;
}

/** The schema of an object with these properties and no others. */
export function onlyFields<const Of extends Properties, const Names extends readonly string[] = readonly []>(
  properties: Of,
  required?: Names,
): ReturnType<typeof objectOf<Of, Names>> & { readonly additionalProperties: false } {
  return { ...objectOf(properties, required), additionalProperties: false };
}
