/**
 * What an answer asks to wait, in milliseconds: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3),
 * which is read against the answer's own `Date`.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = wholeNumber(headers.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const text = headers.get("retry-after");
  const seconds = wholeNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  const [until, now] = [Date.parse(text ?? ""), Date.parse(headers.get("date") ?? "")];
  return Number.isNaN(until) || Number.isNaN(now) ? undefined : Math.max(0, until - now);
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text)) : undefined;
}
