import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { FinishReason, Usage } from "../core/model.ts";
import type { ModelPrice } from "../core/model_settings.ts";
import { costOf } from "./cost.ts";
import type { KnownModel } from "./prices.ts";

/** What the tokens of a model cost. */
export interface Prices {
  readonly own?: ModelPrice;
  readonly known?: KnownModel;
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
    case "other":
      if (raw === undefined || raw === "") return unified === "other" ? undefined : "calls";
      return reasonIn(raw, hasCalls);
    case "content-filter":
      return "filter";
    case "length":
      return "length";
    case "error":
      return raw === undefined ? undefined : "error";
    case "interrupted":
      return undefined;
    default:
      return unified satisfies never;
  }
}

/** The SDK knows the words of its own providers; servers that speak like one of them have those of the others, and more. */
function reasonIn(raw: string, hasCalls: boolean): FinishReason {
  const word = raw.toLowerCase().replaceAll(/[^a-z]+/g, "_");
  const [reason = "other"] = WORDS.find(([, words]) => words.test(word)) ?? [];
  return reason === "stop" && hasCalls ? "calls" : reason;
}

const WORDS: readonly (readonly [reason: FinishReason, words: RegExp])[] = [
  ["stop", /^(stop|stop_sequence|end|end_turn|eos|eos_token|complete|completed|done|finished)$/],
  ["calls", /^(tool_calls?|tool_use|function_calls?)$/],
  ["length", /^(length|(max|model)_length|max_tokens|max_(output|new|completion)_tokens)$/],
  ["filter", /^(content_filter(ed)?|refusal|safety|recitation|blocklist|prohibited_content)$/],
];
