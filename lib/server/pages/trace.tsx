// The trace of a run as one file: everything it needs is inside, and its policy lets nothing else in. It opens without a server, from a mail
// or an archive, in years.
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type RunTrace, sha256 } from "../../core/core.ts";
import { counted } from "../../render/run_tally.ts";
import { costWords, duration, resultText } from "../../render/shown_text.ts";
import { stateWord } from "../../render/step_words.ts";
import { htmlBytes, type TraceLimit } from "../../render/trace/limit.ts";
import { type TracePage, tracePage } from "../../render/trace/page.ts";
import { openAssets } from "./assets.ts";
import { RunStatusBadge, runTitle } from "./parts.tsx";
import { Timeline } from "./timeline.tsx";

/** A file is at most 20 MB: so much for values, and what is around them in so many lines. */
const FILE_LIMIT: TraceLimit = { valueBytes: 11_000_000, rows: 4000 };

/** The page of a trace as the text of a file. */
export async function traceFile(trace: RunTrace): Promise<string> {
  const assets = await openAssets();
  const text = (path: string): string => {
    const asset = assets.find(path);
    if (asset === undefined) throw new Error(`${path} is not among the files of the page`);
    return asset.text;
  };
  const page = (
    <TraceFile
      page={tracePage(trace)}
      style={text("lib/browser/page.css")}
      script={text("lib/browser/trace_view.ts")}
    />
  );
  return `<!DOCTYPE html>\n${(await page).toString()}\n`;
}

function TraceFile({ page, style, script }: {
  readonly page: TracePage;
  readonly style: string;
  readonly script: string;
}): JSX.Element {
  const title = page.file ?? runTitle(page.kind);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy({ style, script })} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>{`${title} · trace of ${page.id} · Orrery`}</title>
        <style>{raw(inline(style))}</style>
      </head>
      <body class="trace-file">
        <a class="skip" href="#timeline">Skip to the timeline</a>
        <main id="main" tabindex={-1}>
          <header class="page-head">
            <h1>
              <span class="code">{title}</span>
            </h1>
            <p class="lede">
              Trace of the {page.kind} run <code>{page.id}</code>
            </p>
          </header>
          <TraceParts page={page} limit={FILE_LIMIT} />
        </main>
        <script type="module">{raw(inline(script))}</script>
      </body>
    </html>
  );
}

/** Only this script, and only this style sheet. */
function policy({ style, script }: { readonly style: string; readonly script: string }): string {
  return `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; ` +
    "base-uri 'none'; form-action 'none'";
}

function hashOf(text: string): string {
  const bytes = (sha256(text).match(/../g) ?? []).map((pair) => String.fromCharCode(parseInt(pair, 16)));
  return `sha256-${btoa(bytes.join(""))}`;
}

/** Text of ours, as an element takes it that ends at the first sign of its end. @throws {Error} when it holds one */
function inline(text: string): string {
  if (/<\/(?:script|style)|<!--|\r/i.test(text)) {
    throw new Error("a file of the page cannot stand inside of another");
  }
  return text;
}

// What a run was and took, in one glance, above its timeline.

/** What a run took and did; without a figure what is not known. */
export function figuresOf(
  { counts, usage, ms }: TracePage,
): readonly (readonly [what: string, figure: string])[] {
  return [
    ["Time", duration(ms)],
    ["Tokens in", usage.input.toLocaleString("en")],
    ["Tokens out", usage.output.toLocaleString("en")],
    ["Cost", usage.cost === undefined ? "" : costWords(usage.cost)],
    ["Model answers", String(counts.answers)],
    ["Calls", String(counts.calls)],
    ["Failed", String(counts.failed)],
  ];
}

/** What is told of a run that was traced. */
export function TraceParts(
  { page, limit }: { readonly page: TracePage; readonly limit?: TraceLimit },
): JSX.Element {
  return (
    <div class="stack">
      <section aria-label="Figures">
        <TraceFacts page={page} />
      </section>
      <TraceResult page={page} />
      <Timeline page={page} limit={limit} />
    </div>
  );
}

/** Figures of a run. */
function TraceFacts({ page }: { readonly page: TracePage }): JSX.Element {
  const { counts, usage, startedAt } = page;
  const isFree = usage.input + usage.output === 0;
  const shown = figuresOf(page).filter(([what]) => !isFree || !/^(?:Tokens|Cost)/.test(what));
  return (
    <>
      <dl class="figures">
        {shown.map(([what, figure]) => (
          <div data-what={what}>
            <dt>{what}</dt>
            <dd>{figure || "not known"}</dd>
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
function timeWords(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** More is cut: a trace has it once more, with the step that it came from. */
const MAX_BYTES = 200_000;

/** What a run gave; nothing when it gave nothing. */
function TraceResult({ page: { value } }: {
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
