// One run: while it goes on, what it says, calls and writes; when it is over, what came of it and its timeline.
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Json, RunNotFoundError, type RunTrace } from "../../core/core.ts";
import { counted, figuresLine } from "../../render/run_tally.ts";
import { duration, resultText, withUsage } from "../../render/shown_text.ts";
import { standing, stateWord } from "../../render/step_words.ts";
import { type TracePage, tracePage } from "../../render/trace/page.ts";
import { type RunState, type Service, ServiceError } from "../../service/service.ts";
import { ID_PARAMS } from "../api/schemas.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { AsksOf, Block, href, RunStatusBadge, runTitle, Time, whileIn } from "./parts.tsx";
import { Timeline } from "./timeline.tsx";

/** What can go on: a turn of a conversation does so with a message. */
const RESUMABLE = "stopped";

/** `/runs/ID` */
export const runPage = definePage({
  path: "/runs/{id}",
  summary: "The page of a run",
  params: ID_PARAMS,
  async page({ service, params: { id } }) {
    const state = await service.run(id);
    const trace = state.status === "running" ? undefined : await maybeTrace(service, state.id);
    return {
      title: `${state.file ?? runTitle(state.kind)} ${state.id}`,
      section: "runs",
      modules: ["run_page", "times", ...(trace === undefined ? [] : ["trace_view"])],
      asksOf: state.id,
      children: <RunPage state={state} trace={trace} />,
    };
  },
});

/** Nothing is kept of some runs. */
async function maybeTrace(service: Service, id: string): Promise<RunTrace | undefined> {
  try {
    return await service.trace(id);
  } catch (error) {
    const isGone = error instanceof RunNotFoundError ||
      error instanceof ServiceError && error.code === "not-found";
    if (isGone) return undefined;
    throw error;
  }
}

function RunPage({ state, trace }: {
  readonly state: RunState;
  /** Absent while it goes on, and of a run that is not kept. */
  readonly trace: RunTrace | undefined;
}): JSX.Element {
  const { id, kind, file, status, owned, startedAt, ms, steps, usage } = state;
  const isLive = status === "running" && owned;
  const page = trace && tracePage(trace);
  return (
    <div data-run-page={id} data-run-follow={isLive ? "live" : isReplayed(state) ? "ended" : undefined}>
      <PageHead
        title={file ?? runTitle(kind)}
        code={file !== undefined}
        crumbs={[{ href: "/runs", words: "Runs" }]}
        tags={
          <>
            <RunStatusBadge
              status={stateWord({ ...state, status: standing(state) })}
              live
            />
            <span>{kind}</span>
            <code>{id}</code>
            <Time at={startedAt} />
            <span data-run-tally>
              {page === undefined
                ? withUsage(`${duration(ms)}, ${counted(steps, "step")}`, { usage, before: ", " })
                : figuresLine(page.tally, page.ms)}
            </span>
          </>
        }
        actions={<RunActions state={state} />}
      />
      <p class="note" data-tone="bad" role="alert" data-run-problem hidden={state.error === undefined}>
        {state.error}
      </p>
      <Settle />
      <noscript>
        {isLive && (
          <p class="note">
            Without scripts this page stands still: load it again to see how the run goes on.
          </p>
        )}
      </noscript>
      <RunParts state={state} page={page} isLive={isLive} />
    </div>
  );
}

/** What is told of a run is told once more when it is over; a conversation has a page of its own for that. */
function isReplayed({ status, kind }: RunState): boolean {
  return status !== "running" && kind !== "conversation";
}

/** What can be done with a run. */
function RunActions({ state }: { readonly state: RunState }): JSX.Element {
  const { id, kind } = state;
  const now = standing(state);
  const ended = "done failed stopped held completed";
  return (
    <>
      {kind === "conversation" && <a class="button main" href={href("/conversations", id)}>Conversation</a>}
      <button
        type="button"
        class="danger"
        data-run-do="cancel"
        {...whileIn("running", now)}
      >
        Cancel
      </button>
      {kind !== "conversation" && (
        <button
          type="button"
          class="main"
          data-run-do="resume"
          {...whileIn(RESUMABLE, now)}
        >
          Resume
        </button>
      )}
      <a class="button" href={`${href("/runs", id)}/trace`} {...whileIn(ended, now)}>
        Trace
      </a>
      <a
        class="button"
        href={`/compare?a=${encodeURIComponent(id)}`}
        {...whileIn(ended, now)}
      >
        Compare
      </a>
    </>
  );
}

/** Shown when a run cannot go on until somebody says what to do with steps whose end is not known. */
function Settle(): JSX.Element {
  return (
    <div class="note" data-tone="wait" data-run-settle hidden>
      <p>Those steps were begun, and nobody knows whether they were done.</p>
      <div class="submit">
        <button type="button" data-run-do="resume" data-run-steps="rerun">Do them again</button>
        <button type="button" data-run-do="resume" data-run-steps="skip">Leave them out</button>
      </div>
    </div>
  );
}

/** What is seen of it: when it is over the same as while it ran, with its timeline in place of its steps. */
function RunParts({ state, page, isLive }: {
  readonly state: RunState;
  readonly page: TracePage | undefined;
  readonly isLive: boolean;
}): JSX.Element {
  const { id, asks, value = "" } = state;
  return (
    <div class="stack">
      {isLive && <AsksOf run={id} />}
      {!isLive && asks.length > 0 && (
        <p class="note">It waits for an answer that another process has to take.</p>
      )}
      <Result value={value} />
      <LivePart name="text" title="Text">
        <div class="texts" data-run-view role="log" aria-live="polite" aria-label="Text" tabindex={0}></div>
      </LivePart>
      <LivePart name="graph" title="Graph">
        <div class="live-graph" data-run-view tabindex={0} role="group" aria-label="Graph of the calls"></div>
      </LivePart>
      {isLive && (
        <LivePart name="rows" title="Steps">
          <div data-run-view></div>
        </LivePart>
      )}
      <LivePart name="document" title="Document">
        <div class="merges" data-run-view></div>
      </LivePart>
      {isLive && (
        <LivePart name="notes" title="Notes">
          <ul class="run-notes" data-run-view></ul>
        </LivePart>
      )}
      {!isLive && (page === undefined
        ? <p class="empty">Nothing more is kept of this run.</p>
        : <Timeline page={page} late />)}
    </div>
  );
}

function Result({ value }: { readonly value: Json }): JSX.Element {
  const text = value === null ? "" : resultText(value);
  return (
    <LivePart name="result" title="Result" isShown={text !== ""}>
      <pre class="block wrap" data-run-view tabindex={0} role="group" aria-label="Result">{text}</pre>
      <details class="fold" data-run-document hidden>
        <summary>The whole document</summary>
        <Block label="The whole document" role="group" text="" />
      </details>
    </LivePart>
  );
}

/** Hidden until there is something in it. */
function LivePart({ name, title, isShown = false, children }: {
  readonly name: string;
  readonly title: string;
  readonly isShown?: boolean;
  readonly children?: Child;
}): JSX.Element {
  return (
    <section data-run-part={name} aria-labelledby={`part-${name}`} hidden={!isShown}>
      <h2 id={`part-${name}`}>{title}</h2>
      {children}
    </section>
  );
}
