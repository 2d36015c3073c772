// What a module of a project imports from "orrery", for editors and for deno check. The whole library is in the sources: orrery help library

/** Defines a gadget: what `run` gets follows from `input`. */
export declare function defineGadget<
  const Name extends string,
  const S extends Schema = Readonly<Record<never, unknown>>,
  Result = unknown,
>(gadget: GadgetDefinition<S, InputOf<S>, Name, Result>): DefinedGadget<Name, InputOf<S>>;

/** Defines a prompt: its arguments follow from the template, and what an answer means from `parser` or `format`. */
export declare function definePrompt<const Def extends PromptDef>(
  definition: Def & { readonly [Key in Exclude<keyof Def, keyof PromptDef>]: never },
): Prompt<Def["template"], OutputFor<Def>, ArgsFor<Def>>;

/** Defines a tactic: several turns of several agents as one function. */
export declare function defineTactic<const Name extends string, Input, Result>(
  definition: {
    readonly name: string;
    /** The names of the agents that it needs. */
    readonly agents: readonly Name[];
    call(task: Input, context: TacticCtx<Name>): Result | Promise<Result>;
  },
): Tactic<Input, Awaited<Result>>;

/** A parser that takes tags and code blocks out of an answer, and refuses an answer without the required ones. */
export declare function tags<
  const X extends string = never,
  const Q extends string = never,
  const M extends string = never,
  const N extends string = never,
  const S extends string = never,
>(spec: {
  readonly xmlTags?: readonly X[];
  readonly requiredXmlTags?: readonly Q[];
  readonly mdTags?: readonly M[];
  readonly requiredMdTags?: readonly N[];
  readonly signalTags?: readonly S[];
}): TagParser<TagResult<X, Q, M, N, S>>;

/** An answer is not as it has to be: the model is told so, and asked again. */
export declare class ParseError extends Error {
  constructor(message: string, issues?: readonly ParseIssue[]);
  readonly issues: readonly ParseIssue[];
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonSchema = { readonly [keyword: string]: unknown };
export type Schema = JsonSchema | StandardSchema;

/** What Orrery uses of a schema of Zod, Valibot, ArkType and others (https://standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
    readonly issues: readonly {
      readonly message: string;
      readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
    }[];
  };

/** `true` is everything of this kind. */
export type Permissions = {
  readonly [kind in "read" | "write" | "net" | "run" | "env" | "sys"]?: true | readonly string[];
};

export interface GadgetDefinition<S extends Schema, Input, Name extends string, Result> {
  readonly name: Name;
  readonly description?: string;
  /** A JSON Schema or a Standard Schema of an object. Without one it takes no arguments. */
  readonly input?: S;
  readonly output?: Schema;
  /** What it needs; without them nothing at all. */
  readonly permissions?: Permissions;
  readonly examples?: readonly {
    readonly input: Readonly<Record<string, unknown>>;
    readonly comment?: string;
  }[];
  /** Default: the limit of the run, 60,000. */
  readonly timeoutMs?: number;
  /** How many calls of it may run at once. */
  readonly maxConcurrent?: number;
  /** Nothing else runs beside it. */
  readonly exclusive?: boolean;
  /** What it gives came from outside, such as a page. */
  readonly untrusted?: boolean;
  /** The same call again is meant, as in polling. */
  readonly repeatable?: boolean;
  /** A call may be done again after a crash. Default: never. */
  readonly idempotent?: boolean | ((input: Readonly<Record<string, Json>>) => boolean);
  /** Gives a JSON value, or text as it comes. Without `run` the gadget is declared only. */
  run?(input: Input, context: GadgetContext): Result | Promise<Result>;
  /** The text that a model reads in place of the result. */
  format?(result: Result extends AsyncIterable<unknown> ? string : Result, call: GadgetCall): string;
}

export interface GadgetContext {
  /** Aborted when the call takes too long, or the run is aborted. */
  readonly signal: AbortSignal;
  readonly invocationId: string;
  /** The results of the calls that this one depends on, by id. */
  readonly dependencies: Readonly<Record<string, Json>>;
  readonly call: GadgetCall;
  readonly deps?: unknown;
  readonly dialog?: unknown;
  log(text: string): void;
  progress(done: number, total?: number): void;
}

export interface GadgetCall {
  readonly gadgetName: string;
  readonly invocationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface AnyGadget {
  readonly name: string;
  readonly description?: string;
  readonly input?: Schema;
  run?(input: never, context: GadgetContext): unknown;
}

export interface DefinedGadget<Name extends string = string, Input = never> extends AnyGadget {
  readonly kind: "gadget";
  readonly name: Name;
  readonly description: string;
  readonly input: Schema;
  readonly permissions: Permissions;
  readonly linked: boolean;
  /** A copy with this `run`. */
  link(run: { run(input: Input, context: GadgetContext): unknown }["run"]): DefinedGadget<Name, Input>;
}

export interface PromptDef {
  /** Segments between `/`. */
  readonly path?: string | undefined;
  readonly template: string;
  /** What an answer has to be; not together with `format`. */
  readonly parser?: Parser<unknown> | null | undefined;
  /** What an answer has to be: JSON of this schema. */
  readonly format?: Schema | null | undefined;
  /** Gadgets, or their names. */
  readonly tools?: readonly (AnyGadget | string)[] | undefined;
  readonly mcp?: readonly Mcp[] | undefined;
  readonly addons?: {
    readonly webSearch?: boolean | undefined;
    readonly computerUse?: boolean | {
      readonly displayWidth?: number;
      readonly displayHeight?: number;
      readonly environment?: string;
    } | undefined;
    readonly [name: string]: unknown;
  } | undefined;
  readonly handler?: Handler | undefined;
  readonly renderer?: {
    render(template: string, args: AnyArgs): string;
    vars?(template: string): Iterable<string>;
  } | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A server of tools that the provider of the model calls by itself. */
export type Mcp =
  & {
    readonly label: string;
    readonly approval?: "never" | "manual" | "auto" | undefined;
    readonly allowedTools?: readonly string[] | undefined;
  }
  & (
    | { readonly url: string; readonly command?: undefined; readonly args?: undefined }
    | { readonly command: string; readonly args?: readonly string[] | undefined; readonly url?: undefined }
  );

export interface Parser<Output = unknown> {
  /** @throws {ParseError} for an answer that the model is to give again */
  parse(text: string, context?: ParseCtx): Output | Promise<Output>;
  describe?(): unknown;
}

export interface ParseCtx {
  readonly prompt: AnyPrompt;
  readonly signal: AbortSignal;
}

export interface ParseIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface TagParser<Result> extends Parser<Result> {
  parse(text: string, context?: ParseCtx): Result;
  refine<Output>(change: (result: Result, context?: ParseCtx) => Output | Promise<Output>): Parser<Output>;
}

export interface TagResult<
  X extends string,
  Q extends string,
  M extends string,
  N extends string,
  S extends string,
> {
  raw: string;
  xmlTags: { [K in X | Q]: K extends Q ? [string, ...string[]] : string[] };
  mdTags: { [K in M | N]: K extends N ? [string, ...string[]] : string[] };
  signalTags: { [K in S]: boolean };
}

/** What the model is told: a text is a template, and a function decides. */
export interface Handler {
  /** Of an answer that is not as it has to be: `error_message`, `retry_count`, `max_retries`. */
  readonly onException?: string | HandlerFunction | undefined;
  /** Of the results of tools: `call_results`, `step`, `max_steps`. */
  readonly onInterrupt?: string | HandlerFunction | undefined;
  /** When it may call no more tools: `step`, `max_steps`. */
  readonly onInterruptFinal?: string | HandlerFunction | undefined;
}

/** A prompt is rendered, a text is sent as it is, null gives up. */
export type HandlerFunction = {
  answer(prompt: AnyPrompt, state: HandlerState): HandlerAnswer | Promise<HandlerAnswer>;
}["answer"];
export type HandlerAnswer = AnyPrompt | string | null;

export interface HandlerState {
  readonly state: "initial" | "exception" | "interrupt" | "llm_recall" | "success" | "failure";
  /** Rounds of tools so far. */
  readonly step: number;
  readonly exceptionRetries: Readonly<Record<number, readonly Error[]>>;
  readonly exceptionRetriesCount: number;
  readonly interruptSteps: readonly number[];
  readonly llmRecalls: Readonly<Record<number, readonly Error[]>>;
  readonly maxExceptionRetry: number;
  readonly maxInterruptSteps: number | "unlimited";
  readonly calls: readonly HandlerCall[];
  readonly call?: HandlerCall;
  readonly attempts: readonly { readonly role: string; readonly content: string }[];
  readonly modelCalls: number;
}

export interface HandlerCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly text?: string;
  readonly error?: string;
  readonly result?: unknown;
}

/** A frozen value; every change gives a copy. */
export interface Prompt<Template extends string = string, Output = unknown, Args = AnyArgs> {
  (): string;
  readonly kind: "prompt";
  readonly path: string;
  readonly template: Template;
  readonly vars: readonly string[];
  readonly parser: Parser<Output> | null;
  readonly format: Schema | null;
  readonly handler: Handler;
  readonly metadata: Readonly<Record<string, unknown>>;
  render(...args: ArgsList<Args>): string;
  /** @throws {ParseError} when the answer is not as it has to be */
  parse(text: string): Promise<Output>;
  extend<const Def extends Partial<PromptDef> & { readonly path: string }>(
    overrides: Def,
  ): Prompt<
    Def extends { readonly template: infer T extends string } ? T : Template,
    Def extends { readonly parser: unknown } | { readonly format: unknown } ? OutputFor<Def> : Output,
    Def extends { readonly template: unknown } ? ArgsFor<Def> : Args
  >;
}

export type AnyPrompt = Prompt;

export interface Tactic<Input = never, Result = unknown> {
  readonly kind: "tactic";
  readonly name: string;
  readonly agents: readonly string[];
  run(
    task: Input,
    options?: { readonly agents?: Readonly<Record<string, Agent>>; readonly signal?: AbortSignal },
  ): Promise<Result>;
}

export interface TacticCtx<Name extends string = string> {
  /** Those that it names, fresh in each run. */
  readonly agents: { readonly [Key in Name]: Agent };
  readonly prompts: { get(path: string): AnyPrompt; has(path: string): boolean; keys(): readonly string[] };
  /** Aborted with the run. Another tactic that is given it has the same agents and prompts. */
  readonly signal: AbortSignal;
  /** The time of the run: it stays the same when a run is resumed or replayed. */
  now(): Date;
  /** Does something to the outside once: a run that is resumed has its outcome from the journal. */
  step<Outcome>(
    name: string,
    perform: () => Outcome | Promise<Outcome>,
    options?: { readonly input?: unknown },
  ): Promise<Outcome>;
}

export interface Agent {
  readonly name: string;
  open(args?: AnyArgs): Dialog;
}

export interface Dialog {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** Adds a message of the user. */
  say(text: string): this;
  /** Adds a prompt, which is in force from now on. */
  send<Sent extends AnyPrompt>(prompt: Sent, ...args: ArgsList<ArgsIn<Sent>>): this;
  /** Makes one turn. */
  call<Output = unknown>(options?: CallOptions): Promise<Reply<Output>>;
  /** `send` and `call` in one. */
  ask<Sent extends AnyPrompt>(
    prompt: Sent,
    ...args: ArgsList<ArgsIn<Sent>, CallOptions>
  ): Promise<Reply<OutputIn<Sent>>>;
  fork(options?: { readonly keepFirst?: number; readonly keepLast?: number }): Dialog;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly modelArgs?: Readonly<Record<string, unknown>>;
  readonly deps?: unknown;
}

export interface Reply<Output = unknown> {
  readonly parsed: Output;
  readonly text: string;
  readonly state: HandlerState;
  readonly dialog: Dialog;
}

// What types follow from.

export type AnyArgs = Readonly<Record<string, unknown>>;

type ArgsIn<Sent> = Sent extends Prompt<string, unknown, infer Args> ? Args : never;
type OutputIn<Sent> = Sent extends Prompt<string, infer Output> ? Output : never;

type OutputFor<Def> = [Def["parser" & keyof Def] | Def["format" & keyof Def]] extends [undefined]
  ? { readonly raw: string }
  : Def extends { readonly format: infer Format extends Schema }
    ? Format extends StandardSchema ? InputOf<Format> : unknown
  : Def extends { readonly parser: { parse(...args: never[]): infer Output } } ? Awaited<Output>
  : Def extends { readonly parser: null } | { readonly format: null } ? { readonly raw: string }
  : unknown;

type ArgsFor<Def> = "renderer" extends keyof Def ? AnyArgs
  : Def extends { readonly template: infer Template extends string }
    ? string extends Template ? AnyArgs : ArgsNamed<VariablesOf<Template>>
  : AnyArgs;

type ArgsNamed<Name> = [Name] extends [never] ? Readonly<Record<string, never>>
  : { readonly [Key in Name & string]: unknown };

export type ArgsList<Args, Extra = never> = string extends keyof Args
  ? [Extra] extends [never] ? [args?: Args] : [args?: Args, extra?: Extra]
  : [Extra] extends [never] ? [args: Args]
  : [args: Args, extra?: Extra];

type VariablesOf<Template extends string, Names = never> = SomeOf<Template, Names, []> extends infer Read
  ? Read extends { rest: infer Rest extends string; names: infer More } ? VariablesOf<Rest, More> : Read
  : never;

type SomeOf<Template extends string, Names, Steps extends readonly 0[]> = Steps["length"] extends 50
  ? { rest: Template; names: Names }
  : Template extends `${string}{${infer Tail}`
    ? Tail extends `{${infer Rest}` ? SomeOf<Rest, Names, [...Steps, 0]>
    : Tail extends `${infer Field}}${infer Rest}` ? SomeOf<Rest, Names | NamesOf<Field>, [...Steps, 0]>
    : Names
  : Names;

type NamesOf<Field extends string> = Field extends `${infer Name}:${infer Spec}`
  ? NamesOf<Name> | (Spec extends `${string}{${infer Inner}` ? NamesOf<Inner> : never)
  : Field extends `${infer Name}!${string}` | `${infer Name}.${string}` | `${infer Name}[${string}`
    ? NamesOf<Name>
  : Field;

export type InputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output } ? Output : unknown
  : S extends { readonly type: unknown } ? FromJsonSchema<S>
  : S extends { readonly [K in "anyOf" | "oneOf"]: readonly unknown[] }["anyOf" | "oneOf"] ? FromJsonSchema<S>
  : S extends { readonly properties: infer P } ? ObjectOf<S, P>
  : Record<string, unknown>;

type FromJsonSchema<S> = S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly anyOf: readonly (infer Branch)[] } ? FromEach<Branch>
  : S extends { readonly oneOf: readonly (infer Branch)[] } ? FromEach<Branch>
  : S extends { readonly type: readonly (infer Type)[] } ? OfType<Type, S>
  : S extends { readonly type: infer Type } ? OfType<Type, S>
  : S extends { readonly properties: infer P } ? ObjectOf<S, P>
  : unknown;

type FromEach<Branch> = Branch extends unknown ? FromJsonSchema<Branch> : never;

type OfType<Type, S> = Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array" ? ArrayOf<S>
  : Type extends "object" ? S extends { readonly properties: infer P } ? ObjectOf<S, P> : MapOf<S>
  : unknown;

type ArrayOf<S> = S extends { readonly prefixItems: readonly unknown[] } ? unknown[]
  : S extends { readonly items: infer Item } ? FromJsonSchema<Item>[]
  : unknown[];

type MapOf<S> = S extends { readonly additionalProperties: infer Value }
  ? Record<string, Value extends boolean ? unknown : FromJsonSchema<Value>>
  : Record<string, unknown>;

type ObjectOf<S, P> = Simplify<
  & { -readonly [K in keyof P as K extends PresentKeys<S, P> ? K : never]: FromJsonSchema<P[K]> }
  & { -readonly [K in keyof P as K extends PresentKeys<S, P> ? never : K]?: FromJsonSchema<P[K]> }
>;

type PresentKeys<S, P> =
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type Simplify<T> = { [K in keyof T]: T[K] };
