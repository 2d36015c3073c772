import type { JSX } from "hono/jsx/jsx-runtime";
import { resultText } from "../../render/shown_text.ts";
import { htmlBytes } from "../../render/trace/limit.ts";
import type { TracePage } from "../../render/trace/page.ts";

/** More is cut: a trace has it once more, with the step that it came from. */
const MAX_BYTES = 200_000;

/** What a run gave; nothing when it gave nothing. */
export function TraceResult({ page: { value } }: {
  readonly page: Pick<TracePage, "value">;
}): JSX.Element | null {
  if (value === undefined || value === null || value === "") return null;
  const text = resultText(value);
  const isLong = htmlBytes(text) > MAX_BYTES;
  const shown = isLong ? text.slice(0, MAX_BYTES / 6) : text;
  return (
    <section aria-labelledby="result">
      <h2 id="result">Result</h2>
      <pre class="block wrap" tabindex={0} role="group" aria-labelledby="result">{shown}</pre>
      {isLong && <p class="small soft">cut here: {text.length - shown.length} more characters</p>}
    </section>
  );
}
