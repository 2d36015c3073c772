// The pages, and what they load and post to.
import { objectOf } from "../../core/core.ts";
import type { JSX } from "hono/jsx/jsx-runtime";
import { basename } from "node:path";
import { type TracePage, tracePage } from "../../render/trace/page.ts";
import type { CatalogJson } from "../../service/look/look.ts";
import type { OpenAsk, RunState } from "../../service/service.ts";
import { text } from "../answers.ts";
import { openAssets, UNKEPT_BASE } from "./assets.ts";
import { HttpProblem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { ID_PARAMS } from "../api/schemas.ts";
import { agentPage, agentsPage } from "./agents.tsx";
import { comparePage } from "./compare.tsx";
import { conversationPage } from "./conversation.tsx";
import { definePage } from "./define_page.tsx";
import { callsPage, documentPage, documentsPage } from "./documents.tsx";
import { gadgetPage, gadgetsPage, modelsPage } from "./gadgets.tsx";
import { graphRoute } from "./graph.tsx";
import { PageHead, problemPage } from "./layout.tsx";
import { Empty, href, Problems, runTitle } from "./parts.tsx";
import { promptPage, promptsPage } from "./prompts.tsx";
import { runPage } from "./run.tsx";
import { RunList, runsPage } from "./runs.tsx";
import { startRoute } from "./start.ts";
import { traceFile, TraceParts } from "./trace.tsx";

/** `/asks` */
const asksPage = definePage({
  path: "/asks",
  summary: "All questions that wait for a person",
  page({ service }) {
    return {
      title: "Questions",
      section: "asks",
      asksOf: "all",
      children: <Asks runs={service.now.waiting} />,
    };
  },
});

function Asks({ runs }: { readonly runs: readonly RunState[] }): JSX.Element {
  return (
    <>
      <PageHead
        title="Questions"
        lede="What runs wait for: a permission, or something that only a person knows."
      />
      <div data-live="asks">
        <p class="empty" data-no-asks hidden={runs.length > 0}>Nothing waits for an answer.</p>
        <noscript>
          {runs.length > 0 && <p class="note">To answer, the page needs its scripts.</p>}
        </noscript>
        <div class="stack">
          {runs.map(({ id, file, kind, asks }) => (
            <section aria-label={`Questions of run ${id}`}>
              <h2>
                <a href={kind === "conversation" ? href("/conversations", id) : href("/runs", id)}>
                  {file ?? kind}
                </a>{" "}
                <code class="soft">{id}</code>
              </h2>
              <div class="asks" data-asks={id}>
                {asks.map((ask) => <AskCard run={id} ask={ask} />)}
              </div>
            </section>
          ))}
        </div>
      </div>
    </>
  );
}

function AskCard({ run, ask }: { readonly run: string; readonly ask: OpenAsk }): JSX.Element {
  const { kind, subject, permissions = [], question } = ask;
  return (
    <form class="ask" data-ask={ask.ask} data-ask-run={run} role="alert">
      <h2>{kind === "permission" ? "May it?" : "A question"}</h2>
      <p class="ask-question">{question}</p>
      {kind === "permission" && subject !== undefined && (
        <p class="soft small">
          For <code>{subject}</code>
        </p>
      )}
      {permissions.length > 0 && (
        <p class="soft small">
          Not asked about with {permissions.map((flag) => (
            <>
              <code>{flag}</code>
              {" "}
            </>
          ))}
        </p>
      )}
      <AskControls run={run} ask={ask} />
      <p class="wrong" data-ask-problem role="status"></p>
    </form>
  );
}

function AskControls({ run, ask: { ask, kind, choices = [] } }: {
  readonly run: string;
  readonly ask: OpenAsk;
}): JSX.Element {
  if (kind === "permission") {
    return (
      <div class="submit">
        <button type="submit" class="main" name="allow" value="yes">Allow</button>
        <button type="submit" name="allow" value="no">Refuse</button>
      </div>
    );
  }
  if (choices.length > 0) {
    return (
      <div class="submit">
        {choices.map((text) => <button type="submit" name="text" value={text}>{text}</button>)}
      </div>
    );
  }
  const id = `answer-${run}-${ask}`;
  return (
    <div class="field">
      <label for={id}>Your answer</label>
      <textarea id={id} name="text" rows={2} required />
      <div class="submit">
        <button type="submit" class="main">Answer</button>
      </div>
    </div>
  );
}

/** `/runs/ID/trace` */
const traceRunPage = definePage({
  path: "/runs/{id}/trace",
  summary: "The timeline of a run",
  params: ID_PARAMS,
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
      <TraceParts page={page} />
    </>
  );
}

/** `/runs/ID/trace.html`: the file that `orrery trace --html` writes. It is saved, and never shown here: it has a policy of its own. */
const traceFileRoute = defineRoute(
  "GET",
  "/runs/{id}/trace.html",
  "The timeline of a run as one file that opens without a server",
  {
    params: ID_PARAMS,
    responses: { 200: { description: "The file", type: "text/html; charset=utf-8" } },
    problems: { 404: ["not-found"] },
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
  },
);

const LATEST = 10;

/** `/`: what is in the project, and what ran last. */
const overviewPage = definePage({
  path: "/",
  summary: "The page of the project",
  async page({ service }) {
    const [catalog, runs] = await Promise.all([service.look.catalog(), service.runs({ limit: LATEST })]);
    return {
      title: "",
      section: "overview",
      modules: ["times"],
      children: (
        <>
          <PageHead title={basename(service.root)} />
          <div class="stack">
            <Kinds catalog={catalog} />
            <Problems problems={catalog.problems} />
            <section data-live="runs">
              <div class="head-row">
                <h2>Latest runs</h2>
                <a class="small" href="/runs">All runs</a>
              </div>
              {runs.length === 0
                ? (
                  <Empty>
                    <p>Nothing has run here yet.</p>
                    <p>
                      Open a document, a prompt or an agent and run it there, or type{" "}
                      <code>orrery run FILE</code> in a terminal: its runs are shown here too.
                    </p>
                  </Empty>
                )
                : <RunList runs={runs} />}
            </section>
          </div>
        </>
      ),
    };
  },
});

function Kinds({ catalog }: { readonly catalog: CatalogJson }): JSX.Element {
  const { agents, documents, calls, prompts, tactics, gadgets, models } = catalog;
  const kinds: readonly (readonly [path: string, count: number, words: string])[] = [
    ["/agents", agents.length, agents.length === 1 ? "agent" : "agents"],
    ["/documents", documents.length + calls.length, "documents and calls"],
    ["/prompts", prompts.length + tactics.length, "prompts and tactics"],
    ["/gadgets", gadgets.filter(({ state }) => state === "ready").length, "gadgets that are ready"],
    ["/models", models.filter(({ usable }) => usable).length, "models that can be asked"],
  ];
  return (
    <ul class="kinds" aria-label="What is in the project">
      {kinds.map(([path, count, words]) => (
        <li data-row>
          <a href={path}>
            <b>{count}</b>
            <span>{words}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** What pages load: for everybody, since the page that asks for the token needs it too. */
const assetRoute: Route = defineRoute(
  "GET",
  "/assets/{hash}/{path+}",
  "A module, a style sheet or a picture of the pages",
  {
    params: objectOf({
      hash: { type: "string", pattern: "^[0-9a-z]{1,64}$" },
      path: { type: "string", minLength: 1, maxLength: 200 },
    }, ["hash", "path"]),
    responses: { 200: { description: "The file", type: "text/javascript; charset=utf-8" } },
    problems: { 404: ["not-found"] },
    access: "open",
    async handle({ params: { hash, path } }) {
      const assets = await openAssets();
      const base = `/assets/${hash}`;
      const asset = base === assets.base || base === UNKEPT_BASE ? assets.find(path) : undefined;
      if (asset === undefined) {
        throw new HttpProblem(
          404,
          "not-found",
          "there is no such file: the page that names it is an old one",
        );
      }
      const kept = base === UNKEPT_BASE ? "no-cache" : "public, max-age=31536000, immutable";
      return text(asset.text, { type: asset.type, headers: { "cache-control": kept } });
    },
  },
);

/** Pages of what was run: runs, traces, conversations, comparisons, questions. */
const viewRoutes: readonly Route[] = [
  runPage,
  traceRunPage,
  traceFileRoute,
  conversationPage,
  comparePage,
  asksPage,
];

/** All of them. */
export const pageRoutes: readonly Route[] = [
  overviewPage,
  agentsPage,
  agentPage,
  documentsPage,
  documentPage,
  callsPage,
  promptsPage,
  promptPage,
  gadgetsPage,
  gadgetPage,
  modelsPage,
  runsPage,
  ...viewRoutes,
  graphRoute,
  startRoute,
  assetRoute,
];
