import { onlyFields } from "../../core/core.ts";
import type { JSX } from "hono/jsx/jsx-runtime";
import { duration } from "../../render/shown_text.ts";
import { stateWord } from "../../render/step_words.ts";
import type { RunState } from "../../service/service.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { type Column, Empty, href, List, RunStatusBadge, Time } from "./parts.tsx";

/** The words for states, with how runs stand that may be shown as such; `held` and `completed` are words of earlier addresses. */
const STATES: Readonly<Record<string, readonly RunState["status"][]>> = {
  "running": ["running"],
  "waits for you": ["held", "running"],
  "done": ["done", "completed"],
  "failed": ["failed", "stopped"],
  "stopped": ["stopped"],
};
const STATUSES = Object.keys(STATES);
const KINDS = ["calls", "ask", "chat", "prompt", "document", "conversation"] as const;
const A_PAGE = 50;

/** `/runs`: what ran, newest first. */
export const runsPage = definePage({
  path: "/runs",
  summary: "The page of all runs",
  query: onlyFields({
    status: { enum: ["", ...STATUSES, "held", "completed"] },
    kind: { enum: ["", ...KINDS] },
    file: { type: "string", maxLength: 1_000 },
    before: { type: "string", maxLength: 100 },
  }),
  async page({ service, query: { status: given = "", kind = "", file = "", before } }) {
    const status = given === "" ? "" : stateWord({ status: given });
    const found = await Promise.all((STATES[status] ?? [undefined]).map((each) =>
      service.runs({
        status: each,
        ...(kind === "" ? {} : { kind }),
        ...(file === "" ? {} : { file }),
        before,
        limit: A_PAGE,
      })
    ));
    const runs = found.flat().filter((run) => status === "" || stateWord(run) === status)
      .sort((a, b) => b.startedAt - a.startedAt).slice(0, A_PAGE);
    const last = runs.length < A_PAGE ? undefined : runs.at(-1)?.id;
    const filter = { status, kind, file };
    const isFiltered = status !== "" || kind !== "" || file !== "" || before !== undefined;
    return {
      title: "Runs",
      section: "runs",
      modules: ["times"],
      children: (
        <>
          <PageHead title="Runs" />
          <form class="filter" method="get" aria-label="Which runs">
            <Choice name="status" label="Status" value={status} choices={STATUSES} />
            <Choice name="kind" label="Kind" value={kind} choices={KINDS} />
            <div class="field wide">
              <label for="file">File</label>
              <input id="file" name="file" class="code" value={file} data-search autocomplete="off" />
            </div>
            <button type="submit">Show</button>
          </form>
          <div data-live="runs">
            {runs.length === 0
              ? <Empty>{isFiltered ? "No run is like that." : "Nothing has run here yet."}</Empty>
              : <RunList runs={runs} />}
            {last !== undefined && (
              <p class="submit">
                <a class="button" href={`/runs?${new URLSearchParams({ ...filter, before: last })}`}>
                  Older runs
                </a>
              </p>
            )}
          </div>
        </>
      ),
    };
  },
});

function Choice({ name, label, value, choices }: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
}): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">any</option>
        {choices.map((choice) => <option value={choice} selected={choice === value}>{choice}</option>)}
      </select>
    </div>
  );
}

/** Runs, a line each. */
export function RunList({ runs }: { readonly runs: readonly RunState[] }): JSX.Element {
  return <List label="Runs" columns={COLUMNS} rows={runs} />;
}

const COLUMNS: readonly Column<RunState>[] = [
  [
    "Run",
    ({ id, kind }) => <a href={href(kind === "conversation" ? "/conversations" : "/runs", id)}>{id}</a>,
    "name",
  ],
  ["Status", (run) => <RunStatusBadge status={stateWord(run)} />, "nowrap"],
  ["What", ({ file, kind }) => file ?? kind, "name"],
  ["Begun", ({ startedAt }) => <Time at={startedAt} />, "nowrap"],
  ["Took", ({ ms }) => duration(ms), "number"],
  [
    "Tokens",
    ({ usage: { input, output } }) => input + output === 0 ? "" : (input + output).toLocaleString("en-GB"),
    "number",
  ],
];
