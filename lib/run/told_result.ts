import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { Run } from "./run.ts";

/** What a model reads of a result, or why its gadget could not say it. */
export type ToldResult = { readonly text: string } | { readonly error: string };

/** What a gadget's own `format` makes of a result. A record keeps it, since a replay has no gadget to ask. */
export function toldResult(
  run: Run,
  { key, tell }: { readonly key: string; tell(): string },
): ToldResult | Promise<ToldResult> {
  return run.lookUp(key, () => told(tell), { note: (result): Json => ({ ...result }), from: fromNote });
}

function told(tell: () => string): ToldResult {
  try {
    return { text: tell() };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function fromNote(noted: Json): ToldResult {
  const { text, error } = isJsonObject(noted) ? noted : {};
  return text === undefined ? { error: String(error) } : { text: String(text) };
}
