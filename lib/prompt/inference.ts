// What the types of a prompt follow from: its definition, or the prompt it extends and what is replaced.
import type { Gadget, GadgetRunner, Schema, StandardSchema } from "../core/core.ts";
import type { InputOf } from "../schema/input_type.ts";
import type { ToolRef } from "./prompt.ts";

/** What an answer without a contract means. */
export interface Raw {
  readonly raw: string;
}

/** Refuses keys that `Base` does not have. */
export type Exact<Def, Base> = { readonly [Key in Exclude<keyof Def, keyof Base>]: never };

// A definition may be of a type that only says that a field may be there: then nothing is known of what follows from it.

/** The template of a definition, or the inherited one. */
export type TemplateFor<Def, Inherited extends string> = Def extends
  { readonly template: infer Template extends string } ? Template
  : "template" extends keyof Def ? string
  : Inherited;

/** What answers mean: by `format`, by `parser`, as raw text, or as inherited. */
export type OutputFor<Def, Inherited> = [Def["parser" & keyof Def] | Def["format" & keyof Def]] extends
  [undefined] ? Inherited
  : Def extends { readonly format: infer Format extends Schema } ? OutputOf<Format>
  : Def extends { readonly parser: { parse(...args: never[]): infer Output } } ? Awaited<Output>
  : Def extends { readonly parser: null } | { readonly format: null } ? Raw
  : unknown;

/** What a Standard Schema lets through. A JSON Schema says too little to its type. */
type OutputOf<Format extends Schema> = Format extends StandardSchema ? InputOf<Format> : unknown;

/** The tools of a definition, or the inherited ones. */
export type ToolsFor<Def, Inherited extends readonly ToolRef[]> = Def extends
  { readonly tools: infer Tools extends readonly ToolRef[] } ? Tools
  : "tools" extends keyof Def ? readonly ToolRef[]
  : Inherited;

/** The arguments of a definition, or the inherited ones. */
export type ArgsFor<Def, Inherited> = "renderer" extends keyof Def ? RendererArgs
  : IsOfRenderer<Inherited> extends true ? Inherited
  : Def extends { readonly template: infer Template } ? ArgsOf<Template>
  : "template" extends keyof Def ? AnyArgs
  : Inherited;

/** The implementations that a prompt can be linked to, by the names of its gadgets. */
export type Links<Tools extends readonly ToolRef[]> = {
  readonly [Tool in Tools[number] as NameOf<Tool>]?: GadgetRunner<RunInput<Tool>>;
};

type NameOf<Tool> = Tool extends { readonly name: infer Name extends string } ? Name : never;

type RunInput<Tool> = Tool extends Gadget<infer Input>
  ? [Input] extends [never] ? Readonly<Record<string, unknown>> : Input
  : never;

/** Any arguments at all: those of a template that is not one literal. */
export type AnyArgs = Readonly<Record<string, unknown>>;

declare const OWN_RENDERER: unique symbol;

/** The arguments of a prompt with a renderer of its own: only that renderer knows what its template takes. */
export type RendererArgs = AnyArgs & { readonly [OWN_RENDERER]?: never };

/** Whether these are the arguments of a prompt with a renderer of its own. */
export type IsOfRenderer<Args> = typeof OWN_RENDERER extends keyof Args ? true : false;

/**
 * The arguments that a template takes, read off its literal type: one for each variable, of any type; none at all when it has no
 * variables; any when it is not one literal.
 */
export type ArgsOf<Template> = Template extends string
  ? string extends Template ? AnyArgs : ArgsNamed<VariablesOf<Template>>
  : never;

type ArgsNamed<Name> = [Name] extends [never] ? Readonly<Record<string, never>>
  : { readonly [Key in Name & string]: unknown };

/** The arguments as a parameter list: they may be left out where no name is wanted for certain. */
export type ArgsList<Args, Extra = never> = string extends keyof Args
  ? [Extra] extends [never] ? [args?: Args] : [args?: Args, extra?: Extra]
  : [Extra] extends [never] ? [args: Args]
  : [args: Args, extra?: Extra];

// The compiler follows a recursive type 1,000 steps deep, and a template with JSON in it easily has more braces. So some of them are
// read at a time, and what is left is read by a new recursion.
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

/** The first name of a field and the one of a field in its format: `s:>{w` has `s` and `w`. */
type NamesOf<Field extends string> = Field extends `${infer Name}:${infer Spec}`
  ? NamesOf<Name> | (Spec extends `${string}{${infer Inner}` ? NamesOf<Inner> : never)
  : Field extends `${infer Name}!${string}` | `${infer Name}.${string}` | `${infer Name}[${string}`
    ? NamesOf<Name>
  : Field;
