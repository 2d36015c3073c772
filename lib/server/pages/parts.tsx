// What many pages have: states, tables, facts, texts.
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Json } from "../../core/core.ts";
import { statusTone } from "../../render/step_words.ts";
import type { ProblemJson } from "../../service/look/look.ts";

/** What a colour says besides the words. */
export type Tone = "good" | "bad" | "busy" | "wait" | "plain";

/** A state, in a word or two. */
export function Badge({ tone = "plain", children }: {
  readonly tone?: Tone;
  readonly children?: Child;
}): JSX.Element {
  return <span class="badge" data-tone={tone}>{children}</span>;
}

/** A column of a list: its head, how a row is shown in it, and what that is. */
export type Column<Row> = readonly [
  head: string,
  cell: (row: Row) => Child,
  /** Default `about`. */
  kind?: "name" | "number" | "about" | "nowrap" | "plain",
];

/** A table; a card for each row on a phone. The first column names the row. */
export function List<Row>({ label, columns, rows, searchText }: {
  /** What is in it, for who cannot see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** By what a row is found; absent: nothing searches. */
  readonly searchText?: (row: Row) => string;
}): JSX.Element {
  return (
    <table class="list" aria-label={label} role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(([head, , kind]) => (
            <th scope="col" role="columnheader" class={kind === "number" ? "number" : undefined}>{head}</th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row" data-row data-text={searchText?.(row).toLowerCase()}>
            {columns.map(([head, cell, kind = "about"], index) =>
              index === 0
                ? <th scope="row" role="rowheader" class={kind}>{cell(row)}</th>
                : <td role="cell" class={kind} data-label={head}>{cell(row)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Words and what they stand for; what is undefined is left out. */
export function Facts(
  { of }: { readonly of: readonly (readonly [word: string, fact: Child | undefined])[] },
): JSX.Element {
  return (
    <dl class="facts">
      {of.filter(([, fact]) => fact !== undefined && fact !== false && fact !== "").map(([word, fact]) => (
        <>
          <dt>{word}</dt>
          <dd>{fact}</dd>
        </>
      ))}
    </dl>
  );
}

/** A text as it is, or a value as JSON. */
export function Block({ label, text, wrap = true, role = "region" }: {
  readonly label: string;
  readonly text: string;
  readonly wrap?: boolean;
  /** One of many is no region of the page. */
  readonly role?: "region" | "group";
}): JSX.Element {
  return (
    <pre
      class={wrap ? "block wrap" : "block"}
      tabindex={0}
      role={role}
      aria-label={label}
    >{text}</pre>
  );
}

/** A value as JSON, for people. */
export function jsonText(value: Json): string {
  return JSON.stringify(value, null, 2);
}

/** A file with the numbers of its lines; `#L12` leads to one. */
export function Source({ text, label, problems = [], kindOf = () => undefined }: {
  readonly text: string;
  readonly label: string;
  readonly problems?: readonly ProblemJson[];
  readonly kindOf?: (line: string) => "heading" | "operation" | undefined;
}): JSX.Element {
  const wrong = new Set(problems.map(({ line }) => line));
  const lines = text.replace(/^\uFEFF/, "").replace(/\n$/, "").split("\n");
  return (
    <pre class="source" tabindex={0} role="region" aria-label={label}>
      {lines.map((line, index) => (
        <span id={`L${index + 1}`} data-kind={wrong.has(index + 1) ? "problem" : kindOf(line)}>{line}</span>
      ))}
    </pre>
  );
}

/** A module of the project, which no flag of the server loads. */
const UNLOADED_CODE = "W300";

/** What is wrong, line by line; each names its file where that is not the one that is shown. */
export function Problems({ problems, here = false }: {
  readonly problems: readonly ProblemJson[];
  /** Whether the source of the file stands on the same page. */
  readonly here?: boolean;
}): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <ul class="problems" aria-label="Problems">
      {problems.map(({ severity, file, line, column, message, hint, code }) => (
        <li class="note" data-tone={severity === "error" ? "bad" : "wait"}>
          <b>{severity === "error" ? "Error" : "Warning"}</b> <code>{code}</code>{" "}
          {here ? <a href={`#L${line}`}>line {line}</a> : <code>{file}:{line}:{column}</code>}: {message}
          {hint !== undefined && <div class="soft">{hint}</div>}
          {code === UNLOADED_CODE && (
            <div class="soft">
              <code>orrery serve</code> loads none: run it at a terminal, with <code>orrery run</code>.
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A sentence in which `names` stand between backticks. */
export function Sentence({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split(/`([^`\n]+)`/); // the names have the odd places
  return <>{parts.map((part, index) => index % 2 === 0 ? part : <code>{part}</code>)}</>;
}

/** What stands where nothing is. */
export function Empty({ children }: { readonly children?: Child }): JSX.Element {
  return <div class="empty">{children}</div>;
}

/** When something was, as a time that a reader's browser puts in its own words. @param at ms since 1970 */
export function Time({ at }: { readonly at: number }): JSX.Element {
  const iso = new Date(at).toISOString();
  return <time datetime={iso} data-time>{iso.slice(0, 16).replace("T", " ")} UTC</time>;
}

/** A path of ours with a name or a path of files in it: each part is encoded, `/` stays. */
export function href(base: string, path: string): string {
  return `${base}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** What a run is called that has no file. */
export function runTitle(kind: string): string {
  return TITLES.get(kind) ?? kind;
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ["calls", "Calls"],
  ["ask", "A question to a model"],
  ["chat", "A chat with a model"],
  ["prompt", "A prompt"],
  ["document", "A document"],
  ["conversation", "A conversation"],
]);

/** Of what is there while something stands in one of these ways; a script of the page goes on with it. */
export function whileIn(
  wanted: string,
  now: string,
): { readonly "data-while": string; readonly hidden: boolean } {
  return { "data-while": wanted, hidden: !wanted.split(" ").includes(now) };
}

/** Where the questions of a run come, which the module `live` takes from the page of all questions. */
export function AsksOf({ run }: { readonly run: string }): JSX.Element {
  return <section class="asks" aria-label="Questions" data-live={run} data-live-on="/asks"></section>;
}

/** How a run stands: in a word, and in a colour for whoever sees colours. */
export function RunStatusBadge({ status, live = false }: {
  readonly status: string;
  /** Whether a script of the page goes on with it, and it is read out when it changes. */
  readonly live?: boolean;
}): JSX.Element {
  return (
    <span
      class="badge"
      data-tone={statusTone(status)}
      data-run-status={live ? true : undefined}
      role={live ? "status" : undefined}
    >
      {status}
    </span>
  );
}
