// Two runs side by side: what they took, and each step that did not go the same way.
import { onlyFields } from "../../core/core.ts";
import type { JSX } from "hono/jsx/jsx-runtime";
import { duration } from "../../render/shown_text.ts";
import { stateWord } from "../../render/step_words.ts";
import { type ComparedRow, comparedRows, type ComparedValue } from "../../render/trace/compare.ts";
import { type TracePage, tracePage, type TraceRow } from "../../render/trace/page.ts";
import type { RunState } from "../../service/service.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { Block, href, RunStatusBadge } from "./parts.tsx";
import { figuresOf } from "./trace.tsx";

/** Runs that can be chosen. */
const CHOICES = 100;

/** More would be no comparison any more. */
const MAX_ROWS = 2000;
const MAX_SHOWN_CHARACTERS = 20_000;

const ID = { type: "string", maxLength: 100, pattern: "^[\\w.:@-]*$" } as const;

/** `/compare?a=&b=` */
export const comparePage = definePage({
  path: "/compare",
  summary: "Two runs side by side",
  query: onlyFields({ a: ID, b: ID }),
  async page({ service, query: { a = "", b = "" } }) {
    const runs = await service.runs({ limit: CHOICES });
    const [left, right] = await Promise.all(
      [a, b].map(async (id) => id === "" ? undefined : tracePage(await service.trace(id))),
    );
    return {
      title: "Compare runs",
      section: "runs",
      modules: ["compare"],
      children: (
        <>
          <PageHead title="Compare runs" crumbs={[{ href: "/runs", words: "Runs" }]} />
          <Choose runs={runs} a={a} b={b} />
          {left !== undefined && right !== undefined
            ? <Compared a={left} b={right} />
            : <p class="empty">Choose two runs.</p>}
        </>
      ),
    };
  },
});

function Choose({ runs, a, b }: {
  readonly runs: readonly RunState[];
  readonly a: string;
  readonly b: string;
}): JSX.Element {
  return (
    <form class="filter" method="get" action="/compare">
      <ChooseOne name="a" label="First run" runs={runs} value={a} />
      <ChooseOne name="b" label="Second run" runs={runs} value={b} />
      <button type="submit" class="main">Compare</button>
    </form>
  );
}

function ChooseOne({ name, label, runs, value }: {
  readonly name: string;
  readonly label: string;
  readonly runs: readonly RunState[];
  readonly value: string;
}): JSX.Element {
  const isListed = runs.some(({ id }) => id === value);
  return (
    <div class="field wide">
      <label for={name}>{label}</label>
      <select id={name} name={name} required>
        <option value="">Choose a run</option>
        {value !== "" && !isListed && <option value={value} selected>{value}</option>}
        {runs.map(({ id, file, kind, status, startedAt }) => (
          <option value={id} selected={id === value}>
            {new Date(startedAt).toISOString().slice(0, 16).replace("T", " ")} {file ?? kind}, {status} ({id})
          </option>
        ))}
      </select>
    </div>
  );
}

function Compared({ a, b }: { readonly a: TracePage; readonly b: TracePage }): JSX.Element {
  const all = comparedRows(a.rows, b.rows);
  const rows = all.slice(0, MAX_ROWS);
  const changed = all.filter(({ change }) => change !== "same").length;
  return (
    <div class="stack">
      <section aria-labelledby="figures">
        <h2 id="figures">Figures</h2>
        <Figures a={a} b={b} />
      </section>
      <section aria-labelledby="steps">
        <div class="head-row">
          <h2 id="steps">Steps</h2>
          <p class="soft small">
            {changed === 0
              ? "All steps are the same in both."
              : `${changed} of ${all.length} steps are not the same in both.`}
          </p>
        </div>
        <div class="trace-tools" data-compare-tools hidden>
          <label class="check">
            <input type="checkbox" data-compare-changed /> Only what differs
          </label>
          <span class="soft small" role="status" data-compare-count></span>
        </div>
        <ol class="compare-rows">
          {rows.map((row) => <StepOfBoth row={row} />)}
        </ol>
        {all.length > rows.length && <p class="note">{all.length - rows.length} more steps are not shown.</p>}
      </section>
    </div>
  );
}

function Figures({ a, b }: { readonly a: TracePage; readonly b: TracePage }): JSX.Element {
  const ofB = new Map(figuresOf(b));
  const shown = figuresOf(a).map(([what, figure]) => [what, figure, ofB.get(what) ?? ""] as const)
    .filter(([, ...both]) => !both.every((figure) => NO_FIGURE.has(figure)));
  return (
    <table class="list compare-figures" aria-label="Figures of both runs" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">Figure</th>
          {[a, b].map((page) => (
            <th scope="col" role="columnheader" class="number">
              <a href={`${href("/runs", page.id)}/trace`}>{page.id}</a>{" "}
              <RunStatusBadge status={stateWord(page)} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {shown.map(([what, figureA, figureB]) => (
          <tr role="row">
            <th scope="row" role="rowheader">{what}</th>
            <td role="cell" class="number" data-label={a.id}>{figureA}</td>
            <td role="cell" class="number" data-label={b.id}>{figureB}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where both have none of it, nothing is said. */
const NO_FIGURE: ReadonlySet<string> = new Set(["", "0"]);

const CHANGE_WORDS: Readonly<Record<ComparedRow["change"], string>> = {
  same: "the same",
  changed: "differs",
  "only-a": "only in the first",
  "only-b": "only in the second",
};

function StepOfBoth({ row }: { readonly row: ComparedRow }): JSX.Element {
  const { a, b, change, values, key } = row;
  const { name = key, depth = 0 } = a ?? b ?? {};
  return (
    <li data-compare-row data-change={change} data-indent={Math.min(depth, 12)}>
      <details>
        <summary>
          <span class="trace-name">
            <span class="badge" data-tone={change === "same" ? undefined : "wait"}>
              {CHANGE_WORDS[change]}
            </span>
            <span class="trace-title">{name}</span>
            <span class="trace-label">{key}</span>
          </span>
          <Side row={a} />
          <Side row={b} />
        </summary>
        <div class="compare-values">
          {(values.length === 0 || isOnlyOne(row)) && <p class="soft small">{sameWords(row)}</p>}
          {values.map((value) => <Value value={value} isAlone={isOnlyOne(row)} />)}
        </div>
      </details>
    </li>
  );
}

function sameWords({ change, a, b }: ComparedRow): string {
  if (change === "same") return "Its input and its output are the same in both.";
  if (change === "changed") {
    return `It is ${a?.state ?? ""} in the first run and ${b?.state ?? ""} in the second.`;
  }
  return "The other run has no such step.";
}

function Side({ row }: { readonly row: TraceRow | undefined }): JSX.Element {
  if (row === undefined) return <span class="compare-side soft" aria-hidden="true">–</span>;
  return (
    <span class="compare-side">
      {row.state === "failed" && <span class="badge" data-tone="bad">failed</span>}
      {row.ms !== undefined && ` ${duration(row.ms)}`}
    </span>
  );
}

function isOnlyOne({ change }: ComparedRow): boolean {
  return change === "only-a" || change === "only-b";
}

/** A value as its difference, or as it is in both; of a step that only one of the runs has there is nothing beside it. */
function Value({ value: { title, diff, a, b }, isAlone }: {
  readonly value: ComparedValue;
  readonly isAlone: boolean;
}): JSX.Element {
  const sides = [["first", a], ["second", b]] as const;
  return (
    <section class={isAlone || diff !== "" ? undefined : "compare-two"}>
      <h3>{title}</h3>
      {diff !== ""
        ? (
          <pre class="block wrap diff" tabindex={0} role="group" aria-label={`Difference of ${title}`}>
            {cut(diff).split("\n").map((line) => <span data-sign={line.charAt(0)}>{`${line}\n`}</span>)}
          </pre>
        )
        : sides.filter(([, text]) => !isAlone || text !== undefined).map(([which, text = NOTHING]) => (
          <Block label={`${title} of the ${which} run`} role="group" text={cut(text)} />
        ))}
    </section>
  );
}

/** In place of a value that one of them does not have. */
const NOTHING = "\u2013";

function cut(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARACTERS)}\n\u2026 ${
    text.length - MAX_SHOWN_CHARACTERS
  } more characters`;
}
