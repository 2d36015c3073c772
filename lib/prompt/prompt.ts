import type { AnyGadget, Schema } from "../core/core.ts";
import type { Addons, ComputerUse } from "./addons.ts";
import type { Handler } from "./handler.ts";
import type {
  AnyArgs,
  ArgsFor,
  ArgsList,
  Exact,
  Links,
  OutputFor,
  TemplateFor,
  ToolsFor,
} from "./inference.ts";
import type { Mcp } from "./mcp_servers.ts";

/** A tool of a prompt: a gadget, or a name that is looked up in the catalogue when a turn starts. */
export type ToolRef = AnyGadget | string;

/** A prompt as it is written (prompts.md 1). */
export interface PromptDef {
  /** Its name in a registry: segments between `/`. Discovery and `register` need one. Default: empty. */
  readonly path?: string;
  readonly template: string;
  /** What an answer has to be; not together with `format`. Null or absent: any text. */
  readonly parser?: Parser<unknown> | null;
  /** What an answer has to be: JSON of this schema. */
  readonly format?: Schema | null;
  readonly tools?: readonly ToolRef[];
  readonly mcp?: readonly Mcp[];
  readonly addons?: Addons;
  readonly handler?: Handler;
  /** Default: Orrery's own templates (prompts.md 2). */
  readonly renderer?: Renderer;
  /** Any JSON, for whoever keeps track of prompts. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What replaces fields of a prompt, each as a whole; `undefined` keeps what is there, null clears `parser` or `format`. */
export type PromptOverrides = Partial<PromptDef> & { readonly path: string };

/** A call signature that leaves the type of its arguments open, so that every prompt is an `AnyPrompt`. */
type Rendering<Args> = { render(args: Args): string }["render"];

/**
 * A prompt: what one turn sends, what its answer has to be, which tools it may use and what is said when that goes wrong. Frozen; every
 * change gives a copy. Called with arguments it renders its template, called without it gives the template as it is.
 */
export interface Prompt<
  Template extends string = string,
  Output = unknown,
  Tools extends readonly ToolRef[] = readonly ToolRef[],
  Args = AnyArgs,
> extends Rendering<Args> {
  (): string;
  readonly kind: "prompt";
  readonly path: string;
  /** In a handler's child: the path of the prompt that the turn began with. Else its own path. */
  readonly rootPath: string;
  readonly template: Template;
  /** The names that must be among the arguments, in order of first appearance. */
  readonly vars: readonly string[];
  readonly parser: Parser<Output> | null;
  readonly format: Schema | null;
  readonly tools: Tools;
  readonly mcp: readonly Mcp[];
  readonly addons: Addons;
  readonly handler: Handler;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly allowWebSearch: boolean;
  /** Complete, or null when the model is not offered a computer. */
  readonly computerUseConfig: ComputerUse | null;
  /** The names of its gadgets that have no implementation yet. */
  readonly unlinked: readonly string[];
  /** The template with the arguments filled in; doubled braces become single ones. @throws {PromptError} `render` */
  render(...args: ArgsList<Args>): string;
  /** What an answer means by the prompt's contract. @throws {ParseError} when it breaks the contract. */
  parse(text: string): Promise<Output>;
  /** A copy with a path of its own and other fields replaced. @throws {PromptError} `define` */
  extend<const Def extends PromptOverrides>(
    overrides: Def & Exact<Def, PromptDef>,
  ): Prompt<TemplateFor<Def, Template>, OutputFor<Def, Output>, ToolsFor<Def, Tools>, ArgsFor<Def, Args>>;
  /** A copy in which these gadgets run these functions. @throws {PromptError} `define` */
  link(implementations: Links<Tools>): Prompt<Template, Output, Tools, Args>;
  /** What it is, for logs and for comparing experiments. */
  info(): PromptInfo;
}

/** A prompt of which no more is known. */
export type AnyPrompt = Prompt;

/** What a prompt says of itself. */
export interface PromptInfo {
  readonly path: string;
  /** The first 12 hexadecimal digits of the SHA-256 of the template. */
  readonly promptHash: string;
  /** The same over the template and all that an answer is held to: contract, tools, MCP servers, addons. */
  readonly contractHash: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tools: readonly string[];
  /** Their labels. */
  readonly mcp: readonly string[];
  readonly addons: Addons;
  readonly hasParser: boolean;
  readonly hasFormat: boolean;
}

/** What a parser gets besides the text. */
export interface ParseCtx {
  /** The specification in force. */
  readonly prompt: AnyPrompt;
  /** Aborted with the turn. */
  readonly signal: AbortSignal;
}

/**
 * What an answer has to be, and what is made of it (prompts.md 3). A `ParseError` that it throws is told to the model, which is asked
 * again; any other exception is a defect and ends the turn.
 */
export interface Parser<O = unknown> {
  parse(text: string, ctx?: ParseCtx): O | Promise<O>;
  /** What the parser does, as JSON: it counts in the hash of the contract. */
  describe?(): unknown;
}

/** Renders a template in place of Orrery's own grammar, which is not applied then. */
export interface Renderer {
  render(template: string, args: Readonly<Record<string, unknown>>): string;
  /** The names that must be among the arguments. Default: none. */
  vars?(template: string): Iterable<string>;
}
