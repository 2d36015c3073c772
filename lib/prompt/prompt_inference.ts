// What the types of a prompt follow from: its definition, or the prompt it extends and what is replaced.

import type { Gadget, GadgetRunner, Schema, StandardSchema } from "../core/gadget.ts";
import type { InputOf } from "../schema/input_type.ts";
import type { AnyArgs, ArgsOf, IsOfRenderer, RendererArgs } from "./args_of.ts";
import type { ToolRef } from "./prompt_type.ts";

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
