// What a run was and took, in one glance, above its timeline.

import type { JSX } from "hono/jsx/jsx-runtime";
import { costWords, duration } from "../../render/shown_text.ts";
import { counted } from "../../render/run_tally.ts";
import type { TracePage } from "../../render/trace/page.ts";
import { stateWord } from "../../render/step_words.ts";
import { RunStatusBadge } from "./run_status.tsx";

/** Figures of a run. */
export function TraceFacts({ page }: { readonly page: TracePage }): JSX.Element {
  const { counts, usage, ms, startedAt } = page;
  const figures: readonly (readonly [what: string, figure: string])[] = [
    ["Time", duration(ms)],
    ["Tokens in", usage.input.toLocaleString("en")],
    ["Tokens out", usage.output.toLocaleString("en")],
    ["Cost", usage.cost === undefined ? "not known" : costWords(usage.cost)],
    ["Model answers", String(counts.answers)],
    ["Calls", String(counts.calls)],
    ["Failed", String(counts.failed)],
  ];
  const isFree = usage.input + usage.output === 0;
  const shown = figures.filter(([what]) => !isFree || !/^(?:Tokens|Cost)/.test(what));
  return (
    <>
      <dl class="figures">
        {shown.map(([what, figure]) => (
          <div data-what={what}>
            <dt>{what}</dt>
            <dd>{figure}</dd>
          </div>
        ))}
      </dl>
      <p class="soft small">
        <RunStatusBadge status={stateWord(page)} /> began <time>{timeWords(startedAt)}</time>
        {counts.skipped > 0 && `, ${counted(counts.skipped, "step")} skipped`}
        {page.reason !== undefined && `, ended early: ${page.reason}`}
      </p>
      {page.error !== undefined && (
        <div class="note" data-tone="bad">
          <pre>{page.error}</pre>
        </div>
      )}
    </>
  );
}

/** `2026-11-23 09:23:20 UTC`: a file is opened anywhere. */
export function timeWords(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
