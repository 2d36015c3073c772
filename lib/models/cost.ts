import type { ModelPrice } from "../core/model_settings.ts";
import { inDollars } from "../core/usage.ts";
import type { KnownModel } from "./prices.ts";

/** The tokens of one call; those of the cache are parts of `input`. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cacheWrite: number;
}

/** US dollars for one call; undefined when there is no price. The user's own price has no steps. */
export function costOf(
  tokens: TokenCounts,
  prices: { readonly own?: ModelPrice; readonly known?: KnownModel },
): number | undefined {
  const { own, known } = prices;
  const isLong = known?.long !== undefined && tokens.input > known.long.above;
  const price = own ?? (isLong ? known.long : known?.price);
  if (price === undefined) return undefined;
  const { cached, cacheWrite } = tokens;
  const plain = Math.max(0, tokens.input - cached - cacheWrite);
  const dollars = plain * price.input + cached * (price.cached ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) + tokens.output * price.output;
  return inDollars(dollars / 1_000_000);
}
