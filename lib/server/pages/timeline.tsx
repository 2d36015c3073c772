// The timeline of a run: a line for each step, with its place in the run's time as a bar, opened by a click or a key. It is whole without a
// script; browser/trace_view.ts adds folding, a filter and keys.
import type { JSX } from "hono/jsx/jsx-runtime";
import { Block } from "./parts.tsx";
import { costWords, duration, thoughtWords, usageWords } from "../../render/shown_text.ts";
import type { RowKind, RowState } from "../../render/rows.ts";
import type { TracePage } from "../../render/trace/page.ts";
import { THOUGHT } from "../../render/trace/values.ts";
import {
  type LimitedRow,
  limitedRows,
  type LimitedValue,
  type TraceLimit,
} from "../../render/trace/limit.ts";

/** What a page shows of a trace; `orrery trace ID --json` has all of it. */
const PAGE_LIMIT: TraceLimit = { valueBytes: 4_000_000, rows: 5000 };

/** The part of a page with the timeline. */
export function Timeline({ page, limit, late }: {
  readonly page: TracePage;
  readonly limit?: TraceLimit;
  /** Whether it comes behind what a script adds. */
  readonly late?: boolean;
}): JSX.Element {
  return (
    <section aria-labelledby="timeline" data-run-late={late}>
      <h2 id="timeline">Timeline</h2>
      <TraceTimeline page={page} limit={limit} />
    </section>
  );
}

/** A timeline, with what can be done to it above. */
function TraceTimeline({ page, limit = PAGE_LIMIT }: {
  readonly page: TracePage;
  readonly limit?: TraceLimit;
}): JSX.Element {
  const { rows, missingRows, cutValues } = limitedRows(page.rows, limit);
  const opened = new Set(rows.filter(isFailure).slice(0, MOST_OPENED));
  if (page.rows.length === 0) return <p class="empty">The run has done nothing yet that is kept.</p>;
  const all = (
    <>
      : <code>orrery trace {page.id} --json</code> has all of it
    </>
  );
  return (
    <div class="trace" data-trace data-free={isFree(page) ? true : undefined}>
      <TraceTools />
      <div class="trace-head" aria-hidden="true">
        <span>Step</span>
        <Scale ms={page.ms} />
        <span class="trace-tokens">Tokens</span>
        <span class="trace-cost">Cost</span>
        <span class="trace-ms">Time</span>
      </div>
      <ol class="trace-rows">
        {rows.map((row, index) => (
          <TraceLine row={row} ms={page.ms} id={`step-${index + 1}`} isOpen={opened.has(row)} />
        ))}
      </ol>
      {missingRows > 0 && <p class="note">{missingRows} more lines are not shown{all}.</p>}
      {cutValues > 0 && (
        <p class="note">{cutValues} long {cutValues === 1 ? "value is" : "values are"} cut{all}.</p>
      )}
    </div>
  );
}

/** So many failures are open from the start: of a run that failed one wants to know why. */
const MOST_OPENED = 3;

/** Not that of what lies below it. */
function isFailure({ state, below }: LimitedRow): boolean {
  return state === "failed" && below === 0;
}

/** Nothing of it is known to have taken tokens: columns for them would be empty. */
function isFree({ usage }: TracePage): boolean {
  return usage.input + usage.output === 0 && usage.cost === undefined;
}

function TraceTools(): JSX.Element {
  return (
    <div class="trace-tools" data-trace-tools hidden>
      <label class="trace-filter">
        <span class="unseen">Show lines with this text</span>
        <input type="search" placeholder="Filter the lines" data-trace-filter data-search />
      </label>
      <label class="check">
        <input type="checkbox" data-trace-failed /> Failed only
      </label>
      <button type="button" class="quiet" data-trace-do="open">Open all</button>
      <button type="button" class="quiet" data-trace-do="close">Close all</button>
      <button type="button" class="quiet" data-trace-do="fold">Fold</button>
      <span class="soft small" role="status" data-trace-count></span>
    </div>
  );
}

/** Marks of the time at quarters. */
function Scale({ ms }: { readonly ms: number }): JSX.Element {
  return (
    <span class="trace-scale">
      {[0, 0.25, 0.5, 0.75, 1].map((part) => <span>{part === 0 ? "0" : duration(ms * part)}</span>)}
    </span>
  );
}

const STATE_MARKS: { readonly [state in RowState]?: string } = {
  done: "\u2713",
  failed: "\u2717",
  skipped: "\u2013",
  running: "\u2026",
  "waits for you": "?",
  stopped: "\u25a0",
  note: "\u2022",
};

/** What needs no word in front of its name. */
const PLAIN_KINDS: ReadonlySet<RowKind> = new Set(["step", "turn", "group"]);

/** What is no step, so that nobody wants its key. */
const WITHOUT_PLACE: ReadonlySet<RowKind> = new Set([
  "turn",
  "group",
  "skip",
  "jump",
  "hold",
  "warning",
  "permission",
]);

/** Deeper ones stand as deep as this. */
const MAX_INDENT = 12;

function TraceLine({ row, ms, id, isOpen }: {
  readonly row: LimitedRow;
  readonly ms: number;
  readonly id: string;
  readonly isOpen: boolean;
}): JSX.Element {
  const { name, kind, state, depth, below, usage, label } = row;
  return (
    <li
      class="trace-row"
      id={id}
      data-trace-row
      data-state={state}
      data-kind={kind}
      data-depth={depth}
      data-indent={Math.min(depth, MAX_INDENT)}
      data-below={below}
    >
      <button type="button" class="twig" data-twig hidden aria-expanded="true">
        <span class="unseen">What is below {name}</span>
      </button>
      <details open={isOpen}>
        <summary>
          <span class="trace-name">
            <span class="trace-mark" aria-hidden="true">{STATE_MARKS[state]}</span>
            <span class="unseen">{state}</span>
            {!PLAIN_KINDS.has(kind) && <span class="trace-kind">{kind}</span>}{" "}
            <span class="trace-title">{name}</span>
            {label !== name && label !== kind && !WITHOUT_PLACE.has(kind) && (
              <>
                {" "}
                <span class="trace-label">{label}</span>
              </>
            )}
            <Said row={row} />
          </span>
          <Bar row={row} ms={ms} />
          <span class="trace-tokens">
            {usage !== undefined && usage.input + usage.output > 0 && (
              <>
                {usage.input} <span aria-hidden="true">→</span>
                <span class="unseen">in,</span> {usage.output} <span class="unseen">out</span>
              </>
            )}
          </span>
          <span class="trace-cost">{usage?.cost !== undefined && costWords(usage.cost)}</span>
          <span class="trace-ms">{row.ms !== undefined && duration(row.ms)}</span>
        </summary>
        <TraceDetails row={row} />
      </details>
    </li>
  );
}

/** The first words of what is in the line, so that one sees without opening what it was about. */
function Said({ row }: { readonly row: LimitedRow }): JSX.Element | null {
  const words = firstWords(row);
  return words === "" ? null : <span class="trace-said">{words}</span>;
}

const SAID_CHARACTERS = 120;

function firstWords({ values, kind }: LimitedRow): string {
  const text = (title: string): string | undefined => values.find((value) => value.title === title)?.text;
  const calls = values.filter(({ title, side }) => side === "out" && title.startsWith("call "));
  const words = text("error") ?? (kind === "turn" ? text("user") : undefined) ?? text("says") ??
    text("answer") ?? (calls.length > 0 ? calls.map(({ title }) => title).join(", ") : undefined) ??
    values.find(({ side }) => side === "out")?.text ?? text("condition") ?? "";
  return words.slice(0, SAID_CHARACTERS).replace(/\s+/g, " ").trim();
}

/** What is shorter than this part of the run would be too small to be seen: it is so many pixels wide. */
const LEAST_PART = 0.008;
const LEAST_WIDTH = 2;

/** Where in the time of the run it was: attributes of a picture, since the page's policy takes no styles of its own. */
function Bar({ row: { at, ms = 0, state, kind }, ms: whole }: {
  readonly row: LimitedRow;
  readonly ms: number;
}): JSX.Element {
  const percent = (time: number): string => `${(whole === 0 ? 0 : time / whole * 100).toFixed(3)}%`;
  const width = ms < whole * LEAST_PART ? LEAST_WIDTH : percent(ms);
  const isPoint = state === "note" || state === "skipped";
  return (
    <svg class="trace-bar" aria-hidden="true" focusable="false">
      {[25, 50, 75].map((x) => <line class="tick" x1={`${x}%`} x2={`${x}%`} y1="0" y2="100%" />)}
      {isPoint
        ? <circle cx={percent(at)} cy="50%" r="2.5" />
        : <rect x={percent(at)} y="20%" width={width} height="60%" rx="2" data-kind={kind} />}
    </svg>
  );
}

function TraceDetails({ row }: { readonly row: LimitedRow }): JSX.Element {
  const { key, at, ms, attempt, usage, state } = row;
  const tokens = usage === undefined ? "" : usageWords(usage);
  return (
    <div class="trace-values">
      <p class="trace-facts">
        <code>{key}</code>
        <span>{state}</span>
        <span>
          begins at {duration(at)}
          {ms !== undefined && `, takes ${duration(ms)}`}
        </span>
        {attempt > 1 && <span>attempt {attempt}</span>}
        {tokens !== "" && <span>{tokens}</span>}
      </p>
      {row.values.map((value) => <Value value={value} />)}
    </div>
  );
}

function Value({ value: { title, side, text, missing } }: { readonly value: LimitedValue }): JSX.Element {
  const block = <Block label={title} role="group" text={text} />;
  return (
    <section class="trace-value" data-side={side} data-title={title}>
      <h4>{title}</h4>
      {title === THOUGHT
        ? (
          <details class="fold">
            <summary>{thoughtWords({ characters: text.length + missing })}</summary>
            {block}
          </details>
        )
        : block}
      {missing > 0 && <p class="small soft">cut here: {missing} more characters</p>}
    </section>
  );
}
