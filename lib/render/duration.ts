/** A time for people: `0.4 ms`, `120 ms`, `1.3 s`, `2 min`, `2 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 9.95) return `${(Math.round(ms * 10) / 10).toString()} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60 === 0 ? "" : ` ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(seconds / 60)} min${rest}`;
}
