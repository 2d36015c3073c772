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
