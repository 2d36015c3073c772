import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { FinishReason, Usage } from "../core/model.ts";
import type { ModelPrice } from "../core/model_settings.ts";
import { costOf } from "./cost.ts";
import type { KnownModel } from "./prices.ts";

/** What the tokens of a model cost. */
export interface Prices {
  readonly own?: ModelPrice | undefined;
  readonly known?: KnownModel | undefined;
}

/** Tokens and cost of one call. The SDK writes 0 for what a provider does not tell, so that a 0 of a part is left out. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage, prices: Prices): Usage {
  const input = inputTokens.total ?? 0;
  const [cached, cacheWrite] = [inputTokens.cacheRead ?? 0, inputTokens.cacheWrite ?? 0];
  const [said, reasoning] = [outputTokens.total ?? 0, outputTokens.reasoning ?? 0];
  // Some openai-compatible servers count the thinking apart.
  const output = reasoning > said ? said + reasoning : said;
  const isTold = input > 0 || output > 0;
  const cost = isTold ? costOf({ input, output, cached, cacheWrite }, prices) : undefined;
  return {
    input,
    output,
    ...(cached > 0 && { cached }),
    ...(reasoning > 0 && { reasoning }),
    ...(cost !== undefined && { cost }),
  };
}

/** Why the model stopped; undefined when it did not: the stream ended in the middle. Many servers say `stop` after calls too. */
export function finishReasonOf(
  { unified, raw }: LanguageModelV4FinishReason,
  { hasCalls }: { readonly hasCalls: boolean },
): FinishReason | undefined {
  switch (unified) {
    case "stop":
      return hasCalls ? "calls" : "stop";
    case "tool-calls":
      return "calls";
    case "content-filter":
      return "filter";
    case "length":
    case "error":
      return unified;
    case "other":
      return raw === undefined ? undefined : "other";
    case "interrupted":
      return undefined;
    default:
      return unified satisfies never;
  }
}
