import type { Usage } from "../core/model.ts";

/** A time for people: `0.4 ms`, `120 ms`, `1.3 s`, `2 min`, `2 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 9.95) return `${(Math.round(ms * 10) / 10).toString()} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60 === 0 ? "" : ` ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(seconds / 60)} min${rest}`;
}

/** Tokens and cost for people: `1234 in, 56 out, $0.0123`; what is not known is left out, and nothing at all is the empty text. */
export function usageWords({ input, output, cached, reasoning, cost }: Usage): string {
  if (input === 0 && output === 0 && cost === undefined) return "";
  return [
    `${input} in${cached === undefined || cached === 0 ? "" : ` (${cached} cached)`}`,
    `${output} out${reasoning === undefined || reasoning === 0 ? "" : ` (${reasoning} thought)`}`,
    ...(cost === undefined ? [] : [costWords(cost)]),
  ].join(", ");
}

/** US dollars with as many places as tell something: `$1.20`, `$0.0123`, `$0.000012`. */
export function costWords(cost: number): string {
  if (cost === 0 || cost >= 1) return `$${cost.toFixed(2)}`;
  const places = Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(cost))));
  return `$${cost.toFixed(places)}`;
}

/** The same behind a text, `before` it when there is something to say. */
export function withUsage(
  text: string,
  { usage, before }: { readonly usage: Usage | undefined; readonly before: string },
): string {
  const words = usage === undefined ? "" : usageWords(usage);
  return words === "" ? text : `${text}${before}${words}`;
}
