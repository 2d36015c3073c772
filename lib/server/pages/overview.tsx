import type { JSX } from "hono/jsx/jsx-runtime";
import { basename } from "node:path";
import type { CatalogJson } from "../../service/look/look.ts";
import { definePage } from "./define_page.tsx";
import { PageHead } from "./layout.tsx";
import { Empty, Problems } from "./parts.tsx";
import { RunList } from "./runs.tsx";

const LATEST = 10;

/** `/`: what is in the project, and what ran last. */
export const overviewPage = definePage({
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
