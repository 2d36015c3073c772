// What is declared is what there is: of each value a declaration, and of what goes in and out every field.
import type * as library from "orrery";
import type * as declared from "../lib/help/orrery.d.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type Keys<A, B> = Equal<keyof A, keyof B>;
type D = declared.GadgetDefinition<declared.Schema, never, string, unknown>;
type L = library.GadgetDefinition<library.Schema, never, string, unknown>;
type Plain<T> = Omit<T, "input" | "output" | "run" | "format">;

export const same: [
  keyof typeof declared extends keyof typeof library ? true : false,
  Equal<declared.Permissions, library.Permissions>,
  Equal<declared.Json, library.Json>,
  Equal<declared.GadgetContext, library.GadgetContext>,
  Equal<declared.HandlerState, library.HandlerState>,
  Equal<declared.Mcp, library.Mcp>,
  Equal<Plain<D>, Plain<L>>,
  Keys<D, L>,
  Keys<declared.PromptDef, library.PromptDef>,
  Keys<declared.Handler, library.Handler>,
  Keys<declared.TacticCtx, library.TacticCtx>,
  Keys<declared.Tactic, library.Tactic>,
  Keys<declared.Parser, library.Parser>,
  Keys<declared.ParseError, library.ParseError>,
  Keys<declared.Reply, library.Reply>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true];
