import type { JSX } from "hono/jsx/jsx-runtime";
import { tracePage } from "../../render/trace_page.ts";
import type { TracePage } from "../../render/trace_page.ts";
import { text } from "../answers.ts";
import { defineRoute } from "../route.ts";
import { ID_PARAMS } from "../schemas.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { href } from "./parts.tsx";
import { problemPage } from "./problem_page.tsx";
import { runTitle } from "./run_title.ts";
import { TraceFacts } from "./trace_facts.tsx";
import { traceFile } from "./trace_file.tsx";
import { TraceResult } from "./trace_result.tsx";
import { TraceTimeline } from "./trace_timeline.tsx";

/** `/runs/ID/trace` */
export const traceRunPage = definePage({
  path: "/runs/{id}/trace",
  summary: "The timeline of a run",
  request: { params: ID_PARAMS },
  async page({ service, params: { id } }) {
    const page = tracePage(await service.trace(id));
    return {
      title: `Trace of ${page.file ?? runTitle(page.kind)} ${page.id}`,
      section: "runs",
      modules: ["trace_view"],
      children: <TraceOfRun page={page} />,
    };
  },
});

function TraceOfRun({ page }: { readonly page: TracePage }): JSX.Element {
  const { id, kind, file } = page;
  return (
    <>
      <PageHead
        title={file ?? runTitle(kind)}
        code={file !== undefined}
        crumbs={[{ href: "/runs", words: "Runs" }, { href: href("/runs", id), words: id }]}
        lede={`Trace of a ${kind} run`}
        actions={
          <>
            <a class="button" href={`${href("/runs", id)}/trace.html`} download={`trace-${id}.html`}>
              Save as a file
            </a>
            <a class="button" href={`/compare?a=${encodeURIComponent(id)}`}>Compare</a>
          </>
        }
      />
      <div class="stack">
        <section aria-label="Figures">
          <TraceFacts page={page} />
        </section>
        <TraceResult page={page} />
        <section aria-labelledby="timeline">
          <h2 id="timeline">Timeline</h2>
          <TraceTimeline page={page} />
        </section>
      </div>
    </>
  );
}

/** `/runs/ID/trace.html`: the file that `orrery trace --html` writes. It is saved, and never shown here: it has a policy of its own. */
export const traceFileRoute = defineRoute({
  method: "GET",
  path: "/runs/{id}/trace.html",
  summary: "The timeline of a run as one file that opens without a server",
  request: { params: ID_PARAMS },
  responses: { 200: { description: "The file", type: "text/html; charset=utf-8" } },
  problems: { 404: ["not-found"] },
  access: "token",
  tellProblem: problemPage,
  async handle({ service, params: { id } }) {
    const trace = await service.trace(id);
    return text(await traceFile(trace), {
      type: "text/html; charset=utf-8",
      headers: {
        "content-disposition": `attachment; filename="trace-${
          trace.summary.id.replace(/[^\w.-]/g, "_")
        }.html"`,
        "content-security-policy": "sandbox; default-src 'none'",
      },
    });
  },
});
